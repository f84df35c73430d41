// Memory is flat: after five million spans the heap is what it was after the first half million.
import { expect, test } from 'vitest';
import { resultOf, runChild } from '../support/child.js';

test('five million spans', async () => {
  const child = await runChild('memory', { args: ['5000000'], execArgv: ['--expose-gc'] });
  const { warm, end, recorded, reported } = resultOf(child) as Record<string, number>;
  expect(recorded).toBeGreaterThanOrEqual(5_000_000);
  expect(reported).toBe(recorded);
  // One byte kept of each span would be 4.5 MB.
  expect(end - warm).toBeLessThan(2 << 20);
});
