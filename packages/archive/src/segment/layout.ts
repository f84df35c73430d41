// What all sections of a segment share: their numbers and names, the bounds of their parts, what lies together, and how they write times and counts.
//
//     time = u64, as in values/fields.ts
//     told = varint (0: u64 follows)         else the zigzag of the time less the one it is told against, plus one
import type { ByteReader, ByteWriter } from 'spanline/internal/base';
import { readTime, writeTime } from '../values/fields.js';

/** Sections of segments. */
export const SegmentSection = {
  traceRows: 1001,
  spans: 1002,
  properties: 1003,
  events: 1004,
  links: 1005,
  texts: 1006,
  groups: 1010,
  tables: 1011,
  models: 1012,
  traceFilter: 1013,
  summary: 1014,
  // Of unsorted segments alone, which have a summary beside.
  batches: 1020,
  batchTable: 1021,
  traceWords: 1022,
} as const;

/** The parts that a group of spans has, each in a section of its own; only the first two are always there. */
export const PARTS = ['traceRows', 'spans', 'properties', 'events', 'links', 'texts'] as const;
export type Part = (typeof PARTS)[number];

/** A group takes whole traces until it has this many spans, or bytes of them. */
export const GROUP_SPANS = 1024;
export const GROUP_BYTES = 512 * 1024;
/** No group has more spans; a trace with more, or with more bytes, is cut into pieces, each a group. */
export const MAX_GROUP_SPANS = 2048;
export const MAX_GROUP_BYTES = 1024 * 1024;
/** Bytes of one span at most. */
export const MAX_SPAN_BYTES = 32 * 1024 * 1024;

/** Notes of a segment's meta section. */
export const KIND_NOTE = 'kind';
export const KIND_OF_SEGMENT = 'spans';
export const KIND_UNSORTED = 'batches of spans';
export const REPLACES_NOTE = 'replaces';

/** Nanoseconds that are numbers; times further apart are kept whole. Twice this is still exact. */
export const NEAR_NS = 2 ** 51;

/** A time against another: their difference, or zero and the whole time. */
export const writeTimeAgainst = (writer: ByteWriter, time: bigint, base: bigint): void => {
  const difference = Number(time - base);
  if (Math.abs(difference) < NEAR_NS) writer.varint((difference >= 0 ? difference * 2 : -difference * 2 - 1) + 1);
  else {
    writer.varint(0);
    writeTime(writer, time);
  }
};

/** What was told of a time: a number is a difference, a bigint the time itself. */
export const readNumber = (reader: ByteReader): number | bigint => {
  const encoded = reader.varint();
  if (encoded === 0) return readTime(reader);
  const zigzag = encoded - 1;
  return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
};

/** How many things each span has. */
export const writeCounts = (writer: ByteWriter, lists: readonly (readonly unknown[])[]): void => {
  for (const { length } of lists) writer.varint(length);
};

/** One more than there are spans; the last is the number of all things. */
export const readCounts = (reader: ByteReader, spans: number): Uint32Array => {
  const firsts = new Uint32Array(spans + 1);
  for (let i = 0; i < spans; i++) {
    const end = firsts[i] + reader.varint();
    // Each takes a byte at least.
    if (end > reader.left) throw reader.corrupt('is too short for what its spans have');
    firsts[i + 1] = end;
  }
  return firsts;
};

/** Things in their order, some together until they have so many bytes. */
export const bySize = <T>(things: readonly T[], bytesOf: (thing: T) => number, enough: number): T[][] => {
  const batches: T[][] = [];
  let bytes = enough;
  for (const thing of things) {
    if (bytes >= enough) {
      batches.push([]);
      bytes = 0;
    }
    batches[batches.length - 1].push(thing);
    bytes += bytesOf(thing);
  }
  return batches;
};
