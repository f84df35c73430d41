// All that divisions of the spans of one process and one window have in common, made once. Must not be made for each span: it reads all of them.
import type { LaneRow } from '../lane/lane-row.js';
import type { TimedSpan, TimeWindow } from './timed-span.js';
import { Timeline } from './timeline.js';

/**
 * The spans and the lane of one process, ready to tell where the time of any of these spans went and who stalled the event loop.
 *
 * Make one when spans are looked at, not for each span: 500,000 spans take about a second. It keeps what it is given and must not be
 * used after that changes. Times of several processes must not meet in one: each has an event loop of its own.
 *
 * @example
 * ```ts
 * import { DivisionIndex, divide, formatDivision } from 'spanline/flight-recorder';
 * const ids = { traceId: 'a'.repeat(32), spanId: '1'.repeat(16), parentSpanId: '' };
 * const span = { ...ids, name: 'GET /cart', startUs: 0, endUs: 20_000, isSync: false };
 * const collection = { kind: 'gc', startUs: 1000, endUs: 4000, detail: 'scavenge', parts: [] } as const;
 * const index = new DivisionIndex([span], [collection], [{ fromUs: 0, toUs: 60_000 }]);
 * const division = divide(index, span);
 * console.assert(division !== undefined && formatDivision(division) === '20.0 ms = loop 3.0 (gc 3.0) + waiting 17.0');
 * ```
 */
export class DivisionIndex {
  /** @internal */
  readonly spans: readonly TimedSpan[];
  /** @internal */
  readonly lane: readonly LaneRow[];
  /** @internal */
  readonly timeline: Timeline;

  /**
   * `covered`: when the lane was kept. Outside of it a span that did not have the loop may have waited or not: that is unknown. None where
   * there is no lane.
   */
  constructor(spans: Iterable<TimedSpan>, lane: readonly LaneRow[] = [], covered: readonly TimeWindow[] = []) {
    this.spans = [...spans];
    this.lane = lane;
    this.timeline = new Timeline(this.spans, lane, covered);
  }
}
