// TracePart: what is reported of one trace at one time: a range of rows that were taken. Records, which a program's reporter sees, are made on
// demand: an encoder can work in slices, and our own encoders read rows through a view, for which nothing is made.
//
// At the end `takeTraces`, which makes the parts: it takes the rows of finished traces from the store, sorted by trace, with copies of the batches
// that are mounted in them.

import type { ClockAnchor } from '../clock/index.js';
import { NO_PROPERTIES } from '../record/properties.js';
import { recordOfRow, type SpanRecord, TraceIdentity } from '../record/record.js';
import { RowView } from '../record/row-view.js';
import type { PropertyList } from '../rows/property.js';
import { ERROR, Flag, type RowChunk, statusIn } from '../rows/row-chunk.js';
import { type RowObserver, type RowStore, TakenRows } from '../rows/row-store.js';
import { TRACE_STRIDE, TraceBit, type TraceTable, TraceWord } from '../rows/trace-table.js';
import {
  type ActiveTrace,
  type EndedRoot,
  linkToPlace,
  type MountedBatch,
  type OpenSpans,
} from '../span/active-trace.js';
import { ReportError, type Resource, type Trace } from './reporter.js';

// Points at one row after another, of which records are made.
const VIEW = new RowView({ properties: NO_PROPERTIES }, { name: '', version: '', properties: NO_PROPERTIES });

/** Parts that wait to be used again: of two reports of the default size, for one is delivered while the next is taken. */
const MAX_POOLED = 2 * 16_384;

/** Parts of a collector that nobody reads any more. A new object a trace and report would outlive the young generation while it is delivered. */
export class PartPool {
  // Never shortened: V8 would give it new memory when it grows again.
  private readonly parts: TracePart[] = [];
  private count = 0;

  take(): TracePart {
    return this.count > 0 ? this.parts[--this.count] : new TracePart(this);
  }

  give(part: TracePart): void {
    if (this.count < MAX_POOLED) this.parts[this.count++] = part;
  }
}

export class TracePart implements Trace {
  spanCount = 0;
  byteSize = 0;
  isContinuation = false;
  hasRoot = false;
  /** True: it is reported whatever `keep` decides. */
  mustReport = false;
  /** Of its trace, in the table that it was taken from. */
  serial = 0;
  // What the identity of its trace has: the id as signed words, most significant first. Views read it here.
  w0 = 0;
  w1 = 0;
  w2 = 0;
  w3 = 0;
  traceState = '';
  isRandom = false;
  /** Who produced it. */
  resource!: Resource;
  // How its ticks become Unix time, where that is not said by the rows that were taken.
  private ownAnchor: ClockAnchor | undefined;
  // Of records, which keep it.
  private identity: TraceIdentity | null = null;
  private made: SpanRecord[] | null = null;
  // Order of start, the root first: rows come in the order of their end.
  private order: Uint32Array | null = null;
  // Its rows: so many from `first` on; null once it was released.
  private rows: TakenRows | null = null;
  private first = 0;
  // The rows that were taken, until they are released; and number of those who have not done so.
  private taken: TakenRows | null = null;
  private holders = 0;
  private isDetached = false;
  // A program has seen it, and may keep it.
  private isShown = false;

  constructor(private readonly pool: PartPool | null = null) {}

  /** Be the part of a trace whose rows were taken as the `i`-th of `rows`, and which is in the table as it was while they waited. */
  of(traces: TraceTable, number: number, rows: TakenRows, i: number): this {
    const { words } = traces;
    const at = number * TRACE_STRIDE;
    const bits = words[at + TraceWord.bits];
    this.taken = rows;
    this.rows = rows;
    this.first = rows.firstOf(i);
    this.spanCount = rows.countOf(i);
    this.byteSize = words[at + TraceWord.bytes];
    this.hasRoot = (this.flagsAt(0) & Flag.root) !== 0;
    this.isContinuation = (bits & TraceBit.continuation) !== 0;
    this.mustReport = (bits & TraceBit.mustReport) !== 0;
    this.isRandom = (bits & TraceBit.random) !== 0;
    this.serial = words[at + TraceWord.serial];
    this.w0 = words[at + TraceWord.id];
    this.w1 = words[at + TraceWord.id + 1];
    this.w2 = words[at + TraceWord.id + 2];
    this.w3 = words[at + TraceWord.id + 3];
    this.traceState = traces.traceStateOf(number);
    this.resource = traces.resourceOf(number) as Resource;
    this.ownAnchor = traces.anchorOf(number) as ClockAnchor | undefined;
    return this;
  }

