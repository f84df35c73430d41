// A rejection nobody handles is reported by Node exactly as often with spans around as without: once, and never when it is handled.
import { expect, test } from 'vitest';
import { resultOf, runChild } from '../support/child.js';

test('unhandled rejections', async () => {
  const found = resultOf(await runChild('rejections'));
  for (const [name, list] of Object.entries(found)) expect([name, list]).toEqual([name, ['left']]);
  expect(Object.keys(found).length).toBe(9);
});
