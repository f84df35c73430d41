// Dictionaries and filters of tens of thousands of keys are as small as they should be.
import { expect, test } from 'vitest';
import { FilterBuilder, KeyFilter } from '../../src/dictionary/key-filter.js';
import { buildDictionary, bytesPerKey } from './support/build.js';
import { hashKeys, nameKeys, nearOrdinals, permutation, seeded, spanKeys } from './support/random-keys.js';

const COUNT = 81_966;
const scattered = permutation(COUNT, seeded(21));

const filterOf = (keys: readonly Buffer[]): Buffer => {
  const builder = new FilterBuilder(0);
  for (const key of keys) builder.add(key, 0, key.length);
  return builder.build() as Buffer;
};

test('names of about 50 letters', () => {
  expect(bytesPerKey(nameKeys(COUNT, 1), {}, scattered)).toBeLessThan(14);
  expect(bytesPerKey(nameKeys(COUNT, 50), {}, scattered)).toBeLessThan(15);
});

test('spans: ten of a trace', () => {
  expect(bytesPerKey(spanKeys(8000, 10), { groupBytes: 16 }, nearOrdinals(8000, 10))).toBeLessThan(10.6);
});

test('the filter', () => {
  const { stats } = buildDictionary(hashKeys(50_000), { filter: true });
  expect((stats.filterBytes * 8) / 50_000).toBeLessThan(10);
  const groups = buildDictionary(spanKeys(5000, 10), { filter: true, groupBytes: 16 });
  expect((groups.stats.filterBytes * 8) / 5000).toBeLessThan(10);
});

test('more keys than one part of it takes', () => {
  const keys = hashKeys(270_000, 8);
  const bytes = filterOf(keys);
  const filter = KeyFilter.decode(bytes, 'a file');
  expect(keys.every((key) => filter.mayHave(key))).toBe(true);
  expect((bytes.length * 8) / keys.length).toBeLessThan(9.7);
  const wrong = hashKeys(20_000, 8, seeded(98)).filter((key) => filter.mayHave(key)).length;
  expect(wrong).toBeLessThan(20_000 / 256 + 5 * 9);
});

test('a filter of names', () => {
  expect((filterOf(nameKeys(80_000)).length * 8) / 80_000).toBeLessThan(9.7);
});
