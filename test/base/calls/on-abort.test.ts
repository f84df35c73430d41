// Calls that share a signal are no leak: Node warns of none of them, and none leaves a listener.
import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { onAbort, sleep, timers, unlessAborted } from '../../../src/base/calls/timers.js';

const AT_ONCE = 50;

test('fifty calls at once on one signal', async () => {
  const warnings: string[] = [];
  const hear = ({ message }: Error): void => void warnings.push(message);
  process.on('warning', hear);
  const { signal } = new AbortController();
  const calls = Array.from({ length: AT_ONCE }, (_, i) =>
    i % 2 === 0 ? sleep(1, signal) : unlessAborted(signal, new Promise((resolve) => timers.setTimeout(resolve, 1))),
  );
  expect(getEventListeners(signal, 'abort')).toHaveLength(AT_ONCE);
  await Promise.all(calls);
  // Warnings come a turn later.
  await new Promise(timers.setImmediate);
  process.off('warning', hear);
  expect([warnings, getEventListeners(signal, 'abort')]).toEqual([[], []]);
});

test('a listener is called once, and not when it was taken away', () => {
  const controller = new AbortController();
  const heard: string[] = [];
  onAbort(controller.signal, () => heard.push('kept'));
  onAbort(controller.signal, () => heard.push('taken away'))();
  controller.abort();
  expect(heard).toEqual(['kept']);
});
