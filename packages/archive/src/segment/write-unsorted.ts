// Writes an unsorted segment: batches of a write-ahead file as they are, several to a compressed block, and behind them what tells which blocks a
// reader needs. It costs a tenth of what sorting costs; merging makes the sorted form of it. The file appears whole or not at all.
//
//     blocks     = of section `batches`: frames of a write-ahead file, compressed together
//     batchTable = n:varint block[n]
//     block      = spans:varint traces:varint start:u64 end:u64 stored:varint inflated:varint codec:byte crc:u32
//     traceWords = u32 for each trace of each block: the last word of its id
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { BufferSink, ContainerWriter, SectionId, TransportError, type WrittenBlock } from '@spanline/graph';
import { Codec, encodeMeta, type Stored } from '@spanline/graph/internal';
import { ByteWriter, runAsync, writeWhole } from 'spanline/internal/base';
import { writeTime } from '../values/fields.js';
import type { WalFrame } from '../wal/wal-writer.js';
import { bySize, KIND_NOTE, KIND_UNSORTED, REPLACES_NOTE, SegmentSection } from './layout.js';
import { encodeSummary, OperationList } from './segment-summary.js';
import { StringTable } from './span-tables.js';

/** Batches are compressed together until they have so many bytes: what repeats is found, and one trace costs the decoding of few spans. */
const BLOCK_BYTES = 512 * 1024;

/** Room that is kept for the next block at most: few blocks are larger. */
const MAX_KEPT_BYTES = 2 * 1024 * 1024;

/** Frames that share a block. */
type Batches = readonly WalFrame[];

type Compress = (bytes: Buffer, options: zlib.ZlibOptions) => Promise<Buffer>;

const deflate: Compress = promisify(zlib.deflateRaw);

// Node 22.15 and later. The types of the oldest supported Node do not have it.
const { zstdCompress, constants } = zlib as unknown as {
  readonly zstdCompress?: (
    bytes: Buffer,
    options: object,
    done: (error: Error | null, compressed: Buffer) => void,
  ) => void;
  readonly constants: { readonly ZSTD_c_compressionLevel: number };
};
const zstd = zstdCompress && promisify(zstdCompress);

/** Compressed at the least cost, in a thread of Node's pool. */
const stored = async (bytes: Buffer): Promise<Stored> => {
  const compressed =
    zstd === undefined
      ? await deflate(bytes, { level: 1 })
      : await zstd(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
  const isSmaller = compressed.length < bytes.length;
  const smaller = isSmaller ? compressed : Buffer.from(bytes);
  return {
    bytes: smaller,
    codec: isSmaller ? (zstd === undefined ? Codec.deflate : Codec.zstd) : Codec.stored,
    inflatedLength: bytes.length,
    crc: zlib.crc32(smaller),
  };
};

// Kept from block to block: garbage of this size outlives what it costs to make.
let kept: Buffer | undefined;

/** What `use` makes of the bytes of frames, which are one behind the other then and only until it is done. */
const joined = async <T>(frames: Batches, use: (bytes: Buffer) => Promise<T>): Promise<T> => {
  if (frames.length === 1) return use(frames[0].bytes);
  const length = frames.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const room =
    kept !== undefined && kept.length >= length ? kept : Buffer.allocUnsafeSlow(Math.max(length, BLOCK_BYTES));
  // Another archive of this thread must not write into it meanwhile.
  kept = undefined;
  let at = 0;
  for (const { bytes } of frames) at += bytes.copy(room, at);
  try {
    return await use(room.subarray(0, length));
  } finally {
    kept = room.length <= MAX_KEPT_BYTES ? room : undefined;
  }
};

const encodeTable = (blocks: readonly Batches[], written: readonly WrittenBlock[]): Buffer => {
  const writer = new ByteWriter();
  writer.varint(blocks.length);
  blocks.forEach((frames, i) => {
    const { storedLength, inflatedLength, codec, crc } = written[i];
    writer.varint(frames.reduce((sum, { spans }) => sum + spans, 0));
    writer.varint(frames.reduce((sum, { facts }) => sum + facts.traceWords.length, 0));
    const { startUnixNs, endUnixNs } = timesOf(frames);
    writeTime(writer, startUnixNs);
    writeTime(writer, endUnixNs);
    writer.varint(storedLength);
    writer.varint(inflatedLength);
    writer.byte(codec);
    writer.uint32(crc);
  });
  return Buffer.from(writer.view());
};

/** The first start and the last end of batches, at least one. */
export const timesOf = (frames: Batches): { readonly startUnixNs: bigint; readonly endUnixNs: bigint } => {
  let { startUnixNs, endUnixNs } = frames[0].facts;
  for (const { facts } of frames) {
    if (facts.startUnixNs < startUnixNs) startUnixNs = facts.startUnixNs;
    if (facts.endUnixNs > endUnixNs) endUnixNs = facts.endUnixNs;
  }
  return { startUnixNs, endUnixNs };
};

/**
 * Write batches, at least one, to `path` as a segment that stands for the files of `replaces`. Rejects with `TransportError`, and leaves nothing
 * behind then.
 */
export const writeUnsorted = async (path: string, frames: Batches, replaces: readonly string[]): Promise<void> => {
  const blocks = bySize(frames, ({ bytes }) => bytes.length, BLOCK_BYTES);
  const sink = new BufferSink();
  const writer = new ContainerWriter(sink, 'none');
  const start = writer.position;
  const written: WrittenBlock[] = [];
  // One after the other: the application's own work waits for the same threads.
  for (const block of blocks) written.push(writer.storedBlock(await joined(block, stored)));
  writer.blockedSection({ id: SegmentSection.batches }, start);
  writer.section({ id: SegmentSection.traceWords }, encodeWords(frames));
  writer.section({ id: SegmentSection.batchTable }, encodeTable(blocks, written));
  writer.section({ id: SegmentSection.summary }, encodeSummary(summaryOf(frames), new StringTable([])));
  const notes = { [KIND_NOTE]: KIND_UNSORTED, [REPLACES_NOTE]: replaces.join('\n') };
  writer.section({ id: SectionId.meta }, encodeMeta({ keyCount: 0, graphs: [], groupBytes: 0, notes }));
  writer.finish();
  try {
    await runAsync(writeWhole(path, [sink.toBuffer()]));
  } catch (cause) {
    const why = (cause as Error).message;
    throw new TransportError(`${path} cannot be written: ${why}; nothing of it was left behind`, { cause });
  }
};

const encodeWords = (frames: Batches): Buffer => {
  const writer = new ByteWriter();
  for (const { facts } of frames) for (const word of facts.traceWords) writer.uint32(word);
  return Buffer.from(writer.view());
};

const summaryOf = (frames: Batches): Parameters<typeof encodeSummary>[0] => {
  const operations = new OperationList();
  let spanCount = 0;
  let traceCount = 0;
  for (const { spans, facts } of frames) {
    for (const shape of facts.shapes) operations.add(shape.service, shape);
    spanCount += spans;
    traceCount += facts.traceWords.length;
  }
  return { spanCount, traceCount, ...timesOf(frames), doubles: 0, ...operations.finish() };
};
