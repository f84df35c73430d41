// Further parents of a span: it serves several at once, in one trace or in many. In each trace it has a row under its first parent there; further parents in
// that trace are links of that row. Made for the few spans that have some; the usual span pays for a null.
import type { LocalBatch } from '../local-span/local-collector.js';
import { LocalSpan, type SpanQueue } from '../local-span/local-span.js';
import { Counter } from '../rows/counters.js';
import type { EndedSpan, PendingLink } from '../rows/property.js';
import { type ActiveTrace, isSamePlace, linkToPlace, type Place } from './active-trace.js';

/** A place under a span of a trace. */
interface PlaceInTrace extends Place {
  readonly trace: ActiveTrace;
}

export class FurtherParents {
  /** First parents in further traces: a row there. */
  readonly rows: PlaceInTrace[] = [];
  /** Parents in a trace that the span has a row in: a link of that row. */
  readonly links: PlaceInTrace[] = [];

  /** The place of the row in a trace, if it is one of these. */
  rowIn(trace: ActiveTrace): PlaceInTrace | undefined {
    return this.rows.find((one) => one.trace === trace);
  }

  /** True when the span has a link to this parent. */
  hasLink(trace: ActiveTrace, place: Place): boolean {
    return this.links.some((one) => one.trace === trace && isSamePlace(one, place));
  }

  /** The links of the row in a trace; null without one. */
  linksIn(trace: ActiveTrace): PendingLink[] | null {
    if (this.links.length === 0) return null;
    return this.links.filter((one) => one.trace === trace).map((one) => linkToPlace(trace.context, one));
  }

  /** Write the rows of the span, which has ended, in further traces. */
  write(span: EndedSpan, flags: number, endTicks: number): void {
    for (const { trace, parentHi, parentLo } of this.rows) {
      trace.write(span, parentHi, parentLo, flags, endTicks, this.linksIn(trace));
    }
  }

  mount(batch: LocalBatch, place: Place): void {
    for (const { trace } of this.rows) trace.mount(batch, place);
  }

  /** A local span in those of `first` and the further traces that have room. Where there is none, what starts below it finds none either. */
  startLocal(first: ActiveTrace, queue: SpanQueue, name: string, outer: LocalSpan | null): LocalSpan | null {
    const traces = [first, ...this.rows.map(({ trace }) => trace)];
    const admitted = traces.filter((trace) => trace.admit(Counter.localSpansOverCap));
    if (admitted.length === 0) return null;
    const span = new LocalSpan(queue, name, outer);
    span.traces = admitted;
    return span;
  }

  /** A further trace that still takes what ends. */
  get recordingTrace(): ActiveTrace | null {
    return this.rows.find(({ trace }) => !trace.isDiscarded)?.trace ?? null;
  }
}