  /** How ticks of its rows become Unix time. */
  get anchor(): ClockAnchor {
    return this.ownAnchor ?? (this.readable.anchor as ClockAnchor);
  }

  get traceId(): string {
    return this.identityOfRecords.traceId;
  }

  get spans(): readonly SpanRecord[] {
    if (this.made === null) {
      this.made = Array.from(this.orderOfStart, (row) => this.recordAt(row));
    }
    return this.made;
  }

  spanAt(index: number): SpanRecord {
    if (this.made !== null) return this.made[index];
    return this.recordAt(this.orderOfStart[index]);
  }

  get root(): SpanRecord | undefined {
    return this.hasRoot ? (this.made?.[0] ?? this.recordAt(0)) : undefined;
  }

  get durationNs(): number {
    return this.root?.durationNs ?? 0;
  }

  get hasError(): boolean {
    if (this.made !== null) return this.made.some(({ status }) => status.code === 'error');
    for (let i = 0; i < this.spanCount; i++) {
      if (statusIn(this.flagsAt(i)) === ERROR) return true;
    }
    return false;
  }

  /**
   * The i-th span through `view`, good until the next call: for encoders of the library, for which no record is made. In no order but
   * that the root comes first, and the same at every call.
   */
  viewAt(index: number, view: RowView): RowView {
    return view.of(this.chunkOf(index), this.rowOf(index), this, this.anchor);
  }

  /** Where the i-th span is, in the order of {@link viewAt}: its chunk, and its row in that chunk. */
  chunkOf(index: number): RowChunk {
    return this.readable.chunkOf(this.first + index);
  }
  rowOf(index: number): number {
    return this.readable.rowOf(this.first + index);
  }

  /** Give the root, which is there, more properties. Before anybody holds the part. */
  addToRoot(more: PropertyList): void {
    this.byteSize += this.readable.extend(this.first, more);
    if (this.made !== null) this.made[0] = this.recordAt(0);
  }

  /** A program gets it, which may keep it. */
  show(): void {
    this.isShown = true;
  }

  /** So many more readers, each of which calls `release` when it is done. */
  hold(readers = 1): void {
    this.holders += readers;
  }

  /** One that held it reads it no more. After the last one its rows are used for other spans, unless it has rows of its own. */
  release(): void {
    if (--this.holders > 0 || this.taken === null) return;
    const { taken } = this;
    this.taken = null;
    if (this.rows === taken) this.rows = null;
    taken.release();
    if (!this.isShown && this.pool !== null) this.giveBack(this.pool);
  }

  /** Its rows are left to the garbage collector: an unknown reader may still read them. */
  abandonRows(): void {
    this.taken = null;
  }

  /** Take rows of its own, in their order: whoever keeps it must not hold what came in the same chunks. */
  detach(): void {
    if (this.isDetached) return;
    this.isDetached = true;
    this.moveTo(new TakenRows(Int32Array.of(this.spanCount)), 0);
  }

  /** Copy its rows to those of trace `i` there. */
  moveTo(rows: TakenRows, i: number): void {
    for (let at = 0; at < this.spanCount; at++) rows.copy(i, this.chunkOf(at), this.rowOf(at));
    this.ownAnchor = this.anchor;
    this.rows = rows;
    this.first = rows.firstOf(i);
  }

  private giveBack(pool: PartPool): void {
    this.rows = null;
    this.identity = null;
    this.made = null;
    this.order = null;
    this.isDetached = false;
    pool.give(this);
  }

  // Whoever reads on must not see other spans.
  private get readable(): TakenRows {
    if (this.rows !== null) return this.rows;
    throw new ReportError(
      'ERR_SPANLINE_TRACE_RELEASED',
      'A trace was read after its report had settled by a reporter with keepsNoTrace. Leave keepsNoTrace out, or read before.',
      { retryable: false },
    );
  }

  private get identityOfRecords(): TraceIdentity {
    const { w0, w1, w2, w3 } = this;
    this.identity ??= new TraceIdentity(w0 >>> 0, w1 >>> 0, w2 >>> 0, w3 >>> 0, this.traceState, this.isRandom);
    return this.identity;
  }

  private get orderOfStart(): Uint32Array {
    this.order ??= orderOfStart(this);
    return this.order;
  }

  private recordAt(at: number): SpanRecord {
    const identity = this.identityOfRecords;
    return recordOfRow(VIEW.of(this.chunkOf(at), this.rowOf(at), identity, this.anchor), identity);
  }

  private flagsAt(at: number): number {
    return this.chunkOf(at).flags[this.rowOf(at)];
  }
}

