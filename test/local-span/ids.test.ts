// Span ids of one thread never come twice, and have an upper half that tells them from those of another process.
import { expect, test } from 'vitest';
import { reserveSpanIds, spanIdPrefix } from '../../src/local-span/local-span.js';

test('300,000 ids are all different', () => {
  const ids = new Set<number>();
  for (let i = 0; i < 300_000; i++) {
    const low = reserveSpanIds(1);
    // Exact: 53 bits of the 63 are enough to tell two of these apart.
    ids.add((spanIdPrefix() % 2 ** 21) * 2 ** 32 + low);
  }
  expect(ids.size).toBe(300_000);
});

test('neither half is ever zero, which would be no id, and a counter that has run out begins anew with another upper half', () => {
  const first = reserveSpanIds(1);
  const prefix = spanIdPrefix();
  expect([Number.isInteger(prefix), prefix !== 0, first > 0]).toEqual([true, true, true]);
  reserveSpanIds(2 ** 31 - 1 - reserveSpanIds(1));
  // Two were left; three do not fit.
  const next = reserveSpanIds(3);
  expect(next).toBe(1);
  expect([spanIdPrefix() !== 0, spanIdPrefix() !== prefix]).toEqual([true, true]);
  expect(reserveSpanIds(1)).toBe(4);
});
