// The groups of a segment: how spans are cut into them, and the section that says where the parts of each group are. A group is compressed,
// read and decoded as a whole. It holds whole traces; only a trace too large for one group is cut, into groups of its own.
//
//     groups = n:varint spans:varint[n] pieces:varint[n] rank:zigzag[n] firstTrace:byte[16][n] start:u64[n] end:u64[n] place[6]
//     place  = 0x00 | 0x01 stored:varint[n] inflated:varint[n] codec:byte[n] crc:u32[n]      in the order of PARTS
//
// The table is read when a segment is opened. Its numbers are checked against the file before anything is read by them.

import type { Container, WrittenBlock } from '@spanline/graph';
import type { StoredForm } from '@spanline/graph/internal';
import { type ByteReader, ByteWriter, firstIndex } from 'spanline/internal/base';
import { readTime, TRACE_ID_BYTES, writeTime } from '../values/fields.js';
import {
  GROUP_BYTES,
  GROUP_SPANS,
  MAX_GROUP_BYTES,
  MAX_GROUP_SPANS,
  PARTS,
  type Part,
  SegmentSection,
} from './layout.js';

/** Groups and the pieces of traces in them. A piece is a whole trace, or what one group has of a large one. */
export interface Groups {
  /** First ordinal of each group, and of each piece; one more than there are. */
  readonly firsts: readonly number[];
  readonly pieceFirsts: readonly number[];
  /** The first piece of each group; one more than there are groups. */
  readonly firstPieces: readonly number[];
  /** The trace of each piece. */
  readonly traces: readonly number[];
}

/** Cut; `traceFirsts` has the first ordinal of each trace and the end of the last, `bytes` what each span takes. */
export const cutGroups = (traceFirsts: Uint32Array, bytes: Uint32Array): Groups => {
  const firsts = [0];
  const pieceFirsts = [0];
  const firstPieces = [0];
  const traces: number[] = [];
  let spans = 0;
  let size = 0;
  const closeGroup = (): void => {
    if (spans === 0) return;
    firsts.push(pieceFirsts[pieceFirsts.length - 1]);
    firstPieces.push(traces.length);
    spans = 0;
    size = 0;
  };
  const addPiece = (trace: number, end: number, pieceBytes: number): void => {
    spans += end - pieceFirsts[pieceFirsts.length - 1];
    size += pieceBytes;
    traces.push(trace);
    pieceFirsts.push(end);
  };
  for (let trace = 0; trace + 1 < traceFirsts.length; trace++) {
    const [start, end] = [traceFirsts[trace], traceFirsts[trace + 1]];
    let traceBytes = 0;
    for (let i = start; i < end; i++) traceBytes += bytes[i];
    if (spans + end - start > MAX_GROUP_SPANS || size + traceBytes > MAX_GROUP_BYTES) closeGroup();
    if (end - start <= MAX_GROUP_SPANS && traceBytes <= MAX_GROUP_BYTES) {
      addPiece(trace, end, traceBytes);
      if (spans >= GROUP_SPANS || size >= GROUP_BYTES) closeGroup();
      continue;
    }
    let pieceStart = start;
    let pieceBytes = 0;
    for (let i = start; i < end; i++) {
      if (i > pieceStart && (i - pieceStart === GROUP_SPANS || pieceBytes + bytes[i] > MAX_GROUP_BYTES)) {
        addPiece(trace, i, pieceBytes);
        closeGroup();
        pieceStart = i;
        pieceBytes = 0;
      }
      pieceBytes += bytes[i];
    }
    addPiece(trace, end, pieceBytes);
    closeGroup();
  }
  closeGroup();
  return { firsts, pieceFirsts, firstPieces, traces };
};

/** A group as written. */
export interface WrittenGroup {
  readonly spanCount: number;
  readonly rowCount: number;
  /** The id of its first trace. */
  readonly firstId: Uint8Array;
  /** Rank of the first key of its first trace. */
  readonly firstRank: number;
  readonly startUnixNs: bigint;
  readonly endUnixNs: bigint;
  readonly parts: Readonly<Partial<Record<Part, WrittenBlock>>>;
}

/** Bytes a group takes at least. */
const MIN_BYTES = 35;

/** The table of groups as bytes. */
export const encodeGroups = (groups: readonly WrittenGroup[]): Buffer => {
  const writer = new ByteWriter();
  writer.varint(groups.length);
  for (const { spanCount } of groups) writer.varint(spanCount);
  for (const { rowCount } of groups) writer.varint(rowCount);
  groups.forEach(({ firstRank }, i) => {
    writer.zigzag(firstRank - (i === 0 ? 0 : groups[i - 1].firstRank));
  });
  for (const { firstId } of groups) writer.raw(firstId);
  for (const { startUnixNs } of groups) writeTime(writer, startUnixNs);
  for (const { endUnixNs } of groups) writeTime(writer, endUnixNs);
  for (const part of PARTS) {
    const blocks = groups.map(({ parts }) => parts[part]);
    const isThere = blocks.some((block) => block !== undefined);
    writer.byte(isThere ? 1 : 0);
    if (!isThere) continue;
    for (const block of blocks) writer.varint(block?.storedLength ?? 0);
    for (const block of blocks) writer.varint(block?.inflatedLength ?? 0);
    for (const block of blocks) writer.byte(block?.codec ?? 0);
    for (const block of blocks) writer.uint32(block?.crc ?? 0);
  }
  return Buffer.from(writer.view());
};

