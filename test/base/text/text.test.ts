// Text for terminals: nothing steers them.

import { describe, expect, test } from 'vitest';
import { escapeLines, escapeText, isSafeText, quoteWords, shortText } from '../../../src/base/text/escape-text.js';
import fc from '../../support/fast-check.js';

describe('escape', () => {
  test.each([
    ['C0', '\0\x07\x1b[31m', '\\x00\\x07\\x1b[31m'],
    ['line breaks and tabs', 'a\r\n\tb', 'a\\r\\n\\tb'],
    ['delete and C1', '\x7f\x85\x9b', '\\x7f\\x85\\x9b'],
    ['line separators', '\u2028\u2029', '\\u2028\\u2029'],
    ['marks and embeddings', '\u061c\u200e\u200f\u202a\u202e', '\\u061c\\u200e\\u200f\\u202a\\u202e'],
    ['isolates', '\u2066\u2067\u2068\u2069', '\\u2066\\u2067\\u2068\\u2069'],
    ['deprecated format characters', '\u206a\u206f', '\\u206a\\u206f'],
    ['byte order mark and annotations', '\ufeff\ufff9', '\\ufeff\\ufff9'],
    ['tags', '\u{e0001}\u{e0041}\u{e007f}', '\\u{e0001}\\u{e0041}\\u{e007f}'],
    ['halves of pairs', '\ud83d-\ude00', '\\ud83d-\\ude00'],
  ])('%s', (_, text, escaped) => {
    expect(escapeText(text)).toBe(escaped);
    expect(isSafeText(text)).toBe(false);
    expect(isSafeText(escaped)).toBe(true);
  });

  test('what people write stays', () => {
    for (const text of ['GET /a?b=c', 'größe', '日本語', '👩‍👩‍👧', 'नमस्ते', 'مرحبا', '\\n'])
      expect([escapeText(text), isSafeText(text)]).toEqual([text, true]);
  });

  test('nothing unsafe is left of any text, on one line', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(30), (text, length) => {
        expect(isSafeText(shortText(text, length))).toBe(true);
      }),
    );
  });

  test('long text is cut, never within a pair of surrogates', () => {
    expect(shortText('abcdef', 3)).toBe('abc…');
    expect(shortText('abcdef', 6)).toBe('abcdef');
    expect(shortText('ab😀', 3)).toBe('ab…');
    expect(shortText('ab😀', 4)).toBe('ab😀');
    expect(shortText('abc', 0, '')).toBe('');
  });

  test('lines stay lines where they are wanted', () => {
    expect(escapeLines('a\u202e\n  b\r')).toBe('a\\u202e\n  b\\r');
  });

  test('words of others are quoted on one line', () => {
    expect(quoteWords(' no\r\n such\x1b[1m  page\u202e ')).toBe('no such [1m page\\u202e');
    expect(quoteWords('x'.repeat(300), 5)).toBe('xxxxx...');
  });
});
