// The first span that a process makes current stays with the function that made it, where Node follows contexts only once they are used.
import { expect, test } from 'vitest';
import { resultOf, runChild } from '../support/child.js';

test.each(['', 'als'])(
  'what calls the first function with a current span has none (SPANLINE_CONTEXT "%s")',
  async (way) => {
    const env = { SPANLINE_CONTEXT: way };
    expect(resultOf(await runChild('first-scope', { env }))).toEqual({ inside: 'job', after: 'none' });
  },
);
