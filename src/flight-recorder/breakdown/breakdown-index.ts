// All that breakdowns of the spans of one process and one window have in common, made once. Must not be made for each span: it reads all of them.
import type { TimelineRow } from '../timeline/timeline-row.js';
import { LoopOwners } from './loop-owners.js';
import type { TimedSpan, TimeWindow } from './timed-span.js';

/**
 * The spans and the timeline of one process, ready for the breakdown of the time of any of these spans and for stalls of the event loop.
 *
 * Make one when spans are looked at, not for each span: 500,000 spans take about a second. It keeps what it is given and must not be
 * used after that changes. Times of several processes must not meet in one: each has an event loop of its own.
 *
 * @example
 * ```ts
 * import { BreakdownIndex, timeBreakdown, formatBreakdown } from 'spanline/flight-recorder';
 * const ids = { traceId: 'a'.repeat(32), spanId: '1'.repeat(16), parentSpanId: '' };
 * const span = { ...ids, name: 'GET /cart', startUs: 0, endUs: 20_000, isSync: false };
 * const collection = { kind: 'gc', startUs: 1000, endUs: 4000, detail: 'scavenge', parts: [] } as const;
 * const index = new BreakdownIndex([span], [collection], [{ fromUs: 0, toUs: 60_000 }]);
 * const breakdown = timeBreakdown(index, span);
 * console.assert(breakdown !== undefined && formatBreakdown(breakdown) === '20.0 ms = loop 3.0 (gc 3.0) + waiting 17.0');
 * ```
 */
export class BreakdownIndex {
  /** @internal */
  readonly spans: readonly TimedSpan[];
  /** @internal */
  readonly timeline: readonly TimelineRow[];
  /** @internal */
  readonly loopOwners: LoopOwners;

  /**
   * `covered`: when the timeline was kept. Outside of it a span that did not have the loop may have waited or not: that is unknown. None where
   * there is no timeline.
   */
  constructor(spans: Iterable<TimedSpan>, timeline: readonly TimelineRow[] = [], covered: readonly TimeWindow[] = []) {
    this.spans = [...spans];
    this.timeline = timeline;
    this.loopOwners = new LoopOwners(this.spans, timeline, covered);
  }
}
