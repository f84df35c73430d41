// The breakdown of a root by its own local spans and the timeline is that by an index of its spans, and its parts add up to it exactly.
import { expect, test } from 'vitest';
import { BreakdownIndex } from '../../../src/flight-recorder/breakdown/breakdown-index.js';
import { innermost, type TimedSpan } from '../../../src/flight-recorder/breakdown/stretches.js';
import type { TimeBreakdown } from '../../../src/flight-recorder/breakdown/tally.js';
import { timeBreakdown } from '../../../src/flight-recorder/breakdown/time-breakdown.js';
import { TimelineLayers } from '../../../src/flight-recorder/breakdown/timeline-layers.js';
import { OWN, rootBreakdown } from '../../../src/flight-recorder/root-times.js';
import fc from '../../support/fast-check.js';
import { samples } from '../../support/samples.js';
import { makeWorld, type World } from './support/world.js';

const toNs = (us: number): number => us * 1000;

/** The span and all below it. */
const within = ({ spans }: World, root: TimedSpan): TimedSpan[] => {
  const kept = new Set([root.spanId]);
  // Parents come before their children.
  return spans.filter((span) => {
    if (kept.has(span.parentSpanId)) kept.add(span.spanId);
    return kept.has(span.spanId);
  });
};

const breakdownOf = (own: readonly TimedSpan[], root: TimedSpan, { timeline, covered }: World) =>
  rootBreakdown(
    {
      start: toNs(root.startUs),
      end: toNs(root.endUs),
      local: innermost(
        own
          .filter(({ isSync }) => isSync)
          .map(({ startUs, endUs }) => ({ start: toNs(startUs), end: toNs(endUs), ref: OWN, order: 0 })),
      ),
      isSameTrace: (traceId) => traceId === root.traceId,
      has: (spanId) => own.some((span) => span.spanId === spanId),
    },
    new TimelineLayers(timeline, covered, toNs),
  );

test('agrees with the breakdown by an index of its spans', () => {
  const seen = { own: 0, gc: 0, others: 0, untraced: 0, short: 0, waiting: 0, pool: 0, unknown: 0 };
  fc.assert(
    fc.property(fc.gen(), (choose) => {
      const world = makeWorld((limit) => choose(fc.nat, limit - 1));
      for (const root of world.spans) {
        const own = within(world, root);
        const expected = timeBreakdown(new BreakdownIndex(own, world.timeline, world.covered), root) as TimeBreakdown;
        const { holders, frames, poolWaits, ...times } = breakdownOf(own, root, world);
        expect(times, `${root.spanId} of ${JSON.stringify(world)}`).toEqual({
          own: toNs(expected.ownUs),
          gc: toNs(expected.gcUs),
          others: toNs(expected.othersUs),
          untraced: toNs(expected.untracedUs),
          short: toNs(expected.shortUs),
          waiting: toNs(expected.waitingUs),
          pool: toNs(expected.poolUs),
          unknown: toNs(expected.unknownUs),
        });
        expect([holders, frames, poolWaits]).toEqual([expected.others, expected.untracedFrames, expected.poolWaits]);
        for (const key of Object.keys(seen) as (keyof typeof seen)[]) seen[key] += times[key];
        // A part of `waiting`.
        const sum = Object.values(times).reduce((total, ns) => total + ns, -times.pool);
        expect(sum).toBe(toNs(root.endUs - root.startUs));
      }
    }),
    { numRuns: samples(100, 1000, 20_000) },
  );
  // A case that never comes proves nothing.
  for (const ns of Object.values(seen)) expect(ns).toBeGreaterThan(20_000);
});
