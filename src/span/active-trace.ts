// ActiveTrace: the handle of a trace, which its spans hold. It decides what it takes of what ends and writes rows to the store of its collector, under its
// number in the table of traces. It makes no records and has no reporter; nothing that waits for a report may refer to it.
//
// At the end the handle of a request that collects its own spans, which is the article's form of collecting.

import { state } from '../context/process-state.js';
import type { LocalBatch } from '../local-span/local-collector.js';
import { Counter, count, countMany } from '../rows/counters.js';
import { type EndedSpan, nameText, type PendingLink } from '../rows/property.js';
import { ERROR, ROW_BYTES, statusIn } from '../rows/row-chunk.js';
import type { RowStore } from '../rows/row-store.js';
import { internName } from '../rows/row-text.js';
import {
  type MountedSpans,
  TRACE_STRIDE,
  TraceBit,
  type TraceKey,
  type TraceTable,
  TraceWord,
} from '../rows/trace-table.js';
import type { Sampler } from './sampler.js';
import type { SpanContext } from './span-context.js';

/** A place under a span. */
export interface Place {
  readonly parentHi: number;
  readonly parentLo: number;
}

export const isSamePlace = (a: Place, b: Place): boolean => a.parentHi === b.parentHi && a.parentLo === b.parentLo;

/** A link to a further parent in the same trace. */
export const linkToPlace = (
  { w0, w1, w2, w3 }: Pick<TraceKey, 'w0' | 'w1' | 'w2' | 'w3'>,
  { parentHi, parentLo }: Place,
): PendingLink => ({
  ids: [w0, w1, w2, w3, parentHi, parentLo],
  traceState: '',
  properties: null,
  dropped: 0,
});

/** A local batch under a span of this trace. `alsoUnder` are further parents in the same trace: they become links. */
export interface MountedBatch extends Place, MountedSpans {
  readonly batch: LocalBatch;
  /** Of its spans those that found a place, which started first. */
  readonly count: number;
  alsoUnder: Place[] | null;
}

/** Bounds a sink sets for the traces it accepts. */
export interface TraceLimits {
  /** Spans kept of one trace, local spans included. */
  readonly maxSpansPerTrace: number;
  /** Properties, events and links kept of one cross-async span, each. */
  readonly maxPropertiesPerSpan: number;
  readonly maxEventsPerSpan: number;
  readonly maxLinksPerSpan: number;
}

/** Where traces go as they begin, end and grow late: in a collector the life of its traces, as far as this layer needs it. No method may throw. */
export interface TraceSink {
  readonly sampler: Sampler;
  readonly limits: TraceLimits;
  readonly rows: RowStore;
  /** The producer of its traces. */
  readonly resource?: unknown;
  /** The sink that it takes one trace for, which has the children that are started with the collector of that sink. */
  readonly of?: TraceSink;
  /** True: its traces are for observers, are reported to nobody, and go out as not sampled. */
  readonly reportsNothing?: boolean;
  /** True: roots that are not sampled are recorded too, for the observer; others get the flag that they are not sampled. */
  readonly recordsAll?: boolean;
  /** Holds the spans that have not ended. */
  readonly openSpans?: OpenSpans | null;
  /** A recorded root started. */
  opened(trace: ActiveTrace): void;
  /** The root ended: the trace may be reported. */
  ended(trace: ActiveTrace, root: EndedRoot): void;
  /** The root was cancelled: nothing more of the trace may be reported. */
  cancelled(trace: ActiveTrace): void;
  /** Spans were added to a trace of this sink, with their bytes; `state` is that of its number. */
  grew(trace: ActiveTrace, spans: number, bytes: number, state: number): void;
  /** What is left to a trace whose number was given away. */
  outcomeOf(trace: ActiveTrace): TraceOutcome;
  /** Such a trace has more, and a number again. */
  returned(trace: ActiveTrace): void;
}

/** The collector above, as far as roots name it. */
export interface RootCollector {
  readonly sampler: Sampler;
  /** @internal */
  readonly life: TraceSink;
}

/** The sink of roots that name none; the collector above is set there, so that nothing here imports it. */
export const defaultSink = (): TraceSink | undefined => (state.defaultCollector as RootCollector | undefined)?.life;

/** What becomes of more spans of a trace that has no number any more: the same as of those before, for the observer alone since it was dropped, or nothing. */
export type TraceOutcome = 'reported' | 'observed' | 'dropped';

/** Spans that have not ended, as far as a bound allows. No method may throw. */
export interface OpenSpans {
  /** Gives the place of a span that starts; -1 when there is none. */
  add(span: EndedRoot): number;
  /** It has ended. */
  remove(place: number, span: EndedRoot): void;
}

/** What is read of a span: of a root that has ended, or of one that is open. */
export interface EndedRoot extends Pick<EndedSpan, 'name' | 'begin'> {
  readonly endTicks: number;
}

