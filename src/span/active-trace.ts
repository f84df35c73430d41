// ActiveTrace: a trace while it is recorded. It decides what it takes of what ends, writes rows to the store of its collector and knows
// how many wait there. It makes no records and knows no reporter.

import type { LocalBatch } from '../local-span/local-batch.js';
import { Counter, count, countMany } from '../rows/counters.js';
import { nameText, numberOfName } from '../rows/name-table.js';
import type { PropertyList } from '../rows/property.js';
import { Flag, NO_SLOT, ROW_BYTES } from '../rows/row-chunk.js';
import type { RowOwner, RowStore } from '../rows/row-store.js';
import { type EndedSpan, type PendingLink, writeDetails } from '../rows/span-details.js';
import type { Sampler } from './sampler.js';
import { STATUS_CODES } from './span-check.js';
import type { SpanContext } from './span-context.js';

/** On the root of a trace that `maxSpansPerTrace` has cut: how many spans were left out until it was reported. */
const DROPPED_SPANS = 'spanline.dropped_spans';

const ERROR = STATUS_CODES.indexOf('error');

/** What a trace with anything pending holds beside its rows: this object, its context, its place in lists. */
export const TRACE_BYTES = 512;

/** A place under a span. */
export interface Place {
  readonly parentHi: number;
  readonly parentLo: number;
}

export const isSamePlace = (a: Place, b: Place): boolean => a.parentHi === b.parentHi && a.parentLo === b.parentLo;

/** A link to a further parent in the same trace. */
export const linkToPlace = ({ w0, w1, w2, w3 }: SpanContext, { parentHi, parentLo }: Place): PendingLink => ({
  ids: [w0, w1, w2, w3, parentHi, parentLo],
  traceState: '',
  properties: null,
  dropped: 0,
});

/** A local batch under a span of this trace. `alsoUnder` are further parents in the same trace: they become links. */
export interface MountedBatch extends Place {
  readonly batch: LocalBatch;
  /** Number of its spans that found a place, those that started first. */
  readonly count: number;
  alsoUnder: Place[] | null;
}

/** `open`: the root runs. `ended`: it ended. `discarded`: cancelled, evicted or not kept; nothing more is accepted. */
export type TraceState = 'open' | 'ended' | 'discarded';

/** Bounds a sink sets for the traces it accepts. */
export interface TraceLimits {
  /** Spans kept of one trace, local spans included. */
  readonly maxSpansPerTrace: number;
  /** Properties, events and links kept of one cross-async span, each. */
  readonly maxPropertiesPerSpan: number;
  readonly maxEventsPerSpan: number;
  readonly maxLinksPerSpan: number;
}

/** The collector above, as far as this room needs it: takes traces as they begin, end and grow late. No method may throw. Users see a collector in it. */
export interface TraceSink {
  readonly sampler: Sampler;
  /** @internal */
  readonly limits: TraceLimits;
  /** @internal */
  readonly rows: RowStore;
  /** @internal Who produces its traces. */
  readonly resource?: unknown;
  /** @internal True: its traces are for those who watch them, are reported to nobody, and go out as not sampled. */
  readonly keepsNone?: boolean;
  /** @internal True: roots that are not sampled are recorded too, for who keeps all; others are told that they are not sampled. */
  readonly recordsAll?: boolean;
  /** @internal Holds the spans that have not ended. */
  readonly openSpans?: OpenSpans | null;
  /** @internal A recorded root started. */
  opened(trace: ActiveTrace): void;
  /** @internal The root ended: the trace may be reported. */
  ended(trace: ActiveTrace, root: EndedRoot): void;
  /** @internal The root was cancelled: nothing of the trace may be reported. */
  cancelled(trace: ActiveTrace): void;
  /** @internal Spans were added to a trace of this sink, with their bytes. */
  grew(trace: ActiveTrace, spans: number, bytes: number): void;
}

/** Spans that have not ended, as far as a bound allows. No method may throw. */
export interface OpenSpans {
  /** Gives the place of a span that starts; -1 when there is none. */
  add(span: EndedRoot): number;
  /** It has ended. */
  remove(place: number, span: EndedRoot): void;
}

/** Traces that wait for a report, and what they hold together. */
export interface TraceQueue {
  /** A queued trace got more. */
  grew(spans: number, bytes: number): void;
  /** Take one out that is queued here. */
  remove(trace: ActiveTrace): void;
}

/** What a sink is told of a root that has ended. */
export interface EndedRoot {
  readonly name: string;
  /** Ticks. */
  readonly begin: number;
  readonly endTicks: number;
}

