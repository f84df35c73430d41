// TracePart: what is reported of one trace at one time: a range of rows that were taken. Records are made on demand, so that an
// encoder can work in slices and a reporter that needs none pays for none.
import type { ClockAnchor } from '../clock/index.js';
import { NO_PROPERTIES } from '../record/properties.js';
import { type SpanRecord, TraceIdentity, toProperties } from '../record/record.js';
import { RowView } from '../record/row-view.js';
import type { PropertyList } from '../rows/property.js';
import { Flag, type RowChunk } from '../rows/row-chunk.js';
import { type RowRange, TakenRows } from '../rows/taken-rows.js';
import { TRACE_STRIDE, TraceBit, type TraceTable, TraceWord } from '../rows/trace-table.js';
import { STATUS_CODES } from '../span/span-check.js';
import { recordOfRow } from './make-record.js';
import { ReportError, type Resource, type Trace } from './reporter.js';

// Points at one row after another, of which records are made.
const VIEW = new RowView({ properties: NO_PROPERTIES }, { name: '', version: '', properties: NO_PROPERTIES });

const ERROR = STATUS_CODES.indexOf('error');

export class TracePart implements Trace {
  readonly spanCount: number;
  byteSize: number;
  readonly isContinuation: boolean;
  private made: SpanRecord[] | null = null;
  // Order of start, the root first: rows come in the order of their end.
  private order: Uint32Array | null = null;
  private isDetached = false;
  // Rows that were taken, until they are released; and number of those who have not done so.
  private taken: TakenRows | null;
  private holders = 0;
  readonly hasRoot: boolean;

  /** Who produced it, and how ticks of its rows become Unix time. */
  readonly resource: Resource;
  readonly anchor: ClockAnchor;
  /** True: it is reported whatever `keep` says. */
  readonly mustReport: boolean;
  /** Of its trace, in the table that it was taken from. */
  readonly serial: number;
  // Of its trace id, most significant first, and what else its identity has, which is made for who asks.
  private readonly w0: number;
  private readonly w1: number;
  private readonly w2: number;
  private readonly w3: number;
  private readonly traceState: string;
  private readonly isRandom: boolean;
  private ownIdentity: TraceIdentity | null = null;

  /** Of rows that were taken of a trace, which is as it was while they waited. */
  constructor(
    traces: TraceTable,
    number: number,
    private range: RowRange,
  ) {
    const { words } = traces;
    const at = number * TRACE_STRIDE;
    const bits = words[at + TraceWord.bits];
    this.taken = range.rows;
    this.spanCount = range.count;
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
    this.traceState = traces.traceStates[number];
    this.resource = traces.resources[number] as Resource;
    this.anchor = traces.anchors[number] as ClockAnchor;
  }

  get traceId(): string {
    return this.identity.traceId;
  }

  get spans(): readonly SpanRecord[] {
    if (this.made === null) {
      this.order ??= orderOfStart(this.range);
      this.made = Array.from(this.order, (row) => this.recordAt(row));
    }
    return this.made;
  }

  spanAt(index: number): SpanRecord {
    if (this.made !== null) return this.made[index];
    this.order ??= orderOfStart(this.range);
    return this.recordAt(this.order[index]);
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
      if (((this.flagsAt(i) >> Flag.statusShift) & Flag.statusMask) === ERROR) return true;
    }
    return false;
  }

  /**
   * The i-th span through `view`, good until the next call: for encoders of the library, for which no record is made. In no order but
   * that the root comes first, and the same at every call.
   */
  viewAt(index: number, view: RowView): RowView {
    return this.show(index, view);
  }

  /** Where the i-th span is, in the order of {@link viewAt}: its chunk, and its row in that chunk. */
  chunkOf(index: number): RowChunk {
    const { rows, first } = this.range;
    return rows.chunkOf(first + index);
  }
  rowOf(index: number): number {
    const { rows, first } = this.range;
    return rows.rowOf(first + index);
  }

  /** Give the root, which is there, more properties. Before anybody holds the part. */
  addToRoot(more: PropertyList): void {
    const { rows, first } = this.range;
    this.byteSize += rows.extend(first, more);
    if (this.made !== null) this.made[0] = this.made[0].withProperties(toProperties(more));
  }

  /** Another one reads it, who says so when it is done. */
  hold(): void {
    this.holders++;
  }

  /** One that held it reads it no more. After the last one its rows are used for other spans, unless it has rows of its own. */
  release(): void {
    if (--this.holders > 0 || this.taken === null) return;
    if (this.range.rows === this.taken) this.range = RELEASED;
    this.taken.release();
    this.taken = null;
  }

  /** Its rows are left to the garbage collector: somebody may read them whom nobody knows of. */
  leave(): void {
    this.taken = null;
  }

  /** Take rows of its own, in their order: whoever keeps it must not hold what came in the same chunks. */
  detach(): void {
    if (this.isDetached) return;
    this.isDetached = true;
    this.moveTo(new TakenRows([this.spanCount]), 0);
  }

  /** Copy its rows to those of trace `i` there. */
  moveTo(rows: TakenRows, i: number): void {
    const { first, count } = this.range;
    for (let at = first; at < first + count; at++) {
      rows.copy(i, this.range.rows.chunkOf(at), this.range.rows.rowOf(at));
    }
    this.range = rows.rangeOf(i);
  }

  private get identity(): TraceIdentity {
    this.ownIdentity ??= new TraceIdentity(
      this.w0 >>> 0,
      this.w1 >>> 0,
      this.w2 >>> 0,
      this.w3 >>> 0,
      this.traceState,
      this.isRandom,
    );
    return this.ownIdentity;
  }

  private recordAt(at: number): SpanRecord {
    return recordOfRow(this.show(at, VIEW));
  }

  private show(at: number, view: RowView): RowView {
    return view.of(this.chunkOf(at), this.rowOf(at), this.identity, this.anchor);
  }

  private flagsAt(at: number): number {
    return this.chunkOf(at).flags[this.rowOf(at)];
  }
}

// Whoever reads on must not see other spans.
const RELEASED: RowRange = {
  get rows(): never {
    throw new ReportError(
      'ERR_SPANLINE_TRACE_RELEASED',
      'A trace was read after its report had settled by a reporter that says keepsNoTrace. Leave keepsNoTrace out, or read before.',
      { retryable: false },
    );
  },
  first: 0,
  count: 0,
};

// Rows by their start; of one tick the one whose id was drawn first.
const orderOfStart = ({ rows, first, count }: RowRange): Uint32Array => {
  const chunks: RowChunk[] = [];
  const at: number[] = [];
  for (let i = 0; i < count; i++) {
    chunks.push(rows.chunkOf(first + i));
    at.push(rows.rowOf(first + i));
  }
  const hasRoot = count > 0 && (chunks[0].flags[at[0]] & Flag.root) !== 0;
  const order = Uint32Array.from({ length: count }, (_, i) => i);
  order.subarray(hasRoot ? 1 : 0).sort((a, b) => {
    const ticks = chunks[a].begins[at[a]] - chunks[b].begins[at[b]];
    return ticks === 0 ? chunks[a].idLos[at[a]] - chunks[b].idLos[at[b]] : ticks;
  });
  return order;
};
