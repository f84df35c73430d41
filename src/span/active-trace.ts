// ActiveTrace: what has finished of one trace and is not reported yet: spans and mounted local batches, with their
// bound. It makes no records and knows no reporter.
import { Counter, count, countMany } from '../local-span/counters.js';
import type { LocalBatch } from '../local-span/local-batch.js';
import { BYTES_PER_PROPERTY, bytesOfProperties, bytesOfValue } from '../local-span/value-bytes.js';
import type { PendingSpan } from './pending-span.js';
import type { Sampler } from './sampler.js';
import type { SpanContext } from './span-context.js';

// A Span object with its fields, and its place in the lists.
const BYTES_PER_SPAN = 320;
const BYTES_PER_EVENT = 64;
const BYTES_PER_LINK = 192;
const BYTES_PER_PARENT = 48;

// What a finished span holds, by estimate. Small, so that V8 inlines it; a span to which nothing was added costs four checks.
const bytesOfSpan = (span: PendingSpan): number =>
  span.propertyList === null && span.events === null && span.links === null && span.alsoUnder === null
    ? BYTES_PER_SPAN
    : BYTES_PER_SPAN + bytesAdded(span);

const bytesAdded = ({ propertyList, events, links, alsoUnder }: PendingSpan): number => {
  let bytes = alsoUnder === null ? 0 : alsoUnder.length * BYTES_PER_PARENT;
  if (propertyList !== null) {
    for (let i = 1; i < propertyList.length; i += 2) bytes += BYTES_PER_PROPERTY + bytesOfValue(propertyList[i]);
  }
  if (events !== null) for (const { properties } of events) bytes += BYTES_PER_EVENT + bytesOfProperties(properties);
  if (links !== null) for (const { properties } of links) bytes += BYTES_PER_LINK + bytesOfProperties(properties);
  return bytes;
};

/** A local batch under a span of this trace. `alsoUnder` are further parents in the same trace: they become links. */
export interface MountedBatch {
  readonly batch: LocalBatch;
  readonly parentHi: number;
  readonly parentLo: number;
  alsoUnder: { readonly parentHi: number; readonly parentLo: number }[] | null;
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

/** The collector above, as far as this room needs it: takes traces as they begin, end and grow late. No method may throw. */
export interface TraceSink {
  readonly sampler: Sampler;
  readonly limits: TraceLimits;
  /** A sampled root started. */
  opened(trace: ActiveTrace): void;
  /** The root ended: the trace may be reported. */
  ended(trace: ActiveTrace): void;
  /** The root was cancelled: nothing of the trace may be reported. */
  cancelled(trace: ActiveTrace): void;
  /** Spans were added to a trace of this sink, `bytes` by estimate. */
  grew(trace: ActiveTrace, spans: number, bytes: number): void;
}

export class ActiveTrace {
  state: TraceState = 'open';
  spans: PendingSpan[] = [];
  batches: MountedBatch[] = [];
  /** Spans accepted and not yet reported. */
  pending = 0;
  /** Spans that have a place in this trace over its whole life, from their start on; the root needs none. */
  admitted = 0;
  /** Spans that found no place. */
  dropped = 0;
  /** Estimated bytes of what is pending. */
  byteSize = 0;
  /** Parts of this trace handed to reporters so far. */
  reports = 0;
  /** True while it waits in the sink's ready queue. */
  isQueued = false;
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
  // Batches mounted by hand, also those reported already: a second record of one span id must never arise.
  private shared: WeakSet<LocalBatch> | null = null;
  /** Set when one request collects its own spans; then nothing goes to reporters. See `Span.rootWithCollector`. */
  collector: { release(): void } | null = null;

  constructor(
    readonly context: SpanContext,
    readonly sink: TraceSink,
  ) {}

  /** How many more local spans a line of this trace may record. */
  get room(): number {
    return this.state === 'discarded' ? 0 : Math.max(0, this.sink.limits.maxSpansPerTrace - this.admitted);
  }

  /**
   * A place for a span that starts; false when the trace is full. Given at the start and kept, because children end first:
   * at the end the places would be taken by children of a parent that gets none.
   */
  admit(): boolean {
    if (this.state === 'discarded') return true;
    if (this.admitted >= this.sink.limits.maxSpansPerTrace) {
      count(Counter.spansOverTraceCap);
      this.dropped++;
      return false;
    }
    this.admitted++;
    return true;
  }

  /** Reserves places for local spans that another span will name as its parent; returns the number granted. */
  reserve(n: number): number {
    const granted = this.state === 'discarded' ? n : Math.min(n, this.room);
    this.admitted += granted;
    return granted;
  }

  /** Accept a finished span that was admitted. */
  addSpan(span: PendingSpan, isPrimary: boolean): void {
    if (this.state === 'discarded') {
      count(Counter.spansOfDiscardedTraces);
      return;
    }
    this.spans.push(span);
    this.accept(1, isPrimary ? bytesOfSpan(span) : 0);
  }

  /** Accept a finished batch under a parent of this trace. Its first `reserved` spans have their places. */
  addBatch(batch: LocalBatch, parentHi: number, parentLo: number, reserved = 0): void {
    if (this.state === 'discarded') {
      countMany(Counter.spansOfDiscardedTraces, batch.count);
      return;
    }
    const kept = batch.first(reserved + this.room);
    if (kept.count < batch.count) {
      countMany(Counter.spansOverTraceCap, batch.count - kept.count);
      this.dropped += batch.count - kept.count;
    }
    if (kept.count === 0) return;
    this.admitted += kept.count - reserved;
    this.batches.push({ batch: kept, parentHi, parentLo, alsoUnder: null });
    this.accept(kept.count, kept.byteSize);
  }

  /** Mount a detached batch that may be here already: then the further parent becomes a link, not a second record. */
  addSharedBatch(batch: LocalBatch, parentHi: number, parentLo: number): void {
    this.shared ??= new WeakSet();
    if (!this.shared.has(batch)) {
      this.shared.add(batch);
      this.addBatch(batch, parentHi, parentLo);
      return;
    }
    const mounted = this.batches.find((one) => one.batch === batch);
    if (mounted === undefined) count(Counter.mountsAfterReport);
    else {
      const parent = { parentHi, parentLo };
      const isParent = (one: typeof parent): boolean => one.parentHi === parentHi && one.parentLo === parentLo;
      if (isParent(mounted) || mounted.alsoUnder?.some(isParent)) return;
      mounted.alsoUnder ??= [];
      if (mounted.alsoUnder.length >= this.sink.limits.maxLinksPerSpan) count(Counter.linksOverCap);
      else mounted.alsoUnder.push(parent);
    }
  }

  private accept(spans: number, bytes: number): void {
    this.pending += spans;
    this.byteSize += bytes;
    if (this.state === 'ended') countMany(Counter.spansLate, this.reports > 0 ? spans : 0);
    this.sink.grew(this, spans, bytes);
  }

  /** The root ended. */
  end(): void {
    if (this.state !== 'open') return;
    this.state = 'ended';
    this.sink.ended(this);
  }

  /** Nothing of this trace is to be reported: release what it holds and accept no more. */
  discard(): void {
    this.state = 'discarded';
    this.clear();
  }

  /** Forget what was pending, after it was taken or dropped. */
  clear(): void {
    this.spans = [];
    this.batches = [];
    this.pending = 0;
    this.byteSize = 0;
  }
}
