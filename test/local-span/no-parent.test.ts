// Without a recording parent a local span is one frozen no-op; a missing parent is counted, an unsampled one is not, and
// property callbacks do not run.
import { expect, test } from 'vitest';
import { LocalSpan, SpanContext, trace, traced } from '../../src/index.js';
import { counted, recorder } from '../support/recorder.js';

const forbidden = (): never => {
  throw new Error('a property callback ran');
};

const useAll = (): void => {
  const span = LocalSpan.start('a');
  expect(span).toBe(LocalSpan.start('b'));
  expect(Object.isFrozen(span)).toBe(true);
  expect(span.isRecording).toBe(false);
  span.addProperty('k', 1).addProperties(forbidden).addEvent('e').end();
  LocalSpan.addProperties(forbidden);
  expect(trace('t', () => 5)).toBe(5);
  expect(traced({ name: 'f', properties: forbidden }, (x: number) => x + 1)(1)).toBe(2);
};

test('no parent', async () => {
  expect(await counted(useAll)).toEqual({ localSpansWithoutParent: 5 });
});

test('an unsampled parent', async () => {
  const { root, tree } = recorder();
  const span = root('root', SpanContext.random({ sampled: false }));
  expect(await counted(() => span.run(useAll))).toEqual({});
  span.end();
  expect(await tree()).toBe('');
});
