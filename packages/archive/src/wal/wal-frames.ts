// The frames of a write-ahead file: each a mark, a length, a checksum and a batch of spans. A file may end in the middle of a frame, where
// its writer is or was killed; nothing but whole frames is believed. Everything else is damage, which must be told and never hide what
// stands behind it.
import { crc32 } from 'node:zlib';
import { GraphError } from '@spanline/graph';
import { sectionReader } from '@spanline/graph/internal';
import type { ByteWriter } from 'spanline/internal/base';
import type { SpanRows } from '../rows/span-rows.js';
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
export interface WalExtent {
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
