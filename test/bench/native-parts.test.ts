// A benchmark knows when it would measure other code than it says: a clock by Node-API, or plain AsyncLocalStorage where Node has frames.
import { expect, test } from 'vitest';

// Plain JavaScript without types.
const { lackOf } = await import(new URL('../../bench/lib/native-parts.mjs', import.meta.url).href);

const native = { clock: { source: 'tsc', path: 'fast', reasons: [] }, context: { way: 'frames', reason: '' } };

test('nothing lacks with a fast clock, and frames where Node has them', () => {
  expect(lackOf({ version: '24.21.0', ...native })).toBeUndefined();
  expect(lackOf({ version: '22.20.0', ...native, context: { way: 'als', reason: 'no frames' } })).toBeUndefined();
});

test('a slower clock and plain AsyncLocalStorage are named with their reasons', () => {
  const clock = { source: 'monotonic', path: 'js', reasons: ['no addon for ABI 137'] };
  const context = { way: 'als', reason: 'no access to frames' };
  expect(lackOf({ version: '24.21.0', clock, context })).toBe(
    'the native parts for Node 24.21.0 are not in use: its clock is monotonic by js (no addon for ABI 137), and its context is AsyncLocalStorage (no access to frames)',
  );
});