/** A part of a group, and where it is. */
export interface PartRef extends StoredForm {
  readonly part: Part;
  readonly group: number;
  readonly offset: number;
}

interface PartColumns {
  readonly offsets: Float64Array;
  readonly inflated: Float64Array;
  readonly codecs: Uint8Array;
  readonly crcs: Uint32Array;
}

/** The groups of a segment. */
export class GroupTable {
  /** First ordinal of each group; one more than there are. */
  readonly firsts: Float64Array;
  readonly rowCounts: Uint32Array;
  readonly firstRanks: Float64Array;
  readonly starts: BigUint64Array;
  readonly ends: BigUint64Array;
  readonly #firstIds: Buffer;
  readonly #parts: Partial<Record<Part, PartColumns>> = {};

  constructor(reader: ByteReader, container: Container, spanCount: number) {
    const count = reader.varint();
    if (count * MIN_BYTES > reader.left) throw reader.corrupt('is too short for its groups');
    const firsts = new Float64Array(count + 1);
    for (let i = 0; i < count; i++) {
      const spans = reader.varint();
      if (spans === 0 || spans > MAX_GROUP_SPANS) throw reader.corrupt(`has a group of ${spans} spans`);
      firsts[i + 1] = firsts[i] + spans;
    }
    if (firsts[count] !== spanCount) throw reader.corrupt(`has ${firsts[count]} spans, not ${spanCount}`);
    this.firsts = firsts;
    this.rowCounts = new Uint32Array(count);
    for (let i = 0; i < count; i++) {
      const rows = reader.varint();
      if (rows === 0 || rows > firsts[i + 1] - firsts[i]) throw reader.corrupt('has a group of no traces');
      this.rowCounts[i] = rows;
    }
    this.firstRanks = new Float64Array(count);
    let rank = 0;
    for (let i = 0; i < count; i++) {
      rank += reader.zigzag();
      if (rank < 0) throw reader.corrupt('has a group of impossible rank');
      this.firstRanks[i] = rank;
    }
    this.#firstIds = Buffer.from(reader.raw(count * TRACE_ID_BYTES));
    for (let i = 1; i < count; i++) {
      if (this.firstId(i - 1).compare(this.firstId(i)) > 0) throw reader.corrupt('has groups out of order');
    }
    this.starts = BigUint64Array.from({ length: count }, () => readTime(reader));
    this.ends = BigUint64Array.from({ length: count }, () => readTime(reader));
    for (const part of PARTS) if (reader.byte() === 1) this.#parts[part] = readPart(reader, container, part, count);
    reader.end();
    if (count > 0 && (this.#parts.traceRows === undefined || this.#parts.spans === undefined))
      throw reader.corrupt('lacks columns');
  }

  get count(): number {
    return this.rowCounts.length;
  }

  spanCount(group: number): number {
    return this.firsts[group + 1] - this.firsts[group];
  }

  firstId(group: number): Buffer {
    return this.#firstIds.subarray(group * TRACE_ID_BYTES, (group + 1) * TRACE_ID_BYTES);
  }

  /** Where a part of a group is; undefined when the group has none. */
  ref(part: Part, group: number): PartRef | undefined {
    const columns = this.#parts[part];
    if (columns === undefined || columns.offsets[group + 1] === columns.offsets[group]) return undefined;
    const offset = columns.offsets[group];
    return {
      part,
      group,
      offset,
      storedLength: columns.offsets[group + 1] - offset,
      inflatedLength: columns.inflated[group],
      codec: columns.codecs[group],
      crc: columns.crcs[group],
    };
  }

  /** The groups that may hold a trace: the first and the one behind the last. */
  groupsOf(id: Uint8Array): { readonly first: number; readonly end: number } {
    const end = firstIndex(0, this.count, (i) => this.firstId(i).compare(id) > 0);
    let first = Math.max(0, end - 1);
    // A trace in pieces begins several groups.
    while (first > 0 && this.firstId(first).equals(id) && this.firstId(first - 1).equals(id)) first--;
    return { first, end };
  }

  /** Whether group `group` goes on with the trace of the group before. */
  isContinued(group: number): boolean {
    return group > 0 && group < this.count && this.firstId(group).equals(this.firstId(group - 1));
  }
}

const readPart = (reader: ByteReader, container: Container, part: Part, count: number): PartColumns => {
  const { offset, storedLength } = container.need(SegmentSection[part]);
  const offsets = new Float64Array(count + 1);
  const inflated = new Float64Array(count);
  offsets[0] = offset;
  for (let i = 0; i < count; i++) offsets[i + 1] = offsets[i] + reader.varint();
  if (offsets[count] !== offset + storedLength) throw reader.corrupt(`does not describe the section ${part}`);
  for (let i = 0; i < count; i++) inflated[i] = reader.varint();
  const codecs = Uint8Array.from(reader.raw(count));
  const crcs = Uint32Array.from({ length: count }, () => reader.uint32());
  return { offsets, inflated, codecs, crcs };
};
