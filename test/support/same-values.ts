// Compares thousands of values in a tenth of the time that `toEqual` takes for them. It must agree with `toEqual`, which has the last word.
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';

/** What `expect(actual).toEqual(expected)` does. */
export const expectSame = (actual: unknown, expected: unknown): void => {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
};