export class ActiveTrace implements RowOwner {
  state: TraceState = 'open';
  slot = NO_SLOT;
  /** Spans accepted and not yet reported, and their bytes. */
  pending = 0;
  byteSize = 0;
  /** How many more spans find a place in this trace, counted from their start on; the root needs none. */
  room: number;
  /** Spans that found no place. */
  dropped = 0;
  mounts: MountedBatch[] | null = null;
  /** Parts of this trace handed to reporters so far. */
  reports = 0;
  /** False: recorded for who keeps all, and reported to nobody. */
  isSampled = true;
  /** True: it is reported whatever `keep` says. */
  mustReport = false;
  /** True: it was let go by a bound or by `keep`, and what it gets from then on is for who keeps all. */
  isLetGo = false;
  /** Spans that ended with an error. */
  errors = 0;
  /** Where it waits for a report; it must leave before anything of it is dropped. */
  queue: TraceQueue | null = null;
  /** Chosen by the sink at the first report and kept, so that an NTP step between two reports cannot tear the trace. */
  anchor: unknown = undefined;
  /** The record room's form of the trace id, made at the first report. */
  identity: unknown = undefined;
  /** Who produced it; set by the sink when the trace opens. */
  resource: unknown = undefined;
  // Open traces of a sink form a list in order of age.
  older: ActiveTrace | null = null;
  newer: ActiveTrace | null = null;
  isListed = false;
  /** Numbers of the first and the last block of the keeper that has rows of it; -1 while none has. */
  heldFrom = -1;
  heldTo = -1;
  // Batches mounted by hand, also those reported already: a second record of one span id must never arise.
  private shared: WeakSet<LocalBatch> | null = null;
  /** Set when one request collects its own spans; then nothing goes to reporters. See `Span.rootWithCollector`. */
  collector: { release(): void } | null = null;
  /** Where its rows are. */
  rows: RowStore;

  constructor(
    readonly context: SpanContext,
    readonly sink: TraceSink,
  ) {
    this.rows = sink.rows;
    this.room = sink.limits.maxSpansPerTrace;
  }

  get isDiscarded(): boolean {
    return this.state === 'discarded';
  }

  /** Rows of its own, without those of mounted batches. */
  get stored(): number {
    return this.mounts === null ? this.pending : this.mounts.reduce((sum, { count }) => sum - count, this.pending);
  }

  get rootProperties(): PropertyList | undefined {
    return this.dropped === 0 ? undefined : [DROPPED_SPANS, this.dropped];
  }

  /**
   * A place for a span that starts; false when the trace is full. Given at the start and kept, because children end first:
   * at the end the places would be taken by children of a parent that gets none.
   */
  admit(counter: number = Counter.spansOverTraceCap): boolean {
    if (this.state === 'discarded') return true;
    if (this.room > 0) {
      this.room--;
      return true;
    }
    count(counter);
    this.dropped++;
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
    const name = numberOfName(span.name);
    // Before anything is written: a name that is no string may run code of the program, which may end further spans.
    const text = name === 0 ? nameText(span.name) : null;
    if (this.state === 'discarded') {
      count(Counter.spansOfDiscardedTraces);
      return;
    }
    const chunk = this.rows.chunkFor(this);
    let bytes = ROW_BYTES;
    if (text !== null || span.propertyList !== null || span.details !== null || further !== null) {
      bytes += writeDetails(chunk.entries, span, text, further);
    }
    chunk.add(span, parentHi, parentLo, this.slot, name, flags, endTicks);
    const { journal } = this.rows;
    if (journal !== null) journal.added(chunk, chunk.count - 1, this);
    if (((flags >> Flag.statusShift) & Flag.statusMask) === ERROR) this.errors++;
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
    const mounted = this.mounts?.find((one) => one.batch === batch);
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
    if (this.state !== 'open') return;
    this.state = 'ended';
    this.sink.ended(this, root);
  }

  /** Nothing of this trace is to be reported: release what it holds and accept no more. `isKept`: who keeps all may see what it has. */
  discard(isKept = false): void {
    this.state = 'discarded';
    this.queue?.remove(this);
    this.forget(isKept);
  }

  /** Drop what is pending, and go on. */
  forget(isKept = false): void {
    this.rows.drop(this, isKept);
    this.taken();
  }

  /** What was pending is in other hands. */
  taken(): void {
    this.mounts = null;
    this.pending = 0;
    this.byteSize = 0;
  }

  private mountFirst(batch: LocalBatch, { parentHi, parentLo }: Place): void {
    if (this.state === 'discarded') {
      countMany(Counter.spansOfDiscardedTraces, batch.count);
      return;
    }
    const kept = Math.min(batch.count, this.room);
    this.room -= kept;
    countMany(Counter.spansOverTraceCap, batch.count - kept);
    this.dropped += batch.count - kept;
    if (kept === 0) return;
    this.mounts ??= [];
    this.mounts.push({ batch, count: kept, parentHi, parentLo, alsoUnder: null });
    this.accept(kept, batch.byteSize);
  }

  private accept(spans: number, bytes: number): void {
    const added = this.pending === 0 ? bytes + TRACE_BYTES : bytes;
    this.pending += spans;
    this.byteSize += added;
    if (this.state === 'ended' && this.reports > 0 && !this.isLetGo) countMany(Counter.spansLate, spans);
    this.sink.grew(this, spans, added);
  }
}