// Rows by their start; of one tick the one whose id was drawn first.
const orderOfStart = (part: TracePart): Uint32Array => {
  const chunks: RowChunk[] = [];
  const at: number[] = [];
  const count = part.spanCount;
  for (let i = 0; i < count; i++) {
    chunks.push(part.chunkOf(i));
    at.push(part.rowOf(i));
  }
  const hasRoot = count > 0 && (chunks[0].flags[at[0]] & Flag.root) !== 0;
  const order = Uint32Array.from({ length: count }, (_, i) => i);
  order.subarray(hasRoot ? 1 : 0).sort((a, b) => {
    const ticks = chunks[a].begins[at[a]] - chunks[b].begins[at[b]];
    return ticks === 0 ? chunks[a].idLos[at[a]] - chunks[b].idLos[at[b]] : ticks;
  });
  return order;
};

/**
 * What sees every span whose rows are a collector's, whatever becomes of its trace: the flight recorder, as far as the collector needs it.
 * Called on the recording path: no method may throw.
 */
export interface TraceObserver extends RowObserver {
  readonly openSpans: OpenSpans;
  /** A root has ended. True: its trace is reported, whatever the sampler and `keep` decide. */
  ended(trace: ActiveTrace, root: EndedRoot): boolean;
  /** These parts are reported now: the moment to add to their roots what only the observer has. */
  reporting(parts: readonly TracePart[]): void;
  /** Nothing of it may be shown to anybody. */
  cancelled(trace: ActiveTrace): void;
  /** A row that was never in the store: of a batch that is mounted in a trace. */
  observeMounted(traces: TraceTable, number: number, chunk: RowChunk, row: number): void;
}

/** Where traces are taken from. */
export interface TakenFrom {
  readonly rows: RowStore;
  readonly observer?: TraceObserver | null;
  /** For traces that have none. Whoever keeps the number of one has to tell the table (`continues`): what comes later goes by it too. */
  readonly anchor: ClockAnchor;
  /** Where parts come from, and go back to. */
  readonly parts?: PartPool;
}

// Nearly always all of them: then nothing is copied.
const withSpans = (numbers: Int32Array, traces: TraceTable): Int32Array => {
  for (let i = 0; i < numbers.length; i++) {
    if (traces.get(numbers[i], TraceWord.spans) === 0) {
      return numbers.filter((number) => traces.get(number, TraceWord.spans) > 0);
    }
  }
  return numbers;
};

/** A part of each trace that has something, whose rows are in the store no longer. The caller empties or releases the numbers. */
export const takeTraces = (numbers: Int32Array, from: TakenFrom): TracePart[] => {
  const { traces } = from.rows;
  const waiting = withSpans(numbers, traces);
  if (waiting.length === 0) return [];
  const rows = from.rows.take(waiting);
  rows.anchor = from.anchor;
  // Its length is known: an array that grows leaves copies of itself.
  const parts = new Array<TracePart>(waiting.length);
  for (let i = 0; i < waiting.length; i++) {
    const number = waiting[i];
    if (traces.get(number, TraceWord.mounted) > 0) {
      for (const mounted of traces.mounts.get(number) as MountedBatch[]) copyMounted(rows, i, number, mounted, from);
    }
    parts[i] = (from.parts?.take() ?? new TracePart()).of(traces, number, rows, i);
  }
  return parts;
};

/** Where few of many parts were kept, give these rows of their own: they must not hold those of the others. */
export const compactParts = (kept: readonly TracePart[], taken: readonly TracePart[]): void => {
  const count = (parts: readonly TracePart[]): number => parts.reduce((sum, { spanCount }) => sum + spanCount, 0);
  if (count(kept) * 2 > count(taken)) return;
  const rows = new TakenRows(Int32Array.from(kept, ({ spanCount }) => spanCount));
  kept.forEach((part, i) => {
    part.moveTo(rows, i);
  });
};

// Top spans of the batch become children of the span it is mounted under.
const copyMounted = (
  rows: TakenRows,
  i: number,
  number: number,
  mounted: MountedBatch,
  { rows: { traces }, observer }: TakenFrom,
): void => {
  const links = mounted.alsoUnder?.map((place) => linkToPlace(traces.keyOf(number), place));
  for (const { chunk, row } of mounted.batch.first(mounted.count)) {
    const to = rows.copy(i, chunk, row);
    const last = to.count - 1;
    if (to.parentHis[last] === 0 && to.parentLos[last] === 0) {
      to.parentHis[last] = mounted.parentHi;
      to.parentLos[last] = mounted.parentLo;
      for (const link of links ?? []) to.entries.writeLink(link);
      to.heads[to.count] = to.entries.count;
    }
    observer?.observeMounted(traces, number, to, last);
  }
};
