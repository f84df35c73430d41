// A copy for a library to read is as the object that a program has handed over, which stays as it was, whatever it is made of.
import { expect, test } from 'vitest';
import { copyWith } from '../../src/instrument/copy-with.js';

class Message {
  readonly #text: string;
  readonly topic = 'a';
  constructor(text: string) {
    this.#text = text;
  }
  get text(): string {
    return this.#text;
  }
  method(): unknown {
    return this.topic;
  }
}
class Mail extends Message {
  get length(): number {
    return this.text.length;
  }
}

test('of a plain object, also one that is frozen or has no prototype', () => {
  const key = Symbol('key');
  const given = Object.freeze({ a: 1, b: Object.freeze({}), [key]: 2 });
  const copy = copyWith(given, { a: 3, c: 4 });
  expect(copy).toEqual({ a: 3, b: {}, c: 4, [key]: 2 });
  expect(copy.b).toBe(given.b);
  expect(given).toEqual({ a: 1, b: {}, [key]: 2 });
  const bare = copyWith(Object.assign(Object.create(null), { a: 1 }), { b: 2 });
  expect(Object.getPrototypeOf(bare)).toBe(null);
  expect({ ...bare }).toEqual({ a: 1, b: 2 });
});

test('of an instance: what its class keeps private is read of it', () => {
  const given = new Mail('text');
  const copy = copyWith(given, { topic: 'b' });
  expect(copy).toBeInstanceOf(Mail);
  expect([copy.topic, copy.text, copy.length, copy.method()]).toEqual(['b', 'text', 4, 'b']);
  expect(given.topic).toBe('a');
  expect({ ...copy }).toEqual({ topic: 'b' });
  expect(copyWith(given, { text: 'other' }).text).toBe('other');
});

test('of one with accessors of its own', () => {
  const given = {
    count: 0,
    get next(): number {
      return this.count;
    },
    set next(value: number) {
      this.count = value;
    },
  };
  const copy = copyWith(given, { count: 7 });
  expect(copy.next).toBe(0);
  copy.next = 3;
  expect([given.count, copy.next, copy.count]).toEqual([3, 3, 7]);
});

test('what a proxy throws is thrown', () => {
  const given = new Proxy(
    {},
    {
      ownKeys() {
        throw new Error('trap');
      },
    },
  );
  expect(() => copyWith(given, {})).toThrow('trap');
});