/** The handle of a trace: what spans of it hold. What waits of the trace is in its table, under a number that is its own until it is reported after its end, or dropped. */
export class ActiveTrace {
  /** Its number in the table, which may change, and the serial number that it has there while the number is its own. */
  number: number;
  readonly serial: number;
  /** How many more spans find a place in this trace, counted from their start on; the root needs none. */
  spansLeft: number;
  /** Spans that found no place. */
  private refused = 0;
  /** Spans that ended with an error. */
  errors = 0;
  /** The root ended. */
  isEnded = false;
  /** A bound, `keep` or the shutdown has dropped it: what it gets is for the observer, or for nobody. */
  wasDropped = false;
  /** It accepts nothing any more. */
  private isOver = false;
  /** It has had spans: what comes when it has no number is not a first part. */
  private hadSpans = false;
  /** True: it is reported whatever `keep` decides. */
  mustReport = false;
  /** Chosen at the first use, and by the sink at the first report, so that an NTP step between two reports cannot tear the trace. */
  private ownAnchor: unknown = undefined;
  /** Ticks of the end of the root; 0 before. */
  endTicks = 0;
  /** Its producer. */
  readonly resource: unknown;
  /** Where its rows are. */
  readonly rows: RowStore;
  // Batches mounted by hand, also those reported already: a second record of one span id must never arise.
  private shared: WeakSet<LocalBatch> | null = null;
  private readonly traces: TraceTable;

  constructor(
    readonly context: SpanContext,
    readonly sink: TraceSink,
    /** True when the sampler or a trigger samples it. */
    public isChosen = true,
  ) {
    this.rows = sink.rows;
    this.resource = sink.resource;
    this.traces = this.rows.traces;
    this.number = this.traces.acquire(context, this.resource, isChosen ? TraceBit.sampled : 0);
    this.serial = this.traces.get(this.number, TraceWord.serial);
    this.spansLeft = sink.limits.maxSpansPerTrace;
  }

  /** True while what waits of it is under its number: until it is reported or dropped. */
  get hasNumber(): boolean {
    return this.traces.words[this.number * TRACE_STRIDE] === this.serial;
  }

  /** True while the root runs, and the trace is not dropped. */
  get isOpen(): boolean {
    return !this.isEnded && !this.isDiscarded;
  }

  /** Nothing more is accepted: cancelled, or dropped by a bound, `keep` or the shutdown. */
  get isDiscarded(): boolean {
    if (this.hasNumber) return false;
    if (!this.isOver && this.sink.outcomeOf(this) === 'dropped') this.isOver = true;
    return this.isOver;
  }

  /** False: recorded for the observer, and reported to nobody. */
  get isSampled(): boolean {
    if (this.hasNumber) return this.traces.has(this.number, TraceBit.sampled);
    return this.isChosen && !this.isOver && this.sink.outcomeOf(this) === 'reported';
  }

  /** It is reported, whatever was decided before. */
  choose(): void {
    this.isChosen = true;
    this.mustReport = true;
    if (this.hasNumber) this.traces.setBits(this.number, TraceBit.sampled | TraceBit.mustReport);
  }

  /** The blocks of the observer that may have rows of it, as numbers of the first and the last; undefined when none has. */
  get blocks(): readonly [number, number] | undefined {
    const { traces, number } = this;
    // Rows that were reported before were under another number.
    if (!this.hasNumber || traces.has(number, TraceBit.continuation)) return [0, Number.POSITIVE_INFINITY];
    const from = traces.get(number, TraceWord.heldFrom);
    return from < 0 ? undefined : [from, traces.get(number, TraceWord.heldTo)];
  }

  /** How its ticks become Unix time; undefined until that is chosen. */
  get anchor(): unknown {
    return this.hasNumber ? (this.traces.anchorOf(this.number) ?? this.ownAnchor) : this.ownAnchor;
  }
  set anchor(anchor: unknown) {
    this.ownAnchor = anchor;
    if (this.hasNumber) this.traces.setAnchor(this.number, anchor);
  }

  /**
   * A place for a span that starts; false when the trace is full. Given at the start and kept, because children end first:
   * at the end the places would be taken by children of a parent that gets none.
   */
  admit(counter: number = Counter.spansOverTraceCap): boolean {
    if (this.spansLeft > 0) {
      this.spansLeft--;
      return true;
    }
    if (this.isDiscarded) return true;
    count(counter);
    this.refuse(1);
    return false;
  }

  /** Write the row of a span that was admitted and has ended; `further` are links of this trace's row alone. */
  write(
    span: EndedSpan,
    parentHi: number,
    parentLo: number,
    flags: number,
    endTicks: number,
    further: readonly PendingLink[] | null,
  ): void {
    const name = internName(span.name);
    // Before anything is written: a name that is not a string may run code of the program, which may end further spans.
    const text = name === 0 ? nameText(span.name) : null;
    if (!this.hasNumber && !this.comeBack()) {
      count(Counter.spansOfDiscardedTraces);
      return;
    }
    const { rows } = this;
    const chunk = rows.chunk();
    let bytes = ROW_BYTES;
    if (text !== null || span.propertyList !== null || span.details !== null || further !== null) {
      bytes += chunk.entries.writeDetails(span, text, further);
    }
    chunk.add(span, parentHi, parentLo, this.number, name, flags, endTicks);
    const { journal } = rows;
    if (journal !== null) journal.added(chunk, chunk.count - 1, this.traces);
    if (statusIn(flags) === ERROR) this.errors++;
    this.accept(1, bytes);
  }

