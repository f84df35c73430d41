// Wrong options of traced() throw where the function is defined, with a code and the name of the option.
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { traced } from '../../src/index.js';

const sync = (): void => {};
const later = async (): Promise<void> => {};
const generator = function* () {};
// biome-ignore lint/suspicious/noExplicitAny: wrong on purpose.
const any = traced as any;

test.each<[string, () => unknown, string]>([
  ['an unknown option', () => any({ nmae: 'x' }, sync), '"nmae"'],
  ['a name that is not text', () => any({ name: 5 }, sync), '"name"'],
  ['an empty name', () => any({ name: '' }, sync), '"name"'],
  ['shortName', () => any({ shortName: 'yes' }, sync), '"shortName"'],
  ['shortName with name', () => any({ shortName: true, name: 'x' }, sync), '"shortName"'],
  ['properties', () => any({ properties: 5 }, sync), '"properties"'],
  ['properties in an array', () => any({ properties: ['a'] }, sync), '"properties"'],
  ['properties in a Map', () => any({ properties: new Map() }, sync), '"properties"'],
  ['options in an array', () => any([]), 'an iterable'],
  ['options in a Map', () => any(new Map(), sync), 'an iterable'],
  ['kind', () => any({ kind: 'serve' }, later), '"kind"'],
  ['kind of a local span', () => any({ kind: 'server' }, sync), '"kind"'],
  ['enterOnResume without a generator', () => any({ enterOnResume: true }, later), '"enterOnResume"'],
  ['async of a generator', () => any({ async: true }, generator), '"async"'],
  ['null', () => any(null), 'null'],
  ['a number', () => any(5), 'number'],
  ['no function', () => any('name', 5), '5'],
  ['a name alone', () => any('name'), "traced({ name: 'name' })"],
  ['a class as a function', () => any(class Store {}), 'a class'],
  ['a named class', () => any('store', class extends Array {}), 'a class'],
  ['a class with options', () => any({ name: 'store' }, class Store {}), 'a class'],
  ['a class in a field', () => any()(undefined, { kind: 'field', name: 'f' })(class {}), 'a class'],
  ['a class of another realm', () => any(runInNewContext('(class Store {})')), 'a class'],
  [
    'a name that cannot be shown',
    () => any({ name: new Proxy(() => {}, { get: () => any(undefined).x }) }),
    '"name" cannot be a function',
  ],
  ['a kind that is an object', () => any({ kind: {} }), '"kind" cannot be an object'],
  ['a proxy of a class', () => any(new Proxy(class {}, {})), 'a class'],
  [
    'options with a getter that throws',
    () =>
      any({
        get name() {
          throw new Error('a getter');
        },
      }),
    'cannot be read',
  ],
  ['a class in a legacy method', () => any()({}, 'm', { value: class {} }), 'a class'],
  ['a class, legacy', () => any()(class {}), 'a class'],
  ['a class, legacy, without parentheses', () => any(class {}), 'a class'],
  ['a class, standard, without parentheses', () => any(class {}, { kind: 'class', name: 'A' }), 'a class'],
  ['an option without a text', () => any({ name: Object.create(null) }, sync), '"name"'],
  ['an object for a function', () => any('name', Object.create(null)), 'an object'],
  ['a class, standard', () => any()(class {}, { kind: 'class', name: 'A' }), 'class'],
  ['an accessor', () => any()({}, { kind: 'accessor', name: 'a' }), 'accessor'],
  ['a field without a function', () => any()(undefined, { kind: 'field', name: 'f' })(5), 'f'],
  ['a legacy property', () => any()({}, 'p', undefined), 'p'],
  ['without parentheses, legacy', () => any({}, 'm', { value: sync }), 'without parentheses'],
  ['without parentheses, legacy and static', () => any(class {}, 'm', { value: sync }), 'without parentheses'],
  ['without parentheses, field', () => any(undefined, { kind: 'field', name: 'f' }), 'without parentheses'],
  ['without parentheses, method', () => any(sync, { kind: 'method', name: 'm' }), 'without parentheses'],
])('%s', (_, define, named) => {
  const error = (() => {
    try {
      return define() as Error;
    } catch (thrown) {
      return thrown as Error;
    }
  })();
  expect(error).toMatchObject({ code: 'ERR_SPANLINE_OPTION', message: expect.stringContaining(named) });
});

test('right ones are taken, undefined ones too', () => {
  expect(() => traced({ name: undefined, kind: undefined }, sync)).not.toThrow();
  expect(() => traced({ enterOnResume: true, properties: { a: 1 } }, generator)).not.toThrow();
  expect(() => traced({ async: true, kind: 'client' }, sync)).not.toThrow();
});

test('a function that looks like a class is none', () => {
  function Store(this: { rows: number }) {
    this.rows = 1;
  }
  Store.prototype.count = function (this: { rows: number }) {
    return this.rows;
  };
  const Traced = traced(Object.freeze(Store)) as unknown as new () => { rows: number; count(): number };
  const store = new Traced();
  expect([store.count(), store instanceof Store, store instanceof Traced]).toEqual([1, true, true]);
  expect(traced('n', Number)('5')).toBe(5);
  expect(traced(function classify() {})).toBeTypeOf('function');
  expect(traced(Object.freeze(function frozen() {}))).toBeTypeOf('function');
});

test('a tag that names no kind of function', () => {
  const tagged = Object.assign(() => 5, { [Symbol.toStringTag]: 'constructor' });
  expect(traced(tagged)()).toBe(5);
});
