// A block: rows of finished spans as one self-contained piece of memory, in the ring, in a file and in a message alike.
// Nothing in a block is changed once it is made, but for the mark of a trace that was cancelled, and that only while the ring alone reads it.
//
//   header   16 words: magic, version, bytes of the block, CRC-32 of what follows the header (files only), rows, entries, bytes of text,
//            bytes of meta, traces, 0; then as doubles the least and the greatest end of a row, in ticks
//   columns  begin, end as doubles; entries of four words; id, parent id (two words each), trace, name, flags, first entry
//   traces   eight words each: the trace id, bits (sampled, random id, cancelled: not to be shown), number of the tracestate, number of the
//            resource, 0
//   text     of the entries
//   meta     JSON: names, scopes, tracestates, resources, and how ticks become Unix time; written for each two thousand spans of a service
//            under load, so that pieces that repeat are encoded once
import { getOrMake } from '../base/maps/maps.js';
import type { ClockAnchor } from '../clock/index.js';
import type { Resource } from '../collector/reporter.js';
import { type RowChunk, RowChunk as Rows } from '../rows/row-chunk.js';
import { RowEntries } from '../rows/row-entries.js';
import { internedName, RowText, type SpanScope } from '../rows/row-text.js';

export const MAGIC = 0x4c465053;
export const VERSION = 1;
export const HEADER_BYTES = 64;
export const TRACE_WORDS = 8;

/** Bits of a trace in a block. */
export const TraceBit = { sampled: 1, random: 2, cancelled: 4 } as const;
/** The word of a trace that has its bits. */
export const BITS_AT = 4;

/** The words of a header. */
export const Word = {
  magic: 0,
  version: 1,
  bytes: 2,
  crc: 3,
  rows: 4,
  entries: 5,
  text: 6,
  meta: 7,
  traces: 8,
} as const;
const FIRST_END_AT = 48;

/** Numbers of things in a block. */
export interface BlockSize {
  readonly rows: number;
  readonly entries: number;
  readonly text: number;
  readonly meta: number;
  readonly traces: number;
}

const ROW_COLUMNS = 8;

/** Bytes of a block, a multiple of eight. */
export const blockBytes = ({ rows, entries, text, meta, traces }: BlockSize): number =>
  HEADER_BYTES +
  Math.ceil((rows * 16 + entries * 16 + (rows * ROW_COLUMNS + 1) * 4 + traces * TRACE_WORDS * 4 + text + meta) / 8) * 8;

/** A block by its parts, which are views of its bytes. */
export class Block {
  readonly header: Int32Array;
  /** Rows as a chunk; the slot of a row is the number of its trace in this block. */
  /** Its rows: over its memory, but for columns that a reader of files has of its own (read-names.ts). */
  chunk: RowChunk;
  readonly traces: Int32Array;
  readonly text: Buffer;
  readonly metaBytes: Buffer;
  readonly #endRange: Float64Array;
  #read: BlockMeta | null = null;
  /** True once somebody beside the ring may read it: then its memory is not used again. */
  isShared = false;
  /** In the order in which the blocks of a thread were made; -1 for one that no ring holds. */
  number = -1;
  // Undefined: not counted yet.
  #hiddenRows: number | undefined;

  /** @param buffer Its memory, from the first byte on; longer than the block as the case may be. */
  constructor(
    readonly buffer: ArrayBuffer,
    readonly size: BlockSize,
  ) {
    const { rows, entries } = size;
    let at = 0;
    const words = (length: number): Int32Array => {
      const view = new Int32Array(buffer, at, length);
      at += length * 4;
      return view;
    };
    const doubles = (length: number): Float64Array => {
      const view = new Float64Array(buffer, at, length);
      at += length * 8;
      return view;
    };
    const bytes = (length: number): Buffer => {
      const view = Buffer.from(buffer, at, length);
      at += length;
      return view;
    };
    this.header = words(HEADER_BYTES / 4);
    this.#endRange = new Float64Array(buffer, FIRST_END_AT, 2);
    const [begins, ends] = [doubles(rows), doubles(rows)];
    const entryWords = words(entries * 4);
    const [idHis, idLos, parentHis, parentLos] = [words(rows), words(rows), words(rows), words(rows)];
    const [slots, names, flags, heads] = [words(rows), words(rows), words(rows), words(rows + 1)];
    this.traces = words(size.traces * TRACE_WORDS);
    this.text = bytes(size.text);
    this.metaBytes = bytes(size.meta);
    this.chunk = Rows.over(
      {
        begins,
        ends,
        idHis,
        idLos,
        parentHis,
        parentLos,
        slots,
        names,
        flags,
        heads,
        entries: RowEntries.over(entryWords, entries, RowText.over(this.text)),
      },
      rows,
    );
  }

