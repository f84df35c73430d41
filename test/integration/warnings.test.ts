// In development mode a local span closed out of order is warned about once per call site; otherwise never.
import { expect, test } from 'vitest';
import { resultOf, runChild } from '../support/child.js';

test.each([
  ['development', 2],
  ['production', 0],
])('NODE_ENV=%s', async (mode, warnings) => {
  const result = resultOf(await runChild('warnings', { env: { NODE_ENV: mode } }));
  expect(result.warnings).toEqual(Array(warnings).fill('SPANLINE_LOCAL_SPAN_OUT_OF_ORDER'));
});
