// Cleaning replaces exactly the characters a rule forbids, never merges two params unseen, and no rule lets a separator through.

import { describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { checkParams, cleaningRule, forceValid } from '../../src/params/param-text.js';
import { anyParams } from './support/any-params.js';
import { refusal } from './support/refusal.js';

describe('forceValid', () => {
  test('replaces each forbidden character, and an empty text, by _', () => {
    expect(forceValid({ 'test name': 'a=b,c', os: '', arch: 'x86-64.v3' })).toEqual({
      test_name: 'a_b_c',
      os: '_',
      arch: 'x86-64.v3',
    });
    expect(forceValid({ a: '😀\ud800!' })).toEqual({ a: '___' });
  });

  test('refuses two keys that become one', () => {
    expect(refusal(() => forceValid({ 'a b': '1', a_b: '1' }))).toBe(
      'ERR_SPANLINE_INVALID_INPUT: param "a_b" and another one both become "a_b"; rename one of them',
    );
  });

  test('gives params that pass the check, or refuses', () => {
    fc.assert(
      fc.property(anyParams, (params) => {
        if (refusal(() => forceValid(params)) !== 'no error') return;
        const valid = forceValid(params);
        checkParams(valid);
        expect(Object.keys(valid).length).toBe(Object.keys(params).length);
        expect(forceValid(valid)).toEqual(valid);
      }),
    );
  });
});

describe('checkParams', () => {
  test.each<[string, Record<string, string>, string]>([
    ['no params', {}, 'a trace must have at least one param'],
    ['a key', { 'a b': 'c' }, 'param key "a b" has the character " "; allowed are [A-Za-z0-9._-]'],
    ['a value', { a: 'b,c' }, 'the value of param "a", "b,c" has the character ","'],
    ['an empty value', { a: '' }, 'the value of param "a" is empty'],
  ])('names %s', (_, params, why) => {
    expect(refusal(() => checkParams(params))).toContain(why);
    expect(refusal(() => checkParams({ a: 'b' }))).toBe('no error');
  });

  test('gives the same answer twice in a row', () => {
    for (let i = 0; i < 3; i++) expect(refusal(() => checkParams({ a: 'bb c' }))).toContain('the character " "');
  });
});

describe('rules', () => {
  test.each([
    ['A-Za-z0-9._ -', 'no error'],
    ['\\w\\p{Script=Greek}', 'no error'],
    ['_\\]\\[', 'no error'],
    ['', 'must be the inside of a character class'],
    ['_](?:.*)[', 'must be the inside of a character class'],
    ['_\\', 'must be the inside of a character class'],
    ['^a', 'must be the inside of a character class'],
    ['z-a_', 'is not the inside of a character class'],
    ['a-z', 'must allow "_"'],
    ['_,', 'allows ","'],
    ['+-_', 'allows ","'],
    ['_=', 'allows "="'],
    ['_\\S', 'allows ","'],
    ['_\\u{d800}', 'allows "\\ud800"'],
  ])('%j: %s', (allowed, why) => {
    expect(refusal(() => cleaningRule(allowed))).toContain(why);
  });
});
