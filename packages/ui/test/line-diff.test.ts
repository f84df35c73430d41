// The difference of two texts holds both: without what was added it is the old one, without what was taken away the new one, and what both have in
// common stays where it can.

import { expect, test } from 'vitest';
import fc from '../../../test/support/fast-check.js';
import { lineDiff } from '../src/page/views/golden/line-diff.js';

const drawn = (before: string, after: string): string =>
  lineDiff(before, after)
    .map(({ mark, text }) => `${mark}${text}`)
    .join('\n');

test('what was taken away stands before what was added', () => {
  expect(drawn('GET /a\n  SELECT ×1\n  render', 'GET /a\n  SELECT ×20\n  render')).toBe(
    ' GET /a\n-  SELECT ×1\n+  SELECT ×20\n   render',
  );
  expect(drawn('a', 'a')).toBe(' a');
  expect(drawn('', 'a\nb')).toBe('-\n+a\n+b');
});

test('both texts are in it, and no shorter one would do', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = lineDiff(before.join('\n'), after.join('\n'));
      const without = (mark: string) => lines.filter((line) => line.mark !== mark).map((line) => line.text);
      expect(without('+')).toEqual(before);
      expect(without('-')).toEqual(after);
      // The longest lines in common, found in the plainest way.
      const common = (i: number, j: number): number => {
        if (i === before.length || j === after.length) return 0;
        return before[i] === after[j] ? 1 + common(i + 1, j + 1) : Math.max(common(i + 1, j), common(i, j + 1));
      };
      if (before.length + after.length <= 16)
        expect(lines.filter(({ mark }) => mark === ' ')).toHaveLength(common(0, 0));
    }),
  );
});

test('texts of thousands of lines are marked by what the other has nowhere', () => {
  const many = Array.from({ length: 3000 }, (_, i) => `line ${i}`);
  const lines = lineDiff(many.join('\n'), [...many.slice(1), 'new'].join('\n'));
  expect(lines.filter(({ mark }) => mark !== ' ')).toEqual([
    { mark: '-', text: 'line 0' },
    { mark: '+', text: 'new' },
  ]);
});
