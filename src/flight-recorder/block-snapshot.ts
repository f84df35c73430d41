// A snapshot made of blocks, whether they are those of the ring or were read from a file. Which rows belong to which trace is kept as numbers in
// typed arrays, no object a trace: a service takes a snapshot of half a million spans while it serves, and its garbage collector would walk them
// all. Rows become records when they are asked for, trace by trace. It must never change a block.

import { orderInSteps } from '../base/calls/timers.js';
import type { ClockAnchor } from '../clock/index.js';
import type { Resource } from '../collector/reporter.js';
import { NO_PROPERTIES } from '../record/properties.js';
import { recordOfRow, TraceIdentity } from '../record/record.js';
import { RowView, toUnixTime } from '../record/row-view.js';
import { Flag } from '../rows/row-chunk.js';
import { traceHex } from '../span/span-context.js';
import { BITS_AT, type Block, TRACE_WORDS, TraceBit } from './block.js';
import type { Snapshot, SnapshotReason, SnapshotSpan, SnapshotTrace } from './snapshot-types.js';
import type { TimelineRow } from './timeline/timeline-row.js';

/** Read between two steps. */
const STEP_TRACES = 256;
const STEP_ROWS = 4096;

const sumOf = (blocks: readonly Block[], count: (block: Block) => number): number =>
  blocks.reduce((sum, block) => sum + count(block), 0);

const hashOf = (words: Int32Array, at: number): number => {
  let hash = 0;
  for (let i = 0; i < 4; i++) hash = Math.imul(hash ^ words[at + i], 0x9e3779b1) ^ (hash >>> 15);
  return hash ^ (hash >>> 16);
};

/** The trace id at a place of a block's traces. */
export const traceIdAt = (words: Int32Array, at: number): string =>
  traceHex(words[at] >>> 0, words[at + 1] >>> 0, words[at + 2] >>> 0, words[at + 3] >>> 0);

class TraceRows {
  readonly #blocks: readonly Block[];
  readonly #cancelled: ReadonlySet<string>;
  /** Of each block the number of its first row among all rows. */
  readonly #firstRows: Int32Array;
  /** Of each row the next one of its trace; of each trace the first and the last. Plus one; 0 is none. */
  readonly #next: Int32Array;
  readonly #first: Int32Array;
  readonly #last: Int32Array;
  /** Of each trace a block that has it, and the place of its words there. */
  readonly #block: Int32Array;
  readonly #at: Int32Array;
  readonly #isSampled: Uint8Array;
  /** Traces by their id: open addressing, at maxTraces half full. Plus one; 0 is none. */
  readonly #table: Int32Array;
  /** Traces, in the order of their first row. */
  count = 0;

  /** Traces whose ids are among `cancelled`, or that are marked in their blocks, are left out. */
  constructor(blocks: readonly Block[], cancelled: ReadonlySet<string>) {
    this.#blocks = blocks;
    this.#cancelled = cancelled;
    this.#firstRows = new Int32Array(blocks.length);
    for (let i = 1; i < blocks.length; i++) this.#firstRows[i] = this.#firstRows[i - 1] + blocks[i - 1].size.rows;
    const maxTraces = sumOf(blocks, ({ size }) => size.traces);
    this.#next = new Int32Array(sumOf(blocks, ({ size }) => size.rows));
    this.#first = new Int32Array(maxTraces);
    this.#last = new Int32Array(maxTraces);
    this.#block = new Int32Array(maxTraces);
    this.#at = new Int32Array(maxTraces);
    this.#isSampled = new Uint8Array(maxTraces);
    this.#table = new Int32Array(2 ** Math.ceil(Math.log2(maxTraces * 2 + 2)));
  }

