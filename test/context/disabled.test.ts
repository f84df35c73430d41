// SPANLINE_DISABLED as it is read when the library is loaded: what people write for "no" leaves it on.
import { afterEach, expect, test } from 'vitest';
import { type ProcessState, state } from '../../src/context/process-state.js';

const KEY = Symbol.for('spanline.state.1');
const holder = globalThis as { [key: symbol]: unknown };
const { SPANLINE_DISABLED } = process.env;
afterEach(() => {
  holder[KEY] = state;
  if (SPANLINE_DISABLED === undefined) delete process.env.SPANLINE_DISABLED;
  else process.env.SPANLINE_DISABLED = SPANLINE_DISABLED;
});

test.each([
  [undefined, true],
  ['', true],
  ['0', true],
  ['false', true],
  ['1', false],
  ['true', false],
  ['yes', false],
])('%j', async (value, isEnabled) => {
  delete holder[KEY];
  if (value === undefined) delete process.env.SPANLINE_DISABLED;
  else process.env.SPANLINE_DISABLED = value;
  // Loaded anew for each.
  const path = `../../src/context/process-state.js?disabled=${value}`;
  const loaded = (await import(path)) as { state: ProcessState };
  expect(loaded.state).not.toBe(state);
  expect(loaded.state.enabled).toBe(isEnabled);
});
