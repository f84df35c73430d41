// Reads write-ahead files of others: a whole one after a crash, or what is new in one that is still written. It must never change a file.
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { TransportError } from '../../graph/graph-error.js';
import type { ArchivedSpan } from '../archived-span.js';
import { readFrames, WAL_MAGIC, type WalContents } from './wal-frames.js';

const failed = (path: string, cause: unknown): TransportError =>
  new TransportError(`${path} cannot be read: ${(cause as Error).message}`, { cause });

const hasMagic = (bytes: Buffer): boolean => bytes.subarray(0, WAL_MAGIC.length).equals(WAL_MAGIC);

/** All whole batches of a file whose writer is gone, those behind damage too. */
export const readWal = (path: string): WalContents => {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (cause) {
    throw failed(path, cause);
  }
  if (!hasMagic(bytes)) return { spans: [], end: 0, tornBytes: bytes.length };
  return readFrames(bytes, WAL_MAGIC.length, path, true);
};

/** Follows a file that is still written. */
export class WalTail {
  private end = 0;

  /** The spans that are new since the last call. */
  read(path: string): readonly ArchivedSpan[] {
    let descriptor: number | undefined;
    try {
      descriptor = openSync(path, 'r');
      const { size } = fstatSync(descriptor);
      if (size <= this.end) return [];
      const bytes = Buffer.allocUnsafe(size - this.end);
      const length = readSync(descriptor, bytes, 0, bytes.length, this.end);
      return this.take(bytes.subarray(0, length), path);
    } catch (cause) {
      throw failed(path, cause);
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
    }
  }

  private take(bytes: Buffer, path: string): readonly ArchivedSpan[] {
    const isFirst = this.end === 0;
    // A file that was just made may not have its first bytes yet.
    if (isFirst && !hasMagic(bytes)) return [];
    const from = isFirst ? WAL_MAGIC.length : 0;
    const { spans, end } = readFrames(bytes, from, path, false);
    this.end += end;
    return spans;
  }
}
