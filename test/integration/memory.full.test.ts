// Memory is flat: after five million spans the heap is what it was after the first half million, and what was reported dies before it is old.
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

// Whatever holds a trace until the next collection of old objects costs a service its copy, its promotion and a larger young heap.
test.each(['keepsNoTrace', 'mayKeep', 'archive'])('what was reported dies young: %s', async (kind) => {
  const child = await runChild('die-young', { args: [kind], execArgv: ['--expose-gc'] });
  const { reported, bytesOfTrace } = resultOf(child) as Record<string, number>;
  expect(reported).toBe(60_000);
  // A trace alone has over 300.
  expect(bytesOfTrace).toBeLessThan(60);
});
