// Widths of texts are those of a terminal's columns.
import { describe, expect, test } from 'vitest';
import { cut, displayWidth } from '../src/terminal.js';

describe('width', () => {
  test.each([
    ['abc', 3],
    ['日本', 4],
    ['e\u0301', 1],
    ['👩‍👩‍👧', 2],
    ['', 0],
  ])('%s', (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });

  test('a text is cut to columns', () => {
    expect(cut('日本語', 5, '…')).toBe('日本…');
    expect(cut('abc', 3, '…')).toBe('abc');
    expect(cut('abc', 0, '…')).toBe('');
  });
});
