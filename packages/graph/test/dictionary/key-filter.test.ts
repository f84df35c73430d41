// The filter never denies a key that is there, is wrong about few strangers, takes about nine bits a key, and is left out rather than
// wrong when it cannot be made.
import { expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { GraphError } from '../../src/container/graph-error.js';
import { FilterBuilder, KeyFilter } from '../../src/dictionary/key-filter.js';
import { anyBelow, anyEnd } from '../support/damage.js';
import { hashKeys, randomBytes, seeded, spanKeys } from './support/random-keys.js';

const filterOf = (keys: readonly Buffer[], elementBytes = 0): Buffer => {
  const builder = new FilterBuilder(elementBytes);
  for (const key of keys) builder.add(key, 0, key.length);
  return builder.build() as Buffer;
};

const strangers = hashKeys(20_000, 20, seeded(99));

test.each([0, 1, 2, 3, 5, 10, 33, 100, 1000, 20_000])('%i keys: every one of them, few others', (count) => {
  const keys = hashKeys(count);
  const filter = KeyFilter.decode(filterOf(keys), 'a file');
  expect(keys.every((key) => filter.mayHave(key))).toBe(true);
  const wrong = strangers.filter((key) => filter.mayHave(key)).length;
  // One in 256, give or take five deviations.
  expect(wrong).toBeLessThan(20_000 / 256 + 5 * 9);
});

test('size', () => {
  expect((filterOf(hashKeys(20_000)).length * 8) / 20_000).toBeLessThan(10);
});

test('keys of all lengths, that share all but their ends', () => {
  const random = seeded(8);
  const keys = Array.from({ length: 3000 }, (_, i) =>
    Buffer.concat([Buffer.alloc(i % 50, 0x61), randomBytes(random, 4)]),
  );
  const filter = KeyFilter.decode(filterOf(keys), 'a file');
  expect(keys.every((key) => filter.mayHave(key))).toBe(true);
});

test('groups: a tenth of the size, and prefixes can be denied', () => {
  const keys = spanKeys(1000, 10);
  const bytes = filterOf(keys, 16);
  expect(bytes.length).toBeLessThan(1000 * 1.5);
  const filter = KeyFilter.decode(bytes, 'a file');
  expect(keys.every((key) => filter.mayHave(key) && filter.mayHavePrefix(key.subarray(0, 16)))).toBe(true);
  const strangers = hashKeys(2000, 16, seeded(97));
  expect(strangers.filter((trace) => filter.mayHavePrefix(trace)).length).toBeLessThan(40);
  // Shorter than a group: nothing can be said.
  expect(filter.mayHavePrefix(Buffer.from('ab'))).toBe(true);
});

test('a filter of whole keys says nothing of prefixes', () => {
  const filter = KeyFilter.decode(filterOf(hashKeys(1000)), 'a file');
  expect(filter.mayHavePrefix(Buffer.from('ab'))).toBe(true);
});

test('the same keys give the same bytes', () => {
  expect(filterOf(hashKeys(5000)).equals(filterOf(hashKeys(5000)))).toBe(true);
});

test('equal hashes are one', () => {
  const builder = new FilterBuilder(0);
  const key = Buffer.from('twice');
  builder.add(key, 0, key.length);
  builder.add(key, 0, key.length);
  expect(KeyFilter.decode(builder.build() as Buffer, 'a file').mayHave(key)).toBe(true);
});

test('bytes that no builder wrote', () => {
  const good = filterOf(hashKeys(300));
  const numRuns = samples(500, 5000);
  let refused = 0;
  fc.assert(
    fc.property(anyBelow(16), anyBelow(256), anyEnd(good.length), (at, byte, end) => {
      const bytes = Buffer.from(good);
      bytes[at] = byte;
      try {
        KeyFilter.decode(bytes.subarray(0, end), 'a file').mayHave(Buffer.from('any'));
      } catch (error) {
        expect(error).toBeInstanceOf(GraphError);
        expect(error).toMatchObject({ section: 'filter' });
        refused++;
      }
    }),
    { numRuns },
  );
  expect(refused).toBeGreaterThan(numRuns / 10);
});
