// The spans of a snapshot as the breakdown of time reads them. Must not keep their records.
import type { SpanRecord } from '../../record/record.js';
import type { Snapshot } from '../snapshot-types.js';
import { BreakdownIndex } from './breakdown-index.js';
import type { TimedSpan, TimeWindow } from './timed-span.js';

const timed = (span: SpanRecord): TimedSpan => ({
  traceId: span.traceId,
  spanId: span.spanId,
  parentSpanId: span.parentSpanId,
  name: span.name,
  startUs: span.startSec * 1e6 + span.startNano / 1000,
  endUs: span.endSec * 1e6 + span.endNano / 1000,
  isSync: span.isLocal,
});

/** All of them. */
export const timedSpansOf = (snapshot: Snapshot): TimedSpan[] =>
  [...snapshot.traces()].flatMap(({ spans }) => spans.map(({ record }) => timed(record)));

/** When its timeline was watched: not at all, or up to the moment at which it was taken. */
export const timelineWindowsOf = ({ timelineFromUs, takenUnixUs }: Snapshot): TimeWindow[] =>
  timelineFromUs === undefined ? [] : [{ fromUs: timelineFromUs, toUs: takenUnixUs }];

/**
 * What {@link timeBreakdown} and {@link stalls} ask, made of a snapshot: once for all its spans.
 *
 * @example
 * ```ts
 * import { configure, Span } from 'spanline';
 * import { timeBreakdown, breakdownIndexOf, formatBreakdown, snapshot } from 'spanline/flight-recorder';
 *
 * configure({ flightRecorder: {} });
 * Span.root('GET /query').end();
 *
 * const taken = snapshot();
 * const index = breakdownIndexOf(taken);
 * for (const { traceId, spans } of taken.traces()) {
 *   const breakdown = timeBreakdown(index, { traceId, spanId: spans[0].record.spanId });
 *   if (breakdown !== undefined) console.log(spans[0].record.name, formatBreakdown(breakdown));
 * }
 * ```
 */
export const breakdownIndexOf = (snapshot: Snapshot): BreakdownIndex =>
  new BreakdownIndex(timedSpansOf(snapshot), snapshot.timeline, timelineWindowsOf(snapshot));
