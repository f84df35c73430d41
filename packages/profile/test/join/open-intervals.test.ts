// The interval found open at a moment is the one that a search through all of them finds, whether they nest or not.
import { expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { type Interval, OpenIntervals } from '../../src/join/join-profile.js';

const isOpen = ({ beginNs, endNs }: Interval, ns: number): boolean => beginNs <= ns && ns < endNs;

const innermostOf = (intervals: readonly Interval[], ns: number): Interval | undefined =>
  intervals
    .filter((each) => isOpen(each, ns))
    .sort((a, b) => b.beginNs - a.beginNs || a.endNs - b.endNs)
    .at(0);

test('any intervals: the one that began last of those open', () => {
  const interval = fc.record({ beginNs: fc.nat(50), length: fc.nat(20) });
  fc.assert(
    fc.property(fc.array(interval, { minLength: 1, maxLength: 30 }), (drawn) => {
      const intervals = drawn.map(({ beginNs, length }) => ({ beginNs, endNs: beginNs + length }));
      const open = new OpenIntervals(intervals);
      for (let ns = -1; ns < 75; ns++) expect(open.innermost(ns)).toEqual(innermostOf(intervals, ns));
    }),
  );
});

test('nested intervals: all that are open, the innermost first', () => {
  /** Where the next one inside begins, behind the one before, and how long it is. */
  const steps = fc.array(fc.tuple(fc.nat(2), fc.nat(99)), { maxLength: 60, size: 'max' });
  fc.assert(
    fc.property(steps, (all) => {
      const drawn = [...all];
      const intervals: Interval[] = [];
      const split = (beginNs: number, endNs: number, depth: number): void => {
        intervals.push({ beginNs, endNs });
        for (let at = beginNs; depth > 0 && at < endNs - 2 && drawn.length > 0; ) {
          const [gap, length] = drawn.shift() as [number, number];
          const from = at + gap;
          const to = Math.min(endNs, from + 1 + (length % Math.ceil((endNs - beginNs) / 2)));
          if (from < to && to - from < endNs - beginNs) split(from, to, depth - 1);
          at = to + 1;
        }
      };
      split(0, 200, 5);
      const open = new OpenIntervals(intervals);
      for (let ns = 0; ns < 200; ns++) {
        const wanted = intervals.filter((each) => isOpen(each, ns)).map(({ beginNs, endNs }) => endNs - beginNs);
        const found = open.nest(ns)?.map(({ beginNs, endNs }) => endNs - beginNs);
        expect(found).toEqual(wanted.sort((a, b) => a - b));
      }
    }),
  );
});

test('intervals that overlap without nesting are told apart', () => {
  const open = new OpenIntervals([
    { beginNs: 0, endNs: 10 },
    { beginNs: 5, endNs: 15 },
    { beginNs: 20, endNs: 30 },
    { beginNs: 30, endNs: 40 },
  ]);
  expect(open.nest(3)).toBeUndefined();
  expect(open.nest(12)).toBeUndefined();
  expect(open.nest(17)).toEqual([]);
  expect(open.nest(30)).toEqual([{ beginNs: 30, endNs: 40 }]);
});

test('a hundred thousand side by side are searched in no time that grows with them', () => {
  const open = new OpenIntervals(Array.from({ length: 100_000 }, (_, i) => ({ beginNs: 2 * i, endNs: 2 * i + 1 })));
  for (let i = 0; i < 100_000; i++) {
    if (open.innermost(2 * i)?.beginNs !== 2 * i || open.innermost(2 * i + 1) !== undefined) expect.unreachable();
  }
});
