// Spans in memory that are in no segment yet, answering as a segment would. It holds what it was given and an index of it, and is given
// bounded lists only.

import { getOrMake } from 'spanline/internal/base';
import type { ArchivedSpan } from 'spanline/internal/record';
import { isMeant } from './meant-spans.js';
import { spanMemory } from './rows/span-rows.js';
import { joinedExtent, type TraceExtent } from './segment/find-traces.js';
import type { SegmentSearch, TimeRange } from './segment/segment.js';
import { OperationList, type SegmentOperation } from './segment/segment-summary.js';
import { serviceOf } from './segment/span-tables.js';
import { eachOnce } from './shared-ids.js';
import { isInTime, type TraceSearch, type TraceSummary } from './trace-search.js';
import type { TraceId, TraceSource } from './trace-source.js';
import { rootFirst } from './trace-trees.js';
import { compare } from './values/fields.js';

/** What is known of a whole trace, whose spans are each there once. */
export const summaryOf = (spans: readonly ArchivedSpan[]): TraceSummary => {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  let head = spans[0];
  let { startUnixNs } = head;
  let endUnixNs = 0n;
  let errorCount = 0;
  let bytes = 0;
  let isComplete = true;
  for (const span of spans) {
    if (isBefore(span, head)) head = span;
    if (span.startUnixNs < startUnixNs) startUnixNs = span.startUnixNs;
    if (span.endUnixNs > endUnixNs) endUnixNs = span.endUnixNs;
    if (span.status.code === 'error') errorCount++;
    if (span.parentSpanId !== '' && !ids.has(span.parentSpanId)) isComplete = false;
    bytes += spanMemory(span);
  }
  // A clock that was set back may have a span end before it starts.
  if (endUnixNs < startUnixNs) endUnixNs = startUnixNs;
  return {
    traceId: head.traceId,
    name: head.name,
    service: serviceOf(head.resource),
    startUnixNs,
    durationNs: endUnixNs - startUnixNs,
    spanCount: spans.length,
    errorCount,
    bytes,
    isComplete: isComplete && head.parentSpanId === '',
  };
};

/** Whether a span rather than another gives its trace the name: roots first, then the earliest. */
const isBefore = (a: ArchivedSpan, b: ArchivedSpan): boolean => {
  if ((a.parentSpanId === '') !== (b.parentSpanId === '')) return a.parentSpanId === '';
  return a.startUnixNs < b.startUnixNs || (a.startUnixNs === b.startUnixNs && a.spanId < b.spanId);
};

/** Whether a trace meets the conditions of traces. */
export const meetsConditions = ({ startUnixNs, durationNs }: TraceSummary, search: TraceSearch): boolean =>
  isInTime({ startUnixNs, endUnixNs: startUnixNs + durationNs }, search) &&
  (search.minDurationNs === undefined || durationNs >= search.minDurationNs) &&
  (search.maxDurationNs === undefined || durationNs <= search.maxDurationNs);

/** The newest first; of one start by id, so that the order is always the same. */
export const newestFirst = (a: TraceSummary, b: TraceSummary): number =>
  compare(b.startUnixNs, a.startUnixNs) || compare(a.traceId, b.traceId);

/** A list of spans that grows. */
export class SpanList implements TraceSource {
  readonly #byTrace = new Map<string, ArchivedSpan[]>();
  /** How many of `spans` are in the index: it is made when somebody asks, not while spans come in. */
  #indexed = 0;
  #start = 0n;
  #end = 0n;

  constructor(protected readonly spans: ArchivedSpan[]) {}

  get isEmpty(): boolean {
    return this.spans.length === 0;
  }

  get startUnixNs(): bigint {
    this.index();
    return this.#start;
  }

  get endUnixNs(): bigint {
    this.index();
    return this.#end;
  }

  possible(ids: readonly TraceId[]): Promise<readonly string[]> {
    return this.present(ids);
  }

  async present(ids: readonly TraceId[]): Promise<readonly string[]> {
    this.index();
    return ids.flatMap(({ text }) => (this.#byTrace.has(text) ? [text] : []));
  }

  async traces(ids: readonly string[]): Promise<ReadonlyMap<string, readonly ArchivedSpan[]>> {
    this.index();
    const found = new Map<string, readonly ArchivedSpan[]>();
    for (const id of ids) {
      const spans = this.#byTrace.get(id);
      if (spans !== undefined) found.set(id, rootFirst(spans));
    }
    return found;
  }

  async extents(ids: readonly string[]): Promise<ReadonlyMap<string, TraceExtent>> {
    const extents = new Map<string, TraceExtent>();
    for (const [id, spans] of await this.traces(ids))
      extents.set(id, spans.reduce<TraceExtent>(joinedExtent, spans[0]));
    return extents;
  }

  async summaries(search: SegmentSearch): Promise<readonly TraceSummary[]> {
    this.index();
    const found: TraceSummary[] = [];
    const { startsFromUnixNs = 0n } = search;
    for (const all of this.#byTrace.values()) {
      if (startsFromUnixNs > 0n && all.some(({ startUnixNs }) => startUnixNs < startsFromUnixNs)) continue;
      if (!all.some((span) => isMeant(span, search))) continue;
      const spans = eachOnce(all);
      if (spans !== all && !spans.some((span) => isMeant(span, search))) continue;
      const summary = summaryOf(spans);
      if (meetsConditions(summary, search)) found.push(summary);
    }
    return found.sort(newestFirst).slice(0, search.limit);
  }

  async mayMean(): Promise<boolean> {
    this.index();
    return this.spans.length > 0;
  }

  async eachId(
    { startsFromUnixNs = 0n, ...range }: TimeRange,
    take: (ids: readonly string[]) => Promise<void>,
  ): Promise<void> {
    this.index();
    const ids: string[] = [];
    for (const [id, all] of this.#byTrace) {
      const summary = summaryOf(eachOnce(all));
      if (summary.startUnixNs >= startsFromUnixNs && meetsConditions(summary, range)) ids.push(id);
    }
    await take(ids);
  }

  async operations(): Promise<ReadonlyMap<string, readonly SegmentOperation[]>> {
    this.index();
    const list = new OperationList();
    for (const span of this.spans) list.add(serviceOf(span.resource), span);
    return list.finish().operations;
  }

  /** The same spans, and none that come later. */
  fixed(): SpanList {
    this.index();
    return new SpanList([...this.spans]);
  }

  /** All traces. */
  *scan(): Generator<readonly ArchivedSpan[]> {
    this.index();
    for (const spans of this.#byTrace.values()) yield rootFirst(spans);
  }

  /** Take in what came. */
  protected index(): void {
    for (; this.#indexed < this.spans.length; this.#indexed++) {
      const span = this.spans[this.#indexed];
      const { traceId, startUnixNs, endUnixNs } = span;
      getOrMake(this.#byTrace, traceId, () => []).push(span);
      if (this.#indexed === 0 || startUnixNs < this.#start) this.#start = startUnixNs;
      if (this.#indexed === 0 || startUnixNs > this.#end) this.#end = startUnixNs;
      if (endUnixNs > this.#end) this.#end = endUnixNs;
    }
  }
}