  /** Reads the blocks. To be gone through once, before anything is asked. */
  *fill(): Generator<undefined> {
    for (const [number, { traces, chunk }] of this.#blocks.entries()) {
      const traceOf = new Int32Array(traces.length / TRACE_WORDS);
      for (let i = 0; i < traceOf.length; i++) {
        traceOf[i] = this.#numberOf(number, i * TRACE_WORDS);
        if (i % STEP_TRACES === 0) yield;
      }
      const firstRow = this.#firstRows[number];
      for (let row = 0; row < chunk.count; row++) {
        this.#add(traceOf[chunk.slots[row]], firstRow + row + 1);
        if (row % STEP_ROWS === 0) yield;
      }
    }
  }

  isSampled(trace: number): boolean {
    return this.#isSampled[trace] !== 0;
  }

  /** A block that has the trace, and the place of its words there. */
  wordsOf(trace: number): readonly [block: Block, at: number] {
    return [this.#blocks[this.#block[trace]], this.#at[trace]];
  }

  /** The numbers of the rows of a trace among all rows, block by block. */
  *rowsOf(trace: number): Generator<number> {
    for (let row = this.#first[trace]; row !== 0; row = this.#next[row - 1]) yield row - 1;
  }

  /** Where a row is. */
  placeOf(row: number): readonly [block: number, row: number] {
    let [low, high] = [0, this.#blocks.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#firstRows[middle] <= row) low = middle;
      else high = middle;
    }
    return [low, row - this.#firstRows[low]];
  }

  #add(trace: number, row: number): void {
    if (trace < 0) return;
    const last = this.#last[trace];
    if (last === 0) this.#first[trace] = row;
    else this.#next[last - 1] = row;
    this.#last[trace] = row;
  }

  /** The number of the trace whose words are at `at` of a block; -1 for one that was cancelled. */
  #numberOf(block: number, at: number): number {
    const { traces } = this.#blocks[block];
    if ((traces[at + BITS_AT] & TraceBit.cancelled) !== 0) return -1;
    if (this.#cancelled.size > 0 && this.#cancelled.has(traceIdAt(traces, at))) return -1;
    const mask = this.#table.length - 1;
    let slot = hashOf(traces, at) & mask;
    while (this.#table[slot] !== 0 && !this.#isAt(this.#table[slot] - 1, traces, at)) slot = (slot + 1) & mask;
    if (this.#table[slot] === 0) {
      this.#block[this.count] = block;
      this.#at[this.count] = at;
      this.#table[slot] = ++this.count;
    }
    const trace = this.#table[slot] - 1;
    // A trigger may have decided so after its first spans.
    if ((traces[at + 4] & TraceBit.sampled) !== 0) this.#isSampled[trace] = 1;
    return trace;
  }

  #isAt(trace: number, words: Int32Array, at: number): boolean {
    const [{ traces }, from] = this.wordsOf(trace);
    for (let i = 0; i < 4; i++) if (traces[from + i] !== words[at + i]) return false;
    return true;
  }
}

/** Everything a snapshot is made of. */
export interface SnapshotParts {
  readonly reason: SnapshotReason;
  /** How ticks of its blocks become Unix time. */
  readonly anchor: ClockAnchor;
  /** Ticks. */
  readonly taken: number;
  readonly resource: Resource;
  readonly blocks: readonly Block[];
  /** Blocks of spans that had not ended. */
  readonly open: readonly Block[];
  readonly timeline: readonly TimelineRow[];
  readonly timelineFromUs?: number | undefined;
  readonly tornRows: number;
  /** Trace ids that must not be shown, beside those that are marked in their blocks. Only of blocks that were read from files. */
  readonly cancelled: ReadonlySet<string>;
}

/** Rows that become records between two steps. */
const STEP_RECORDS = 256;

/** Rows of a snapshot by their numbers. */
interface RowList {
  readonly numbers: number[];
  readonly begins: number[];
}

const VIEW = new RowView({ properties: NO_PROPERTIES }, { name: '', version: '', properties: NO_PROPERTIES });

export class BlockSnapshot implements Snapshot {
  readonly reason: SnapshotReason;
  readonly resource: Resource;
  readonly timeline: readonly TimelineRow[];
  readonly timelineFromUs: number | undefined;
  readonly tornRows: number;
  readonly #parts: SnapshotParts;
  readonly #blocks: readonly Block[];
  #rows: TraceRows | undefined;
  #spanCount: number | undefined;

  constructor(parts: SnapshotParts) {
    this.reason = parts.reason;
    this.resource = parts.resource;
    this.timeline = parts.timeline;
    this.timelineFromUs = parts.timelineFromUs;
    this.tornRows = parts.tornRows;
    this.#parts = parts;
    this.#blocks = [...parts.blocks, ...parts.open];
  }

  /** @internal */
  get parts(): SnapshotParts {
    return this.#parts;
  }

  get takenUnixUs(): number {
    return this.#unixUs(this.#parts.taken);
  }

  get bufferedMs(): number {
    const { blocks, taken } = this.#parts;
    return blocks.length === 0 ? 0 : Math.max(0, (this.#unixUs(taken) - this.#unixUs(blocks[0].firstEnd)) / 1000);
  }

  get spanCount(): number {
    this.#spanCount ??= this.#blocks.reduce((sum, block) => sum + this.#shownRows(block), 0);
    return this.#spanCount;
  }

  *traces(): Iterable<SnapshotTrace> {
    for (const trace of this.steps()) if (trace !== undefined) yield trace;
  }

  *steps(): Iterable<SnapshotTrace | undefined> {
    const rows = this.#rows ?? new TraceRows(this.#blocks, this.#parts.cancelled);
    if (this.#rows === undefined) yield* rows.fill();
    this.#rows = rows;
    for (let trace = 0; trace < rows.count; trace++) yield yield* this.#traceOf(rows, trace);
  }

  *#traceOf(rows: TraceRows, trace: number): Generator<undefined, SnapshotTrace> {
    const [block, at] = rows.wordsOf(trace);
    const { traces } = block;
    const state = traces[at + 5] === 0 ? '' : block.meta.traceStates[traces[at + 5]];
    const isRandom = (traces[at + 4] & TraceBit.random) !== 0;
    const identity = new TraceIdentity(
      traces[at] >>> 0,
      traces[at + 1] >>> 0,
      traces[at + 2] >>> 0,
      traces[at + 3] >>> 0,
      state,
      isRandom,
    );
    const { anchor, blocks } = this.#parts;
    const spans: SnapshotSpan[] = [];
    for (const { numbers, begins } of yield* this.#rootsAndOthers(rows, trace)) {
      for (const i of yield* orderInSteps(begins)) {
        const [number, row] = rows.placeOf(numbers[i]);
        const record = recordOfRow(VIEW.of(this.#blocks[number].chunk, row, identity, anchor), identity);
        spans.push({ record, isOpen: number >= blocks.length });
        if (spans.length % STEP_RECORDS === 0) yield;
      }
    }
    return { traceId: traceIdAt(traces, at), spans, isSampled: rows.isSampled(trace) };
  }

  /** The rows of a trace, roots first, with their begins. */
  *#rootsAndOthers(rows: TraceRows, trace: number): Generator<undefined, readonly [RowList, RowList]> {
    const [roots, others]: [RowList, RowList] = [
      { numbers: [], begins: [] },
      { numbers: [], begins: [] },
    ];
    for (const number of rows.rowsOf(trace)) {
      const [block, row] = rows.placeOf(number);
      const { flags, begins } = this.#blocks[block].chunk;
      const list = (flags[row] & Flag.root) === 0 ? others : roots;
      list.begins.push(begins[row]);
      if (list.numbers.push(number) % STEP_RECORDS === 0) yield;
    }
    return [roots, others];
  }

  #shownRows(block: Block): number {
    const { cancelled } = this.#parts;
    if (cancelled.size > 0) {
      for (let trace = 0; trace < block.size.traces; trace++)
        if (!block.isHidden(trace) && cancelled.has(traceIdAt(block.traces, trace * TRACE_WORDS))) block.hide(trace);
    }
    return block.size.rows - block.hiddenRows;
  }

  #unixUs(ticks: number): number {
    const { sec, nano } = toUnixTime(ticks, this.#parts.anchor);
    return sec * 1e6 + nano / 1000;
  }
}
