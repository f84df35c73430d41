// A breakdown agrees with one made by looking at every microsecond, for any spans and any timeline, and its parts add up to the span exactly.
import { describe, expect, test } from 'vitest';
import { BreakdownIndex } from '../../../src/flight-recorder/breakdown/breakdown-index.js';
import type { TimedSpan } from '../../../src/flight-recorder/breakdown/stretches.js';
import type { TimeBreakdown } from '../../../src/flight-recorder/breakdown/tally.js';
import { timeBreakdown } from '../../../src/flight-recorder/breakdown/time-breakdown.js';
import type { TimelinePart, TimelineRow } from '../../../src/flight-recorder/timeline/timeline-row.js';
import fc from '../../support/fast-check.js';
import { samples } from '../../support/samples.js';
import { sumOf } from './support/spans.js';
import { LENGTH, makeWorld, type World } from './support/world.js';

interface Counts {
  own: number;
  gc: number;
  untraced: number;
  short: number;
  waiting: number;
  pool: number;
  unknown: number;
  readonly others: Map<string, number>;
}

const isInner = (one: TimelinePart, other: TimelinePart): boolean =>
  one.startUs > other.startUs || (one.startUs === other.startUs && one.endUs <= other.endUs);

/** The innermost row of a kind: that which began last, then the shorter, then the later in the list. */
const rowAt = (timeline: readonly TimelineRow[], of: TimelineRow['kind'], at: number): TimelineRow | undefined =>
  timeline
    .filter(({ kind, startUs, endUs }) => kind === of && startUs <= at && at < endUs)
    .reduce<TimelineRow | undefined>((inner, row) => {
      const isNearer = inner === undefined || row.startUs > inner.startUs;
      return isNearer || (row.startUs === inner.startUs && row.endUs <= inner.endUs) ? row : inner;
    }, undefined);

/** Times come in quarters of a microsecond. */
const quarter = (us: number): number => Math.floor(us * 4) / 4;

/** By definition: one microsecond after another. */
const bruteForce = ({ spans, timeline, covered }: World, asked: TimedSpan): Counts => {
  /** Microseconds that nobody is known to have had, by short turns: all, and of the span by what was in the pool. */
  const unclaimed = new Map<TimelineRow, { all: number; readonly own: Map<string | undefined, number> }>();
  const find = (traceId: string, spanId: string) =>
    spans.find((span) => span.traceId === traceId && span.spanId === spanId);
  const isWithin = (span: TimedSpan | undefined, top: TimedSpan): boolean =>
    span !== undefined && (span === top || isWithin(find(span.traceId, span.parentSpanId), top));
  const counts: Counts = { own: 0, gc: 0, untraced: 0, short: 0, waiting: 0, pool: 0, unknown: 0, others: new Map() };
  const isAsked = (at: number): boolean => asked.startUs <= at && at < asked.endUs;
  for (let at = 0; at < LENGTH; at++) {
    const has = ({ startUs, endUs }: { startUs: number; endUs: number }) => startUs <= at && at < endUs;
    const busy = timeline.find((row) => row.kind === 'busy' && has(row));
    // The one that began last; of those that began at once, the shorter.
    const part = timeline
      .filter(({ kind }) => kind === 'busy' || kind === 'run')
      .sort((a, b) => Number(a.kind === 'run') - Number(b.kind === 'run'))
      .flatMap(({ parts }) => parts.filter(has))
      .reduce<TimelinePart | undefined>(
        (inner, one) => (inner === undefined || isInner(one, inner) ? one : inner),
        undefined,
      );
    const partSpan = part && find(part.traceId, part.spanId);
    const local = spans
      .filter((span) => span.isSync && has(span))
      .sort((a, b) => b.startUs - a.startUs)
      .at(0);
    const worker = local !== undefined && !(partSpan !== undefined && isWithin(partSpan, local)) ? local : part;
    const isIdle =
      worker === undefined && busy === undefined && covered.some(({ fromUs, toUs }) => fromUs <= at && at < toUs);
    const [turns, pool] = [rowAt(timeline, 'turns', at), rowAt(timeline, 'pool', at)?.detail];
    const isGc = timeline.some((row) => row.kind === 'gc' && has(row));
    if (isIdle && !isGc && turns !== undefined) {
      const times = unclaimed.get(turns) ?? { all: 0, own: new Map<string | undefined, number>() };
      unclaimed.set(turns, times);
      times.all++;
      if (isAsked(at)) times.own.set(pool, (times.own.get(pool) ?? 0) + 1);
    }
    if (!isAsked(at)) continue;
    if (isGc) counts.gc++;
    else if (worker !== undefined && worker.spanId === '') counts.untraced++;
    else if (worker !== undefined && isWithin(find(worker.traceId, worker.spanId), asked)) counts.own++;
    else if (worker !== undefined && worker.spanId === 'lost' && worker.traceId === asked.traceId) counts.unknown++;
    else if (worker !== undefined) {
      const key = `${worker.traceId} ${worker.name}`;
      counts.others.set(key, (counts.others.get(key) ?? 0) + 1);
    } else if (busy !== undefined) counts.unknown++;
    else if (isIdle) {
      counts.waiting++;
      if (pool !== undefined) counts.pool++;
    } else counts.unknown++;
  }
  for (const [{ idleUs = 0 }, { all, own }] of unclaimed) {
    for (const [pool, us] of own) {
      const work = quarter((us * Math.max(0, all - idleUs)) / all);
      counts.short += work;
      counts.waiting -= work;
      if (pool !== undefined) counts.pool -= work;
    }
  }
  return counts;
};

const countsOf = (breakdown: TimeBreakdown, named: Map<string, number>) => ({
  own: breakdown.ownUs,
  gc: breakdown.gcUs,
  untraced: breakdown.untracedUs,
  short: breakdown.shortUs,
  waiting: breakdown.waitingUs,
  pool: breakdown.poolUs,
  unknown: breakdown.unknownUs,
  others: breakdown.othersUs,
  // Of those that had it equally long, any.
  longest: breakdown.others.map(({ us }) => us),
  areNamed: breakdown.others.every(({ traceId, name, us }) => named.get(`${traceId} ${name}`) === us),
});

describe('timeBreakdown', () => {
  test('agrees with the count of every microsecond', () => {
    const seen = { own: 0, gc: 0, untraced: 0, short: 0, waiting: 0, pool: 0, unknown: 0, others: 0 };
    fc.assert(
      fc.property(fc.gen(), (choose) => {
        const world = makeWorld((limit) => choose(fc.nat, limit - 1));
        const index = new BreakdownIndex(world.spans, world.timeline, world.covered);
        for (const span of world.spans) {
          const breakdown = timeBreakdown(index, span) as TimeBreakdown;
          const { others, ...counts } = bruteForce(world, span);
          const all = [...others.values()].sort((a, b) => b - a);
          const expected = { ...counts, others: all.reduce((sum, us) => sum + us, 0) };
          const message = `${span.spanId} of ${JSON.stringify(world)}`;
          expect(countsOf(breakdown, others), message).toEqual({
            ...expected,
            longest: all.slice(0, 3),
            areNamed: true,
          });
          expect(sumOf(breakdown), message).toBe(breakdown.durationUs);
          for (const key of Object.keys(seen) as (keyof typeof seen)[]) seen[key] += expected[key];
        }
      }),
      { numRuns: samples(80, 400, 20_000) },
    );
    // A model that never meets a case proves nothing of it.
    for (const us of Object.values(seen)) expect(us).toBeGreaterThan(20);
  });
});
