// A param set holds every pair it was given exactly once and lists them in one order, whatever their names and order of arrival.

import { describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { ParamSet } from '../../src/params/param-set.js';
import { anyParams } from './support/any-params.js';
import { refusal } from './support/refusal.js';

const setOf = (...traces: Parameters<ParamSet['add']>[0][]): ParamSet => {
  const set = new ParamSet();
  for (const params of traces) set.add(params);
  return set;
};

describe('param set', () => {
  test('lists keys and values sorted and counts pairs', () => {
    const set = setOf({ config: '8888', arch: 'x86' }, { arch: 'arm', config: '8888' });
    expect(set.toJSON()).toEqual({ arch: ['arm', 'x86'], config: ['8888'] });
    expect(set.keys()).toEqual(['arch', 'config']);
    expect(set.size).toBe(3);
    expect([set.has('arch'), set.has('arch', 'arm'), set.has('arch', '8888'), set.has('os')]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(set.values('os')).toEqual([]);
  });

  test('names that objects inherit are keys like any other', () => {
    const set = setOf(JSON.parse('{"__proto__":"a","constructor":"b"}'));
    expect(JSON.stringify(set)).toBe('{"__proto__":["a"],"constructor":["b"]}');
    expect(new ParamSet().has('constructor')).toBe(false);
    expect(JSON.stringify(ParamSet.from(JSON.parse(JSON.stringify(set))))).toBe(JSON.stringify(set));
  });

  test('the order of arrival leaves no trace, nor does merging', () => {
    fc.assert(
      fc.property(fc.array(anyParams), (traces) => {
        const one = setOf(...traces);
        const other = setOf(...traces.toReversed());
        expect(JSON.stringify(other)).toBe(JSON.stringify(one));
        expect(JSON.stringify(ParamSet.from(one.toJSON()))).toBe(JSON.stringify(one));
        const merged = setOf(...traces.slice(1));
        merged.merge(setOf(...traces.slice(0, 2)));
        expect(JSON.stringify(merged)).toBe(JSON.stringify(one));
        expect(merged.size).toBe(Object.values(one.toJSON()).flat().length);
      }),
    );
  });

  test.each<[string, () => void, string]>([
    ['an empty key', () => setOf({ '': 'x' }), 'a param key must not be empty'],
    ['a lone surrogate', () => setOf({ os: 'a\ud800' }), 'the value of param "os" "a\\ud800" has a lone surrogate'],
    ['a long value', () => setOf({ os: 'x'.repeat(1025) }), 'has 1025 characters; the limit is 1024'],
    ['a number', () => setOf({ os: 5 as unknown as string }), 'the value of param "os" must be a string, not number'],
  ])('refuses %s', (_, call, why) => {
    const refused = refusal(call);
    expect(refused).toMatch(/^ERR_SPANLINE_INVALID_INPUT: /);
    expect(refused).toContain(why);
  });
});
