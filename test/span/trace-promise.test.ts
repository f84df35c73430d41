// tracePromise is a span until a promise settles; value and rejection pass through.
import { expect, test } from 'vitest';
import { Span, tracePromise } from '../../src/index.js';
import { recorder } from '../support/recorder.js';

test('success, failure, thenable', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const error = new RangeError('r');
  await span.run(async () => {
    expect(await tracePromise('ok', Promise.resolve(5), { kind: 'client', properties: { p: 1 } })).toBe(5);
    await expect(tracePromise('fails', Promise.reject(error))).rejects.toBe(error);
    // biome-ignore lint/suspicious/noThenProperty: a thenable is the point.
    const thenable = { then: (resolve: (value: number) => void) => resolve(6) } as PromiseLike<number>;
    expect(await tracePromise('thenable', thenable)).toBe(6);
    expect(Span.current()).toBe(span);
  });
  span.end();
  await collector.flush();
  expect(memory.tree()).toBe('root\n  ok\n  fails\n  thenable');
  expect(memory.find('ok')).toMatchObject({ kind: 'client', properties: { p: 1 }, status: { code: 'unset' } });
  expect(memory.find('fails')?.status).toEqual({ code: 'error', message: 'r' });
  expect(memory.find('fails')?.events[0].properties).toMatchObject({ 'exception.type': 'RangeError' });
});

test('without a parent it is the promise alone', async () => {
  expect(await tracePromise('a', Promise.resolve(5))).toBe(5);
  await expect(tracePromise('a', Promise.reject(new Error('x')))).rejects.toThrow('x');
});
