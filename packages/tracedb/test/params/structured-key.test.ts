// A structured key and its params stand for each other, one to one; any other text is refused with a reason.

import { describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { cleaningRule, makeStructuredKey, parseStructuredKey } from '../../src/params/param-text.js';
import { refusal } from './support/refusal.js';

const text = fc.string({ unit: fc.constantFrom('a', 'b', 'Z', '0', '.', '_', '-'), minLength: 1, maxLength: 5 });
const validParams = fc
  .array(fc.tuple(fc.oneof(text, fc.constantFrom('__proto__', 'constructor')), text), { minLength: 1, maxLength: 5 })
  .map((entries): Record<string, string> => Object.fromEntries(entries));

describe('structured keys', () => {
  test('are sorted and come back as the same params', () => {
    expect(makeStructuredKey({ config: '8888', arch: 'x86' })).toBe(',arch=x86,config=8888,');
    fc.assert(
      fc.property(validParams, validParams, (params, others) => {
        const key = makeStructuredKey(params);
        const back = parseStructuredKey(key);
        expect(Object.entries(back).sort()).toEqual(Object.entries(params).sort());
        expect(makeStructuredKey(back)).toBe(key);
        const same = JSON.stringify(Object.entries(others).sort()) === JSON.stringify(Object.entries(params).sort());
        expect(makeStructuredKey(others) === key).toBe(same);
      }),
    );
  });

  test('that are read are the ones that are written', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(',', '=', 'a', 'b', ' '), maxLength: 12 }), (key) => {
        if (refusal(() => parseStructuredKey(key)) === 'no error') {
          expect(makeStructuredKey(parseStructuredKey(key))).toBe(key);
        }
      }),
      { numRuns: samples(1000, 5000) },
    );
  });

  test.each([
    ['', 'must start and end with a comma'],
    [',', 'must start and end with a comma'],
    ['arch=x86', 'must start and end with a comma'],
    [',arch,', 'has the part "arch" without "="'],
    [',a=1,,b=2,', 'has the part "" without "="'],
    [',b=1,a=2,', 'has the key "a" after "b", out of order'],
    [',a=1,a=1,', 'has the key "a" twice'],
    [',=1,', 'a param key must not be empty'],
    [',a=,', 'the value of param "a" is empty'],
    [',a=b=c,', 'has the character "="; allowed are [A-Za-z0-9._-]'],
    [',a=b c,', 'has the character " "'],
    [',a=😀,', 'has the character "😀"'],
  ])('refused: %j', (key, why) => {
    const refused = refusal(() => parseStructuredKey(key));
    expect(refused).toMatch(/^ERR_SPANLINE_INVALID_INPUT: /);
    expect(refused).toContain(why);
  });

  test('follow the rule of their store', () => {
    const rule = cleaningRule('\\p{L}0-9_ /');
    expect(parseStructuredKey(makeStructuredKey({ name: 'é b/c' }, rule), rule)).toEqual({ name: 'é b/c' });
    expect(refusal(() => makeStructuredKey({ name: 'a.b' }, rule))).toContain('has the character "."');
    expect(refusal(() => makeStructuredKey({}))).toContain('a trace must have at least one param');
  });
});
