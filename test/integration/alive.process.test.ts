// Nothing the library opened keeps a process alive: no timer, listener or call of a reporter that never comes back.
import { expect, test } from 'vitest';
import { resultOf, runChild } from '../support/child.js';

test('a process with everything left open ends by itself', async () => {
  const child = await runChild('alive');
  expect([child.code, child.signal, child.stderr]).toEqual([0, null, '']);
  // Timers that are not unref'ed would be listed.
  expect(resultOf(child).kept).toEqual([]);
});
