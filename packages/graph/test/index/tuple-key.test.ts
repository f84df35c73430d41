// Two tuples never become the same bytes or texts, and what is not a key is refused with `BadKeyError`.

import { describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import {
  checkElements,
  decodeTuple,
  encodePrefix,
  encodeTuple,
  type TupleKey,
  TupleMap,
  TupleSet,
  tupleText,
} from '../../src/index/tuple-key.js';
import { thrownBy } from '../container/support/errors.js';

const anyElement = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }).filter((text) => !text.includes('\0'));
const anyTuple = fc.array(anyElement, { minLength: 1, maxLength: 4 });
const BAD_KEY = { name: 'BadKeyError', code: 'ERR_SPANLINE_GRAPH_BAD_KEY' };

test('a tuple comes back from its bytes, and different ones differ', () => {
  fc.assert(
    fc.property(anyTuple, anyTuple, (a, b) => {
      expect(decodeTuple(encodeTuple(a, a.length))).toEqual(a);
      const isSame = a.length === b.length && a.every((element, i) => element === b[i]);
      expect(encodeTuple(a, a.length).equals(encodeTuple(b, b.length))).toBe(isSame);
      expect(tupleText(a) === tupleText(b)).toBe(isSame);
    }),
  );
});

describe('what is not a key', () => {
  test.each<[string, unknown]>([
    ['no list', 'a'],
    ['nothing', undefined],
    ['null', null],
    ['too few elements', ['a']],
    ['too many', ['a', 'b', 'c']],
    ['an empty element', ['a', '']],
    ['an element that is not text', ['a', 1]],
    ['a hole', Object.assign(new Array(2), { 0: 'a' })],
    ['NUL, which parts elements', ['a\0b', 'c']],
    ['half a character', ['a', '\ud83d']],
  ])('%s', (_, key) => {
    expect(thrownBy(() => encodeTuple(key as TupleKey, 2))).toMatchObject(BAD_KEY);
  });

  test.each<[string, unknown]>([
    ['no list', 'a'],
    ['nothing', undefined],
    ['NUL', ['a\0b']],
    ['an element that is not text', [1]],
  ])('not in a set or a map either: %s', (_, key) => {
    expect(thrownBy(() => new TupleSet([key as TupleKey]))).toMatchObject(BAD_KEY);
    expect(thrownBy(() => new TupleMap().get(key as TupleKey))).toMatchObject(BAD_KEY);
  });

  test('a number of elements that no key has', () => {
    for (const elements of [0, 17, 1.5, Number.NaN])
      expect(thrownBy(() => checkElements(elements))).toMatchObject(BAD_KEY);
    checkElements(1);
    checkElements(16);
  });
});

describe('prefixes', () => {
  test('end behind their last whole element', () => {
    expect(encodePrefix(['a', null], 2).toString()).toBe('a\0');
    expect(encodePrefix(['a', 'b'], 2).toString()).toBe('a\0b');
    expect(encodePrefix(['a', 'b', null], 3).toString()).toBe('a\0b\0');
  });

  test.each<[string, unknown]>([
    ['no list', 'a'],
    ['too short', ['a']],
    ['a null at once', [null, null]],
    ['an element behind a null', [null, 'a']],
    ['an empty element', ['', null]],
    ['NUL', ['a\0', null]],
    ['undefined', ['a', undefined]],
  ])('%s is refused', (_, prefix) => {
    expect(thrownBy(() => encodePrefix(prefix as string[], 2))).toMatchObject(BAD_KEY);
  });

  test('an element behind a null, of a prefix that begins with one, is refused', () => {
    expect(thrownBy(() => encodePrefix(['a', null, 'b'], 3))).toMatchObject({
      ...BAD_KEY,
      message: expect.stringContaining('behind a null'),
    });
  });
});

describe('maps and sets', () => {
  test('go by what a tuple says, not by which it is', () => {
    const map = new TupleMap<number>().set(['a', 'b'], 1).set(['a', 'b'], 2).set(['ab'], 3);
    expect([map.size, map.get(['a', 'b']), map.get(['ab']), map.get(['b']), map.has(['a'])]).toEqual([
      2,
      2,
      3,
      undefined,
      false,
    ]);
    expect([...map]).toEqual([
      [['a', 'b'], 2],
      [['ab'], 3],
    ]);
    expect(map.keys()).toEqual([['a', 'b'], ['ab']]);
    const set = new TupleSet([['a'], ['a'], ['b']]);
    expect([set.size, set.has(['a']), set.delete(['a']), set.delete(['a']), set.size]).toEqual([
      2,
      true,
      true,
      false,
      1,
    ]);
    expect([...set]).toEqual([['b']]);
  });
});
