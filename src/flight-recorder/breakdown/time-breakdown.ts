// Where the time of one span went, by an index of a process or of a snapshot, whose records must not be kept. Must give each tick of the span to
// exactly one of the parts, and guess nothing: what cannot be known is unknown.

import type { SpanRecord } from '../../record/record.js';
import type { Snapshot } from '../snapshot-types.js';
import { BreakdownIndex } from './breakdown-index.js';
import { type SpanKey, TICKS_PER_US, type TimedSpan, toTicks, toUs } from './stretches.js';
import { Tally, type TimeBreakdown } from './tally.js';
import { partOf } from './timeline-layers.js';

/** Named at most. */
const NAMED = 3;

/**
 * Where the time of a span went; undefined when the index does not have it. It looks at what the loop did while the span was open and at
 * nothing else, so that some thousands of slow spans may be asked about.
 *
 * A span of another trace counts as other, and so does one of its own trace that is above or beside it: it had the loop. Where the timeline
 * names a span of its trace that is not there, its side cannot be known, and the time is unknown.
 *
 * @example
 * ```ts
 * import { BreakdownIndex, timeBreakdown } from 'spanline/flight-recorder';
 * const request = { traceId: 'a'.repeat(32), spanId: '1'.repeat(16), parentSpanId: '', name: 'GET /', startUs: 0, endUs: 9000, isSync: false };
 * const work = { ...request, spanId: '2'.repeat(16), parentSpanId: request.spanId, name: 'render', endUs: 2000, isSync: true };
 * const breakdown = timeBreakdown(new BreakdownIndex([request, work]), request);
 * console.assert(breakdown?.ownUs === 2000 && breakdown.unknownUs === 7000);
 * ```
 */
export const timeBreakdown = (index: BreakdownIndex, span: SpanKey): TimeBreakdown | undefined => {
  const { spans, loopOwners } = index;
  const { ancestry, stretches, owners } = loopOwners;
  const { parts } = owners;
  const place = ancestry.placeOf(span);
  if (place < 0) return undefined;
  const { traceId, startUs, endUs } = spans[place];
  const start = toTicks(startUs);
  const end = Math.max(start, toTicks(endUs));
  const { starts, ends, refs, count } = stretches;
  const tally = new Tally(owners, TICKS_PER_US);
  let own = 0;
  let unplaced = 0;
  let known = 0;
  for (let i = stretches.firstAfter(start); i < count && starts[i] < end; i++) {
    const owner = refs[i];
    const ticks = Math.min(end, ends[i]) - Math.max(start, starts[i]);
    // A span of no length lies within a stretch and takes nothing of it.
    if (ticks === 0) continue;
    known += ticks;
    const part = partOf(owner);
    if (owner >= 0 && ancestry.isWithin(owner, place)) own += ticks;
    else if (part >= 0 && parts[part].spanId !== '' && parts[part].traceId === traceId) unplaced += ticks;
    else tally.add(owner, ticks);
  }
  const { idle, short, pool, fullest } = tally.waits(NAMED);
  return {
    durationUs: toUs(end - start),
    ownUs: toUs(own),
    gcUs: toUs(tally.gc),
    othersUs: toUs(tally.holders),
    others: tally.longest(NAMED),
    untracedUs: toUs(tally.untraced),
    untracedFrames: tally.hottest(NAMED),
    shortUs: toUs(short),
    waitingUs: toUs(idle),
    poolUs: toUs(pool),
    poolWaits: fullest,
    unknownUs: toUs(tally.unknown + unplaced + end - start - known),
  };
};

const timed = (span: SpanRecord): TimedSpan => ({
  traceId: span.traceId,
  spanId: span.spanId,
  parentSpanId: span.parentSpanId,
  name: span.name,
  startUs: span.startSec * 1e6 + span.startNano / 1000,
  endUs: span.endSec * 1e6 + span.endNano / 1000,
  isSync: span.isLocal,
});

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
export const breakdownIndexOf = (snapshot: Snapshot): BreakdownIndex => {
  const { timeline, timelineFromUs, takenUnixUs } = snapshot;
  const spans = [...snapshot.traces()].flatMap((trace) => trace.spans.map(({ record }) => timed(record)));
  // Watched not at all, or up to the moment at which it was taken.
  const watched = timelineFromUs === undefined ? [] : [{ fromUs: timelineFromUs, toUs: takenUnixUs }];
  return new BreakdownIndex(spans, timeline, watched);
};
