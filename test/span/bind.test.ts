// bind and bindEmitter run callbacks under a span wherever they are called from, and change nothing else about them.
import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { bindEmitter, LocalSpan, Span } from '../../src/index.js';
import { recorder } from '../support/recorder.js';

test('a bound function keeps `this`, arguments, result and throw', async () => {
  const { root, tree } = recorder();
  const span = root('root');
  const bound = span.bind(function (this: { base: number }, x: number): number {
    LocalSpan.start('called').end();
    if (x < 0) throw new RangeError('negative');
    return this.base + x;
  });
  expect(bound.call({ base: 1 }, 2)).toBe(3);
  expect(() => bound.call({ base: 1 }, -1)).toThrow(RangeError);
  expect(Span.current()).toBeUndefined();
  span.end();
  expect(await tree()).toBe('root\n  called\n  called');
});

test('listeners run under the span, also when another task emits; off and once work', async () => {
  const { root, tree } = recorder();
  const [span, other] = [root('root'), root('other')];
  const emitter = new EventEmitter();
  const seen: unknown[] = [];
  const bound = bindEmitter(emitter, span);
  const off = bound.on('data', function (this: unknown, ...args: unknown[]) {
    LocalSpan.start('on').end();
    seen.push(this === emitter, ...args);
  } as (...args: unknown[]) => void);
  bound.once('data', () => LocalSpan.start('once').end());
  const offOnce = bound.once('data', () => seen.push('never'));
  offOnce();
  expect(emitter.listenerCount('data')).toBe(2);
  other.run(() => {
    emitter.emit('data', 1, 'a');
    emitter.emit('data', 2);
    off();
    emitter.emit('data', 3);
  });
  expect(emitter.listenerCount('data')).toBe(0);
  expect(seen).toEqual([true, 1, 'a', true, 2]);
  span.end();
  other.end();
  expect(await tree()).toBe('root\n  on\n  once\n  on\nother');
});

test('a listener that throws throws where it did', () => {
  const { root } = recorder();
  const emitter = new EventEmitter();
  bindEmitter(emitter, root('root')).on('x', () => {
    throw new Error('listener');
  });
  expect(() => emitter.emit('x')).toThrow('listener');
  expect(Span.current()).toBeUndefined();
});
