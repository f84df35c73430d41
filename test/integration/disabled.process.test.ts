// One switch, option or SPANLINE_DISABLED, turns the whole library into frozen no-ops: nothing is recorded, counted or
// called back, results stay the same; the option turns it on again.
import { expect, test } from 'vitest';
import { resultOf, runChild } from '../support/child.js';
import { sampleOf } from '../support/samples.js';

const OFF = [
  ['the option', { args: ['option'] }],
  ['SPANLINE_DISABLED=1', { env: { SPANLINE_DISABLED: '1' } }],
  ['SPANLINE_DISABLED=true', { env: { SPANLINE_DISABLED: 'true' } }],
] as const;

test.each(sampleOf(OFF, 2, OFF.length))('%s', async (_, options) => {
  const result = resultOf(await runChild('disabled', options));
  expect(result.off).toEqual({ results: [1, 2, 3, [4], 5, 0, 0, true], reported: 0, callbacks: 0, counted: 0 });
  expect(result.onReported).toBeGreaterThan(5);
  expect(result.onCallbacks).toBeGreaterThan(5);
});

test.each(sampleOf(['0', 'false', ''], 1, 3))('SPANLINE_DISABLED=%s does not', async (value) => {
  const result = resultOf(await runChild('disabled', { env: { SPANLINE_DISABLED: value } }));
  expect((result.off as { reported: number }).reported).toBeGreaterThan(5);
});
