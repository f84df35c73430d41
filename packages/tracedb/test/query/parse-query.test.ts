// A query's text gives exactly the parts it says, or an error that says what to write instead; its written form reads back.

import { describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { formatQuery, makeQuery, parseQuery, queryFromParams } from '../../src/query/query.js';
import { anyParts } from '../params/support/any-params.js';
import { refusal } from '../params/support/refusal.js';

/** One part a line, as `key kind value|value`. */
const shown = (text: string): string[] =>
  parseQuery(text).parts.map(({ key, kind, values }) => `${key} ${kind} ${values.join('|')}`.trimEnd());

describe('the text form', () => {
  test.each<[string, string[]]>([
    ['', []],
    ['&&', []],
    ['config=8888', ['config one-of 8888']],
    ['config=8888&config=565&config=8888', ['config one-of 565|8888']],
    ['os=*', ['os has-key']],
    ['os=*&os=*', ['os has-key']],
    ['name=~^a.b$', ['name matches ^a.b$']],
    ['arch=!x86&arch=!arm', ['arch not-one-of arm|x86']],
    ['gpu=!~re', ['gpu not-matches re']],
    [
      'config=8888&arch=!x86&name=~regex&os=*&gpu=!~re',
      ['arch not-one-of x86', 'config one-of 8888', 'gpu not-matches re', 'name matches regex', 'os has-key'],
    ],
    ['arch=%21x86&name=%7Ea%2Bb&os=%2a', ['arch not-one-of x86', 'name matches a+b', 'os has-key']],
    ['a+b=c+d', ['a b one-of c d']],
    ['a=b=c', ['a one-of b=c']],
    ['a==!x', ['a one-of !x']],
    ['a=!=~x&b==*&c===', ['a not-one-of ~x', 'b one-of *', 'c one-of =']],
    ['a==&b=!=', ['a one-of', 'b not-one-of']],
    ['__proto__=a&constructor=*', ['__proto__ one-of a', 'constructor has-key']],
    ['a=**&b=x*&c=x~&d=!!x', ['a one-of **', 'b one-of x*', 'c one-of x~', 'd not-one-of !x']],
  ])('%j', (text, parts) => {
    expect(shown(text)).toEqual(parts);
  });

  test.each([
    ['config', 'query "config" has no "="; write key=value, or key=* for any value'],
    ['=8888', 'has no key before "="'],
    ['config=', 'query "config=" has no value after "="; write "config=*" for any value'],
    ['config=!', 'has no value after "!"'],
    ['config=!*', 'would never match'],
    ['config=~', 'a regular expression of a query is empty; write key=* for any value'],
    ['config=!~', 'a regular expression of a query is empty'],
    ['config=a&config=!b', 'query key "config" has values of two kinds, value and !value; use one kind for a key'],
    ['config=*&config=~a', 'query key "config" has values of two kinds, * and ~regex'],
    ['config=%zz', 'query value "%zz" has a malformed % escape; write %25'],
    ['%ff=a', 'query key "%ff" has a malformed % escape'],
    ['a=\ud800', 'has a lone surrogate'],
    ['a=~\ud800', 'has a lone surrogate'],
    [`a=${'x'.repeat(1025)}`, 'has 1025 characters; the limit is 1024'],
    [`a=~${'x'.repeat(1001)}`, 'has 1001 characters, and the limit is 1000'],
    [`a=${'x'.repeat(1_000_000)}`, 'a query of 1000002 characters; the limit is 1000000'],
    [Array.from({ length: 101 }, (_, i) => `k${i}=v`).join('&'), 'a query with 101 keys; the limit is 100'],
    [Array.from({ length: 10_001 }, (_, i) => `k=${i}`).join('&'), 'a query with 10001 values; the limit is 10000'],
    [Array.from({ length: 21 }, (_, i) => `k=~${i}`).join('&'), 'a query with 21 patterns; the limit is 20'],
  ])('refused: %.40j', (text, why) => {
    const refused = refusal(() => parseQuery(text));
    expect(refused).toMatch(/^ERR_SPANLINE_INVALID_INPUT: /);
    expect(refused).toContain(why);
    expect(refused.length).toBeLessThan(300);
  });

  test('any text is a query whose text reads back, or a TraceDbError', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', '=', '&', '!', '~', '*', '%', '4', '1', '+', '\ud800', 'é'),
    });
    let read = 0;
    fc.assert(
      fc.property(text, (written) => {
        if (refusal(() => parseQuery(written)) !== 'no error') return;
        read++;
        const query = parseQuery(written);
        expect(parseQuery(formatQuery(query))).toEqual(query);
      }),
      { numRuns: samples(2000, 10_000) },
    );
    expect(read).toBeGreaterThan(samples(20, 100));
  });
});

describe('queries made by hand', () => {
  test('read back from their text, whatever their values look like', () => {
    fc.assert(
      fc.property(anyParts, (parts) => {
        const query = makeQuery(parts);
        expect(parseQuery(formatQuery(query))).toEqual(query);
        expect(formatQuery(makeQuery(parts.toReversed()))).toBe(formatQuery(query));
      }),
      { numRuns: samples(200, 1000) },
    );
  });

  test('take the values of params literally', () => {
    const query = queryFromParams({ os: ['*', 'mac'], arch: '!x86' });
    expect(formatQuery(query)).toBe('arch=%3D!x86&os=%3D*&os=mac');
    expect(query.parts.map(({ kind }) => kind)).toEqual(['one-of', 'one-of']);
  });

  test.each<[string, () => unknown, string]>([
    ['a part without values', () => queryFromParams({ os: [] }), 'query key "os" has no value'],
    ['an empty key', () => queryFromParams({ '': 'a' }), 'a param key must not be empty'],
    [
      'has-key with values',
      () => makeQuery([{ key: 'os', kind: 'has-key', values: ['a'] }]),
      'has-key takes no values',
    ],
    [
      'a key in two parts',
      () => makeQuery(['has-key', 'has-key'].map(() => ({ key: 'os', kind: 'has-key', values: [] }))),
      'query key "os" occurs in two parts',
    ],
  ])('refused: %s', (_, call, why) => {
    expect(refusal(call)).toContain(why);
  });

  test('without UTF-8 form have no text', () => {
    expect(refusal(() => formatQuery({ parts: [{ key: 'a\udc00', kind: 'has-key', values: [] }] }))).toContain(
      'has a lone surrogate',
    );
  });
});
