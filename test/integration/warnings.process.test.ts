// In development mode a local span closed out of order is warned about once per call site; otherwise never.
import { expect, test } from 'vitest';
import { resultOf, runChild } from '../support/child.js';

test.each([
  ['development', ['first', 'second', 'acrossAwait']],
  ['production', []],
])('NODE_ENV=%s', async (mode, places) => {
  const result = resultOf(await runChild('warnings', { env: { NODE_ENV: mode } }));
  expect(result.places).toEqual(places);
  expect(result.warnings).toEqual(places.map(() => 'SPANLINE_LOCAL_SPAN_OUT_OF_ORDER'));
});
