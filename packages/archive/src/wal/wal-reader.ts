// Reads write-ahead files of others: a whole one after a crash, or what is new in one that is still written. It must never change a file,
// and never be silent about bytes that it could not read.
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { CorruptError, TransportError } from '@spanline/graph';
import type { ArchivedSpan } from 'spanline/internal/record';
import { SpanRows } from '../rows/span-rows.js';
import { readFrames, WAL_MAGIC, type WalExtent } from './wal-frames.js';

/** What a write-ahead file holds. */
export interface WalRows extends WalExtent {
  readonly rows: SpanRows;
}

/** Bytes of a span at least, as a rule. */
const SPAN_BYTES = 32;

const failed = (path: string, cause: unknown): TransportError =>
  new TransportError(`${path} cannot be read: ${(cause as Error).message}`, { cause });

/** All whole batches of a file from its beginning on, whatever its first bytes are: each batch has a checksum of its own. */
const readFromStart = (bytes: Buffer, path: string, rows: SpanRows): WalExtent => {
  const magic = bytes.subarray(0, WAL_MAGIC.length);
  const { end, tornBytes, ...damage } = readFrames(bytes, magic.length, path, rows);
  if (WAL_MAGIC.subarray(0, magic.length).equals(magic)) return { end, tornBytes, ...damage };
  const damagedBytes = damage.damagedBytes + magic.length;
  // Nothing of it is a write-ahead file.
  if (rows.count === 0) return { end: 0, tornBytes: 0, damagedBytes: bytes.length, damagedAt: 0 };
  return { end, tornBytes, damagedBytes, damagedAt: 0 };
};

/** Why a file is not all read; undefined when it is, as far as it was written. */
export const damageOf = (
  path: string,
  { damagedBytes, damagedAt }: Pick<WalExtent, 'damagedBytes' | 'damagedAt'>,
): CorruptError | undefined =>
  damagedBytes === 0
    ? undefined
    : new CorruptError(
        `${damagedBytes} bytes of the write-ahead file ${path}, from byte ${damagedAt} on, are damaged; every batch of spans beside them is read`,
        'wal',
      );

/** All whole batches of a file whose writer is gone, those behind damage too. */
export const readWalRows = (path: string): WalRows => {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (cause) {
    throw failed(path, cause);
  }
  const rows = new SpanRows(1 + Math.ceil(bytes.length / SPAN_BYTES));
  return { rows, ...readFromStart(bytes, path, rows) };
};

/** Follows a file that is still written. */
export class WalTail {
  #end = 0;
  /** Size and age of the file when it was read. */
  #seen = '';
  /** Damage before `end`; what is behind it is read again, since a living writer may write over it. */
  readonly #passed = { damagedBytes: 0, damagedAt: -1 };
  /** What is damaged as far as the file was read. */
  damage: CorruptError | undefined;
  /** Bytes at its end that are not whole batch: torn, or still being written. */
  tornBytes = 0;

  /** The spans that are new since the last call. */
  read(path: string): readonly ArchivedSpan[] {
    let descriptor: number | undefined;
    try {
      descriptor = openSync(path, 'r');
      return this.rows(descriptor, path)?.spans() ?? [];
    } catch (cause) {
      throw cause instanceof TransportError ? cause : failed(path, cause);
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
    }
  }

  /** What is new since the last call, of the file that is open; undefined for nothing. `path` is for errors. */
  rows(descriptor: number, path: string): SpanRows | undefined {
    try {
      const { size, mtimeMs } = fstatSync(descriptor);
      const seen = `${size} ${mtimeMs}`;
      if (size <= this.#end || seen === this.#seen) return undefined;
      this.#seen = seen;
      const bytes = Buffer.allocUnsafe(size - this.#end);
      const length = readSync(descriptor, bytes, 0, bytes.length, this.#end);
      return this.#take(bytes.subarray(0, length), path);
    } catch (cause) {
      throw failed(path, cause);
    }
  }

  #take(bytes: Buffer, path: string): SpanRows | undefined {
    // A file that was just made may not have its first bytes yet.
    if (this.#end === 0 && bytes.length < WAL_MAGIC.length) {
      this.tornBytes = bytes.length;
      return undefined;
    }
    const base = this.#end;
    const rows = new SpanRows();
    const read = base === 0 ? readFromStart(bytes, path, rows) : readFrames(bytes, 0, path, rows);
    const passed = this.#passed;
    const damagedBytes = passed.damagedBytes + read.damagedBytes;
    const damagedAt = passed.damagedAt >= 0 ? passed.damagedAt : base + read.damagedAt;
    this.damage = damageOf(path, { damagedBytes, damagedAt });
    this.#end = base + read.end;
    this.tornBytes = read.tornBytes;
    const isTailDamaged = read.tornBytes === 0;
    passed.damagedBytes = damagedBytes - (isTailDamaged ? bytes.length - read.end : 0);
    passed.damagedAt = passed.damagedBytes > 0 ? damagedAt : -1;
    return rows;
  }
}
