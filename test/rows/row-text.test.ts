// Texts of a chunk: every string comes back as it was.

import { expect, test } from 'vitest';
import { RowText } from '../../src/rows/row-text.js';
import fc from '../support/fast-check.js';

const place = (text: RowText, string: string): [number, number, number] => {
  const at = text.used;
  const length = text.write(string);
  expect(text.used).toBe(at + length);
  return [at, length, text.encoding];
};

const STRINGS = [
  '',
  'a',
  'caf\u00e9',
  '\u00ff',
  '\u20ac',
  '\u{1f600}',
  '\u0000',
  '\ufeffmark',
  '\ufffd',
  '\ud800',
  '\udc00',
  'a\ud800b',
  '\udc00\ud800',
  'a\u00e9\u20ac\u{1f600}',
  'x'.repeat(1 << 20),
  '\u00e9'.repeat(1 << 20),
  '\u{1f600}'.repeat(1 << 19),
  `${'x'.repeat(5000)}\ud800`,
  `${'\ud83d'.repeat(5000)}`,
];

test('every kind of string, in any order, with little room at first', () => {
  for (const room of [1, 16, 4096]) {
    const text = new RowText(room);
    const places = [...STRINGS, ...STRINGS.toReversed()].map((string) => [string, place(text, string)] as const);
    for (const [string, at] of places) expect(text.read(...at) === string).toBe(true);
    const copy = new RowText(1);
    for (const [string, [at, length, encoding]] of places) {
      expect(copy.read(copy.copy(text, at, length), length, encoding) === string).toBe(true);
    }
  }
});

test('any strings', () => {
  const any = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string(),
    fc.array(fc.nat(0xffff)).map((codes) => String.fromCharCode(...codes)),
  );
  fc.assert(
    fc.property(fc.array(any), (strings) => {
      const text = new RowText(8);
      const places = strings.map((string) => place(text, string));
      expect(places.map((at) => text.read(...at))).toEqual(strings);
    }),
  );
});

test('a long text takes the room that it needs, not three times that', () => {
  const text = new RowText(16);
  text.write('x'.repeat(1 << 20));
  expect(text.bytes.length).toBeLessThan(1.1 * (1 << 20));
});