  /** The block itself, without what its memory may have behind it. */
  get bytes(): Uint8Array {
    return new Uint8Array(this.buffer, 0, blockBytes(this.size));
  }

  /** Rows of traces that were cancelled. */
  get hiddenRows(): number {
    this.#hiddenRows ??= this.#countHidden();
    return this.#hiddenRows;
  }

  /** It is new, and nothing of it was cancelled. */
  hidesNothing(): void {
    this.#hiddenRows = 0;
  }

  /** Mark a trace as cancelled; gives how many rows of it there are. Only while nobody beside the ring reads the block. */
  hide(trace: number): number {
    const before = this.hiddenRows;
    const rows = this.#countRows((slot) => slot === trace);
    this.traces[trace * TRACE_WORDS + BITS_AT] |= TraceBit.cancelled;
    this.#hiddenRows = before + rows;
    return rows;
  }

  /** Whether a trace was cancelled. */
  isHidden(trace: number): boolean {
    return (this.traces[trace * TRACE_WORDS + BITS_AT] & TraceBit.cancelled) !== 0;
  }

  #countHidden(): number {
    for (let trace = 0; trace < this.size.traces; trace++)
      if (this.isHidden(trace)) return this.#countRows((slot) => this.isHidden(slot));
    return 0;
  }

  #countRows(isWanted: (slot: number) => boolean): number {
    const { slots, count } = this.chunk;
    let rows = 0;
    for (let row = 0; row < count; row++) if (isWanted(slots[row])) rows++;
    return rows;
  }

  get meta(): BlockMeta {
    this.#read ??= fromJson(this.metaBytes) as BlockMeta;
    return this.#read;
  }

  /** The least and the greatest end of its rows, ticks. */
  get firstEnd(): number {
    return this.#endRange[0];
  }
  get lastEnd(): number {
    return this.#endRange[1];
  }

  setEnds(first: number, last: number): void {
    this.#endRange[0] = first;
    this.#endRange[1] = last;
  }
}

interface BlockMeta {
  readonly names: readonly (readonly [number: number, text: string])[];
  readonly scopes: readonly (readonly [number: number, scope: SpanScope])[];
  /** The first is that of traces without one. */
  readonly traceStates: readonly string[];
  readonly resources: readonly Resource[];
  readonly anchor: ClockAnchor;
}

// Attributes may be big integers, for which JSON has no word.
const BIGINT = '$bigint';

/** JSON of values that may be big integers. */
export const toJson = (value: unknown): string =>
  JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? { [BIGINT]: one.toString() } : one));

/** What {@link toJson} has written. */
export const fromJson = (bytes: Buffer): unknown =>
  JSON.parse(bytes.toString(), (_, value) => (typeof value?.[BIGINT] === 'string' ? BigInt(value[BIGINT]) : value));

export class MetaWriter {
  // By number of the name.
  readonly #names: string[] = [];
  readonly #resourceTexts = new WeakMap<object, string>();
  // In order of their numbers. A service may have one of its own for each request.
  #states = new Map([['', 0]]);
  #resources: unknown[] = [];

  /** The number of a tracestate in the block that is being made. */
  numberOfState(state: string): number {
    return state === '' ? 0 : getOrMake(this.#states, state, () => this.#states.size);
  }

  numberOfResource(resource: unknown): number {
    return placeOf(this.#resources, resource);
  }

  /** The bytes of all, and begin another block. */
  write(names: readonly number[], scopes: BlockMeta['scopes'], anchor: ClockAnchor): Buffer {
    const [states, resources] = [[...this.#states.keys()], this.#resources];
    if (states.length > 1) this.#states = new Map([['', 0]]);
    this.#resources = [];
    const named = names.map((number) => this.#nameText(number)).join(',');
    const made = resources.map((resource) => this.#resourceText(resource as object)).join(',');
    // Only attributes of scopes may be big integers, and most blocks have no scope but ours.
    const others = scopes.length === 0 ? '[]' : toJson(scopes);
    const rest = `"scopes":${others},"traceStates":${JSON.stringify(states)},"anchor":${JSON.stringify(anchor)}`;
    return Buffer.from(`{"names":[${named}],"resources":[${made}],${rest}}`);
  }

  #nameText(number: number): string {
    this.#names[number] ??= JSON.stringify([number, internedName(number)]);
    return this.#names[number];
  }

  #resourceText(resource: object): string {
    return getOrMake(this.#resourceTexts, resource, toJson);
  }
}

/** The place of `one` in a short list, where it is put unless it is there. */
const placeOf = <T>(list: T[], one: T): number => {
  const at = list.lastIndexOf(one);
  return at < 0 ? list.push(one) - 1 : at;
};
