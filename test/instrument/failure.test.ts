// What a call failed by has a type whatever was thrown, also what cannot be looked at, and never the text of a message.
import { expect, test } from 'vitest';
import { isThenable } from '../../src/base/calls/timers.js';
import { endingAfter, endingWith, isPromise } from '../../src/instrument/ending.js';
import { failureOf, failureType } from '../../src/instrument/failure.js';

class TimeoutError extends Error {}
class AbortError extends Error {}

const hostile = new Proxy(new Error('secret'), {
  get() {
    throw new Error('trap');
  },
});

test.each([
  ['a code', Object.assign(new Error('secret'), { code: 'ENOENT' }), 'ENOENT'],
  ['a code that is none', Object.assign(new RangeError('secret'), { code: 7 }), 'RangeError'],
  ['a class that names itself', new RangeError('secret'), 'RangeError'],
  ['a class that does not', new TimeoutError('secret'), 'TimeoutError'],
  ['a plain error', new Error('secret'), 'Error'],
  ['an error without a class', Object.assign(Object.create(null), { name: 'Error' }), 'Error'],
  ['a text', 'secret', '_OTHER'],
  ['a symbol', Symbol('secret'), '_OTHER'],
  ['nothing', undefined, '_OTHER'],
  ['what throws when it is read', hostile, '_OTHER'],
])('%s', (_, error, type) => {
  expect(failureType(error)).toBe(type);
  expect(failureOf(error)).toBe(error);
});

test('given up on purpose: by the name or the class of the error; a time that was up is a failure', () => {
  const named = Object.assign(new Error('secret'), { name: 'AbortError' });
  expect([failureOf(named), failureOf(new AbortError('secret'))]).toEqual([undefined, undefined]);
  const cause = Object.assign(new Error('secret'), { name: 'TimeoutError' });
  expect(failureOf(Object.assign(named, { cause }))).toBe(cause);
  expect(failureOf(Object.assign(new AbortError('secret'), { cause: hostile }))).toBe(undefined);
});

test('a rejection and a throw without a reason are failures, and stay as they are', async () => {
  const ends: unknown[] = [];
  const ended = (error: unknown): void => void ends.push(error);
  await expect(endingWith(Promise.reject(undefined), ended)).rejects.toBe(undefined);
  expect(() =>
    endingAfter(() => {
      throw undefined;
    }, ended),
  ).toThrow();
  expect(ends.map(failureType)).toEqual(['_OTHER', '_OTHER']);
  expect(ends).not.toContain(undefined);
});

test('a promise is one of Node or of a library, and nothing that begins when it is waited for', () => {
  class Own extends Promise<void> {}
  class Query {}
  const library = { Promise: class {} };
  const withThen = (one: object): object => Object.defineProperty(one, 'then', { value: () => {} });
  const promises = [Own.resolve(), withThen(new library.Promise())];
  const others = [withThen(new Query()), withThen({}), new library.Promise(), hostile, undefined];
  expect(promises.map(isPromise)).toEqual([true, true]);
  expect(others.some(isPromise)).toBe(false);
});

test('what throws when it is asked whether it is a promise is what work gave', () => {
  const ends: unknown[] = [];
  expect(isThenable(hostile)).toBe(false);
  const given = endingAfter(
    () => hostile,
    (error) => void ends.push(error),
  );
  expect(given === hostile).toBe(true);
  expect(ends).toEqual([undefined]);
});
