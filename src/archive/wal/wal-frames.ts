// The frames of a write-ahead file: each a mark, a length, a checksum and a batch of spans. A file may end in the middle of a frame, where
// its writer was killed; what stands before that is whole, and nothing else is believed.
import { crc32 } from 'node:zlib';
import { GraphError } from '../../graph/graph-error.js';
import { ByteReader, type ByteWriter } from '../../graph/varint.js';
import type { ArchivedSpan } from '../archived-span.js';
import { readSpans } from './span-bytes.js';

/** Begins every file. */
export const WAL_MAGIC = Buffer.from('SPLWAL01', 'latin1');
/** Begins every frame: where one is damaged the next is found by it. */
const MARK = Buffer.from([0xf5, 0x1e, 0xa7, 0xc3]);
const HEAD_BYTES = 12;
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

/** What bytes of a write-ahead file hold. */
export interface WalContents {
  readonly spans: ArchivedSpan[];
  /** Where the last whole frame ends. */
  readonly end: number;
  /** Bytes of no whole frame: what the writer was writing when it was killed, or damage. */
  readonly tornBytes: number;
}

/** The frame at `at`; undefined when there is no whole one. */
const frameAt = (bytes: Buffer, at: number, path: string): { spans: ArchivedSpan[]; end: number } | undefined => {
  const start = at + HEAD_BYTES;
  if (start > bytes.length || bytes.compare(MARK, 0, MARK.length, at, at + MARK.length) !== 0) return undefined;
  const end = start + bytes.readUInt32LE(at + 4);
  if (end > bytes.length) return undefined;
  const batch = bytes.subarray(start, end);
  if (crc32(batch) !== bytes.readUInt32LE(at + 8)) return undefined;
  try {
    return { spans: readSpans(new ByteReader(batch, `a batch of ${path}`, 'wal')), end };
  } catch (error) {
    if (error instanceof GraphError) return undefined;
    throw error;
  }
};

/** All whole frames of `bytes` from `from` on; `path` is for errors. With `pastDamage` also those behind a damaged one. */
export const readFrames = (bytes: Buffer, from: number, path: string, pastDamage: boolean): WalContents => {
  const spans: ArchivedSpan[] = [];
  let at = from;
  let end = from;
  let whole = 0;
  for (let tries = 0; at >= 0 && at < bytes.length && tries < MAX_TRIES; ) {
    const frame = frameAt(bytes, at, path);
    if (frame !== undefined) {
      for (const span of frame.spans) spans.push(span);
      whole += frame.end - at;
      at = frame.end;
      end = at;
    } else {
      if (!pastDamage) break;
      tries++;
      at = bytes.indexOf(MARK, at + 1);
    }
  }
  return { spans, end, tornBytes: bytes.length - from - whole };
};