  /** Mount a detached batch that may be here already: then the further parent becomes a link, not a second record. */
  mount(batch: LocalBatch, parent: Place): void {
    this.shared ??= new WeakSet();
    if (!this.shared.has(batch)) {
      this.shared.add(batch);
      this.mountFirst(batch, parent);
      return;
    }
    const mounts = this.hasNumber ? (this.traces.mounts.get(this.number) as MountedBatch[] | undefined) : undefined;
    const mounted = mounts?.find((one) => one.batch === batch);
    if (mounted === undefined) count(Counter.mountsAfterReport);
    else {
      if (isSamePlace(mounted, parent) || mounted.alsoUnder?.some((one) => isSamePlace(one, parent))) return;
      mounted.alsoUnder ??= [];
      if (mounted.alsoUnder.length >= this.sink.limits.maxLinksPerSpan) count(Counter.linksOverCap);
      else mounted.alsoUnder.push(parent);
    }
  }

  /** The root ended. */
  end(root: EndedRoot): void {
    if (!this.isOpen) return;
    this.isEnded = true;
    this.endTicks = root.endTicks;
    this.sink.ended(this, root);
  }

  /** Drop this trace: release what it holds and accept no more. The observer sees what it has only if `isShown`. */
  discard(isShown = false): void {
    this.isOver = true;
    if (this.hasNumber) this.rows.drop(this.number, isShown);
  }

  private mountFirst(batch: LocalBatch, { parentHi, parentLo }: Place): void {
    if (this.isDiscarded) {
      countMany(Counter.spansOfDiscardedTraces, batch.count);
      return;
    }
    const accepted = Math.min(batch.count, this.spansLeft);
    this.spansLeft -= accepted;
    countMany(Counter.spansOverTraceCap, batch.count - accepted);
    this.refuse(batch.count - accepted);
    // A number is only for what has something: nobody would give it back.
    if (accepted === 0 || (!this.hasNumber && !this.comeBack())) return;
    const mounted: MountedBatch = { batch, count: accepted, parentHi, parentLo, alsoUnder: null };
    this.traces.mount(this.number, mounted);
    this.accept(accepted, batch.byteSize);
  }

  private refuse(spans: number): void {
    this.refused += spans;
    if (this.hasNumber) this.traces.set(this.number, TraceWord.refused, this.refused);
  }

  private accept(spans: number, bytes: number): void {
    this.hadSpans = true;
    const state = this.traces.grow(this.number, spans, bytes);
    if (this.isEnded) this.countLate(spans);
    this.sink.grew(this, spans, bytes, state);
  }

  private countLate(spans: number): void {
    const { traces, number } = this;
    if (traces.has(number, TraceBit.dropped) || !traces.has(number, TraceBit.continuation)) return;
    countMany(Counter.spansLate, spans);
  }

  // What it had, if anything, is reported or dropped, and it gets more. False: that is dropped too.
  private comeBack(): boolean {
    if (this.isDiscarded) return false;
    const { traces } = this;
    const outcome = this.sink.outcomeOf(this);
    // One that was evicted before it had anything begins now.
    let bits: number = this.hadSpans ? TraceBit.continuation : 0;
    if (outcome === 'observed') {
      // The table may forget it.
      this.wasDropped = true;
      bits |= TraceBit.dropped;
    } else if (this.isChosen) bits |= TraceBit.sampled;
    if (this.mustReport) bits |= TraceBit.mustReport;
    this.number = traces.acquire(this.context, this.resource, bits, this.serial);
    traces.set(this.number, TraceWord.refused, this.refused);
    this.sink.returned(this);
    return true;
  }
}

/** A record, which is of a layer above: the collector there says what one is. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging.
export interface CollectedRecord {}

/** Collects the spans of one trace; made by `Span.rootWithCollector`. */
export class TraceCollector<R = CollectedRecord> {
  private waiting: (() => void)[] = [];

  /** @internal */
  constructor(
    private readonly trace: ActiveTrace | null,
    private readonly toRecords: () => R[],
  ) {}

  /** @internal Of a root that does not record. */
  static empty(): TraceCollector {
    return new TraceCollector(null, () => []);
  }

  /** @internal The root ended or was discarded. */
  release(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  /**
   * The finished spans, root first, once the root has ended (waits for it). Spans that finish later are returned by the
   * next call; a cancelled trace gives an empty list.
   */
  async collect(): Promise<R[]> {
    if (this.trace === null) return [];
    if (this.trace.isOpen) await new Promise<void>((resolve) => this.waiting.push(resolve));
    // What is open at the end of this turn is handed over then.
    else await undefined;
    return this.toRecords();
  }
}
