// The frames of a write-ahead file, each a mark, a length, a checksum and a batch of spans, and how files of others are read: a whole one after a
// crash, or what is new in one that is still written. A file may end in the middle of a frame, where its writer is or was killed; nothing but whole
// frames is believed. Everything else is damage, which must be reported and never hide what stands behind it. No file may be changed here.

import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { CorruptError, GraphError, TransportError } from '@spanline/graph';
import { sectionReader } from '@spanline/graph/internal';
import { type ByteWriter, orThrow } from 'spanline/internal/base';
import type { ArchivedSpan } from 'spanline/internal/record';
import { SpanRows } from '../rows/span-rows.js';
import { readRows } from './read-spans.js';

/** Begins every file. */
export const WAL_MAGIC = Buffer.from('SPLWAL02', 'latin1');
/** Begins every frame: where one is damaged the next is found by it. */
const MARK = Buffer.from([0xf5, 0x1e, 0xa7, 0xc4]);
/** Bytes of a frame before its spans. */
export const HEAD_BYTES = 12;
/** Places tried behind a damaged frame. */
const MAX_TRIES = 10_000;

/** Begin a frame. */
export const beginFrame = (writer: ByteWriter): void => {
  writer.clear();
  writer.raw(MARK);
  writer.uint32(0);
  writer.uint32(0);
};

/** The whole frame, valid until the writer is used again. */
export const endFrame = (writer: ByteWriter): Buffer => {
  const bytes = writer.view();
  bytes.writeUInt32LE(bytes.length - HEAD_BYTES, 4);
  bytes.writeUInt32LE(crc32(bytes.subarray(HEAD_BYTES)), 8);
  return bytes;
};

/** What bytes of a write-ahead file are. */
interface WalExtent {
  /** Where to read on when the file has grown. */
  readonly end: number;
  /** Bytes at the end that a writer was writing when it was killed, or is writing. */
  readonly tornBytes: number;
  /** Bytes that are not a frame and are not at the end either, or cannot be the beginning of one; and where the first of them is. */
  readonly damagedBytes: number;
  readonly damagedAt: number;
}

/** Read the frame at `at`; where it ends, undefined when there is no whole one. */
const readFrame = (bytes: Buffer, at: number, path: string, rows: SpanRows): number | undefined => {
  const start = at + HEAD_BYTES;
  if (start > bytes.length || bytes.compare(MARK, 0, MARK.length, at, at + MARK.length) !== 0) return undefined;
  const end = start + bytes.readUInt32LE(at + 4);
  if (end > bytes.length) return undefined;
  const batch = bytes.subarray(start, end);
  if (crc32(batch) !== bytes.readUInt32LE(at + 8)) return undefined;
  try {
    readRows(sectionReader(batch, `a batch of ${path}`, 'wal'), rows);
    return end;
  } catch (error) {
    if (error instanceof GraphError) return undefined;
    throw error;
  }
};

/** Whether all that is left from `at` on is the beginning of a frame, or nothing but zeros, which a power failure leaves. */
const isUnfinished = (bytes: Buffer, at: number): boolean => {
  const rest = bytes.subarray(at);
  if (rest.every((byte) => byte === 0)) return true;
  const marked = Math.min(MARK.length, rest.length);
  if (rest.compare(MARK, 0, marked, 0, marked) !== 0) return false;
  if (rest.length < HEAD_BYTES) return true;
  const batch = rest.subarray(HEAD_BYTES);
  // With all its bytes there, it is the length that is damaged.
  return rest.readUInt32LE(4) > batch.length && crc32(batch) !== rest.readUInt32LE(8);
};

/** Read all whole frames of `bytes` from `from` on, those behind damage too; `path` is for errors. */
export const readFrames = (bytes: Buffer, from: number, path: string, rows: SpanRows): WalExtent => {
  let end = from;
  let damagedBytes = 0;
  let damagedAt = -1;
  const damage = (start: number, behind: number): void => {
    if (damagedAt < 0) damagedAt = start;
    damagedBytes += behind - start;
  };
  for (let at = from, tries = 0; at >= 0 && at < bytes.length && tries < MAX_TRIES; ) {
    const frameEnd = readFrame(bytes, at, path, rows);
    if (frameEnd === undefined) {
      tries++;
      at = bytes.indexOf(MARK, at + 1);
      continue;
    }
    if (at > end) damage(end, at);
    at = frameEnd;
    end = at;
  }
  if (end === bytes.length || isUnfinished(bytes, end))
    return { end, tornBytes: bytes.length - end, damagedBytes, damagedAt };
  damage(end, bytes.length);
  return { end, tornBytes: 0, damagedBytes, damagedAt };
};

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
  const bytes = orThrow(
    () => readFileSync(path),
    (cause) => failed(path, cause),
  );
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
