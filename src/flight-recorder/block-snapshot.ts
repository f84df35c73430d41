// A snapshot made of blocks, whether they are those of the ring or were read from a file. Rows become records when they are asked for, trace by
// trace. It must never change a block.
import type { ClockAnchor } from '../clock/index.js';
import { recordOfRow } from '../collector/make-record.js';
import type { Resource } from '../collector/reporter.js';
import { Flag } from '../local-span/row-chunk.js';
import { hex8 } from '../span/traceparent.js';
import { NO_PROPERTIES } from '../trace/properties.js';
import { TraceIdentity } from '../trace/record.js';
import { RowView } from '../trace/row-view.js';
import { toUnixTime } from '../trace/tick-time.js';
import { type Block, TRACE_WORDS, TraceBit } from './block.js';
import type { LaneRow } from './lane/lane-row.js';
import type { Snapshot, SnapshotReason, SnapshotSpan, SnapshotTrace } from './snapshot-types.js';

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
  readonly lane: readonly LaneRow[];
  readonly laneFromUs?: number | undefined;
  readonly tornRows: number;
  /** Trace ids that must not be shown. */
  readonly cancelled: ReadonlySet<string>;
}

// Rows of a block are fewer.
const PLACES = 1 << 16;

/** Read between two looks at the clock. */
const STEP_TRACES = 256;
const STEP_ROWS = 4096;

interface TraceRows {
  readonly identity: TraceIdentity;
  readonly places: number[];
  isSampled: boolean;
}

const VIEW = new RowView({ properties: NO_PROPERTIES }, { name: '', version: '', properties: NO_PROPERTIES });

export class BlockSnapshot implements Snapshot {
  readonly #parts: SnapshotParts;
  readonly #blocks: readonly Block[];
  readonly #byTrace = new Map<string, TraceRows>();
  readonly #indexing = this.#index();

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

  get heldMs(): number {
    const { blocks, taken } = this.#parts;
    return blocks.length === 0 ? 0 : Math.max(0, (this.#unixUs(taken) - this.#unixUs(blocks[0].firstEnd)) / 1000);
  }

  get spanCount(): number {
    return this.#blocks.reduce((sum, { size }) => sum + size.rows, 0);
  }

  get resource(): Resource {
    return this.#parts.resource;
  }

  get lane(): readonly LaneRow[] {
    return this.#parts.lane;
  }

  get laneFromUs(): number | undefined {
    return this.#parts.laneFromUs;
  }

  get tornRows(): number {
    return this.#parts.tornRows;
  }

  /** For a service, whose event loop must not stand still: a step is some hundred microseconds. True when more is to be done before `traces()`. */
  prepareStep(): boolean {
    return this.#indexing.next().done !== true;
  }

  *traces(): Iterable<SnapshotTrace> {
    while (this.prepareStep());
    for (const [traceId, rows] of this.#byTrace) yield this.#traceOf(traceId, rows);
  }

  *#index(): Generator<undefined> {
    for (const [number, { traces, chunk }] of this.#blocks.entries()) {
      const rowsOf: (TraceRows | undefined)[] = [];
      for (let at = 0; at < traces.length; at += TRACE_WORDS) {
        rowsOf.push(this.#rowsOf(traces, at, number));
        if (rowsOf.length % STEP_TRACES === 0) yield;
      }
      for (let row = 0; row < chunk.count; row++) {
        rowsOf[chunk.slots[row]]?.places.push(number * PLACES + row);
        if (row % STEP_ROWS === 0) yield;
      }
    }
  }

  #rowsOf(traces: Int32Array, at: number, number: number): TraceRows | undefined {
    const words = Array.from(traces.subarray(at, at + 4), (word) => word >>> 0);
    const bits = traces[at + 4];
    const [w0, w1, w2, w3] = words;
    const key = words.map(hex8).join('');
    if (this.#parts.cancelled.has(key)) return undefined;
    let rows = this.#byTrace.get(key);
    if (rows === undefined) {
      const traceState = traces[at + 5] === 0 ? '' : this.#blocks[number].meta.traceStates[traces[at + 5]];
      const identity = new TraceIdentity(w0, w1, w2, w3, traceState, (bits & TraceBit.random) !== 0);
      rows = { identity, places: [], isSampled: false };
      this.#byTrace.set(key, rows);
    }
    // A trigger may have decided so after its first spans.
    if ((bits & TraceBit.sampled) !== 0) rows.isSampled = true;
    return rows;
  }

  #traceOf(traceId: string, { identity, places, isSampled }: TraceRows): SnapshotTrace {
    const { anchor, blocks } = this.#parts;
    const isRoot = (place: number): boolean => {
      const { chunk } = this.#blocks[Math.floor(place / PLACES)];
      return (chunk.flags[place % PLACES] & Flag.root) !== 0;
    };
    const begin = (place: number): number => this.#blocks[Math.floor(place / PLACES)].chunk.begins[place % PLACES];
    const order = places.toSorted((a, b) => Number(isRoot(b)) - Number(isRoot(a)) || begin(a) - begin(b));
    const spans = order.map((place): SnapshotSpan => {
      const number = Math.floor(place / PLACES);
      const record = recordOfRow(VIEW.of(this.#blocks[number].chunk, place % PLACES, identity, anchor));
      return { record, isOpen: number >= blocks.length };
    });
    return { traceId, spans, isSampled };
  }

  #unixUs(ticks: number): number {
    const { sec, nano } = toUnixTime(ticks, this.#parts.anchor);
    return sec * 1e6 + nano / 1000;
  }
}
