// Where the time of one span went. Must give each tick of the span to exactly one of the parts, and guess nothing: what cannot be known is unknown.
import type { TimeBreakdown } from './breakdown.js';
import type { BreakdownIndex } from './breakdown-index.js';
import { Tally } from './tally.js';
import { type SpanKey, TICKS_PER_US, toTicks, toUs } from './timed-span.js';
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
