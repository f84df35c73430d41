// Patterns are found anywhere in a value as RE2 defines them; one that would cost too much is refused by name before it does.
import { describe, expect, test } from 'vitest';
import { checkPattern, compileRegex, MAX_PROGRAM_SIZE } from '../../src/query/regex.js';
import { refusal, rejection } from '../params/support/refusal.js';

describe('a pattern', () => {
  test.each([
    ['a', 'bab', true],
    ['^a', 'bab', false],
    ['^(?:x86|arm)$', 'arm', true],
    ['^(?:x86|arm)$', 'arm64', false],
    ['(?i)ARM', 'xarmx', true],
    ['\\p{Greek}+$', 'aα', true],
    ['^.$', '😀', true],
    ['\\bfoo\\b', 'a foo b', true],
    ['^\\d{4}-\\d{2}-\\d{2}$', '2024-01-31', true],
    ['^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$', '0af76519-16cd-43dd-8448-eb211c80319c', true],
    ['^$', '', true],
  ])('%s on %s: %s', async (pattern, text, found) => {
    const regex = await compileRegex(pattern);
    expect(regex.test(text)).toBe(found);
    expect(regex.pattern).toBe(pattern);
  });

  test('may be as long as the limit', async () => {
    const regex = await compileRegex('abcdefghi|'.repeat(100).slice(0, -1));
    expect([regex.test('xabcdefghix'), regex.test('abcdefgh')]).toEqual([true, false]);
    const literal = await compileRegex('abcde'.repeat(200));
    expect(literal.programSize).toBeLessThanOrEqual(MAX_PROGRAM_SIZE);
  });
});

describe('refused', () => {
  test.each([
    ['(', 'missing closing'],
    ['a**', 'invalid nested repetition'],
    ['(a)\\1', 'invalid escape'],
    ['(?=a)', 'invalid'],
    ['(?<=a)b', 'invalid'],
    ['a{1001}', 'invalid repeat count'],
    ['(a{40}){40}', 'invalid repeat count'],
    ['(?:a?){600}a{600}', 'instructions when compiled, and the limit is 1024'],
    ['((a{10}){10}){10}', 'instructions when compiled'],
    ['(\\pL{100}|b){10}', 'instructions when compiled'],
  ])('%s', async (pattern, why) => {
    const refused = await rejection(() => compileRegex(pattern));
    expect(refused).toMatch(/^ERR_SPANLINE_INVALID_INPUT: regular expression "/);
    expect(refused).toContain(JSON.stringify(pattern).slice(1, -1));
    expect(refused).toContain(why);
  });

  // Without the bound these would make a million instructions before the engine can be asked how many there are.
  test.each([
    ['10 KB of nested plus', '(a+)+$'.repeat(1700), 'has 10200 characters, and the limit is 1000'],
    ['10 KB of groups', '('.repeat(5000) + ')'.repeat(5000), 'has 10000 characters'],
    ['10 KB of counts', '(a{1,1000}){1,1000}'.repeat(500), 'has 9500 characters'],
    ['a long body counted', `(${'a'.repeat(980)}){1000}`, 'repeats too much by {n}'],
    ['a long body counted at least', `(${'a?'.repeat(480)}){1000,}`, 'repeats too much by {n}'],
    ['a long body counted in steps', `(((${'a'.repeat(940)}){10}){10}){0,10}`, 'repeats too much by {n}'],
    ['counts after an unbalanced class', `(${'a'.repeat(900)}[({]){1000}`, 'repeats too much by {n}'],
    ['counts after quoted text', `(${'a'.repeat(900)}\\Q(\\E){1000}`, 'repeats too much by {n}'],
    ['an empty one', '', 'is empty; write key=* for any value'],
    ['one without UTF-8 form', 'a\ud800', 'has a lone surrogate'],
  ])('before the engine sees it: %s', (_, pattern, why) => {
    const refused = refusal(() => checkPattern(pattern));
    expect(refused).toMatch(/^ERR_SPANLINE_INVALID_INPUT: .*regular expression/);
    expect(refused).toContain(why);
    expect(refused.length).toBeLessThan(300);
  });
});

describe('evil patterns on evil texts', () => {
  // Each takes a backtracking engine longer than any test may wait.
  test.each([
    ['(a+)+$', `${'a'.repeat(1023)}!`, false],
    ['^(?:a+)+$', `${'a'.repeat(1023)}!`, false],
    ['(?:a?){200}a{200}$', `${'a'.repeat(199)}!`, false],
    ['(x+x+)+y', 'x'.repeat(1024), false],
    ['(.*a.*){100}b', 'a'.repeat(1024), false],
    ['[ab]*a[ab]{400}(c|d)\\b', 'ab'.repeat(512), false],
    [`${'(a+)+'.repeat(190)}$`, `${'a'.repeat(1023)}!`, false],
    [`^${'(a|a)*'.repeat(150)}b$`, 'a'.repeat(1023), false],
  ])('%.30s', async (pattern, text, found) => {
    expect((await compileRegex(pattern)).test(text)).toBe(found);
  });
});
