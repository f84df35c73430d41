// Ticks become unix time without losing a nanosecond's order: monotone, digits in range, for any anchor.

import { expect, test } from 'vitest';
import { toUnixTime } from '../../src/record/row-view.js';
import fc from '../support/fast-check.js';
import { samples } from '../support/samples.js';

const anchors = fc.record({
  ticks: fc.double({ min: 0, max: 2 ** 52, noNaN: true }),
  unixSec: fc.integer({ min: 0, max: 4e9 }),
  unixNano: fc.integer({ min: 0, max: 999_999_999 }),
  nsPerTick: fc.constantFrom(1, 0.4, 1 / 2.6, 1 / 3, 41.666_666_666_666_664),
});

test('monotone and in range', () => {
  const apart = fc.double({ min: -(2 ** 45), max: 2 ** 45, noNaN: true });
  const step = fc.double({ min: 0, max: 2 ** 40, noNaN: true });
  fc.assert(
    fc.property(anchors, apart, step, (anchor, from, later) => {
      const a = toUnixTime(anchor.ticks + from, anchor);
      const b = toUnixTime(anchor.ticks + from + later, anchor);
      for (const { sec, nano } of [a, b]) {
        expect(Number.isInteger(sec) && Number.isInteger(nano)).toBe(true);
        expect(nano >= 0 && nano < 1e9, `${nano}`).toBe(true);
      }
      expect(a.sec < b.sec || (a.sec === b.sec && a.nano <= b.nano)).toBe(true);
    }),
    { numRuns: samples(500, 5000) },
  );
});

test('the anchor itself, and a second on either side', () => {
  const anchor = { ticks: 1000, unixSec: 100, unixNano: 5, nsPerTick: 1 };
  expect(toUnixTime(1000, anchor)).toEqual({ sec: 100, nano: 5 });
  expect(toUnixTime(1000 + 1e9, anchor)).toEqual({ sec: 101, nano: 5 });
  expect(toUnixTime(994, anchor)).toEqual({ sec: 99, nano: 999_999_999 });
});
