// A snapshot made of blocks, whether they are those of the ring or were read from a file. Rows become records when they are asked for, trace by
// trace. It must never change a block.
import { orderInSteps } from '../base/calls/slices.js';
import type { ClockAnchor } from '../clock/index.js';
import type { Resource } from '../collector/reporter.js';
import { recordOfRow } from '../collector/trace-part.js';
import { NO_PROPERTIES } from '../record/properties.js';
import { TraceIdentity } from '../record/record.js';
import { RowView, toUnixTime } from '../record/row-view.js';
import { Flag } from '../rows/row-chunk.js';
import { type Block, TRACE_WORDS, TraceBit } from './block.js';
import type { Snapshot, SnapshotReason, SnapshotSpan, SnapshotTrace } from './snapshot-types.js';
import type { TimelineRow } from './timeline/timeline-row.js';
import { TraceRows, traceIdAt } from './trace-rows.js';

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
  readonly #parts: SnapshotParts;
  readonly #blocks: readonly Block[];
  #rows: TraceRows | undefined;
  #spanCount: number | undefined;

  constructor(parts: SnapshotParts) {
    this.#parts = parts;
    this.#blocks = [...parts.blocks, ...parts.open];
  }

  /** @internal */
  get parts(): SnapshotParts {
    return this.#parts;
  }

  get reason(): SnapshotReason {
    return this.#parts.reason;
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

  get resource(): Resource {
    return this.#parts.resource;
  }

  get timeline(): readonly TimelineRow[] {
    return this.#parts.timeline;
  }

  get timelineFromUs(): number | undefined {
    return this.#parts.timelineFromUs;
  }

  get tornRows(): number {
    return this.#parts.tornRows;
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
