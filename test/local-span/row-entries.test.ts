// Entries of rows: what is written as properties, events and links is read as it was, beside any other row.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readCounters } from '../../src/local-span/counters.js';
import { EntryReader } from '../../src/local-span/entry-reader.js';
import { MAX_NAME_LENGTH, MAX_NAMES, numberOfName } from '../../src/local-span/name-table.js';
import type { PropertyList } from '../../src/local-span/property.js';
import { RowEntries } from '../../src/local-span/row-entries.js';

const written = (lists: readonly unknown[][]): (PropertyList | null)[] => {
  const entries = new RowEntries(1);
  const ends = lists.map((list) => {
    entries.writeProperties(list as unknown as PropertyList);
    return entries.count;
  });
  const copy = new RowEntries(1);
  copy.writeProperties(['before', 'something']);
  const shift = copy.count;
  copy.copy(entries, 0, entries.count);
  return ends.map((end, i) => {
    const from = i === 0 ? 0 : ends[i - 1];
    const read = new EntryReader(entries, from, end).properties();
    expect(new EntryReader(copy, from + shift, end + shift).properties()).toEqual(read);
    return read;
  });
};

const VALUES = [
  ...['', 'text', '\u00e9', '\ud800', 'x'.repeat(300), 'x'.repeat(1 << 20)],
  ...[
    0,
    -0,
    1,
    -1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.MIN_VALUE,
    Number.MAX_VALUE,
  ],
  ...[true, false, 0n, -1n, 2n ** 64n, -(2n ** 200n)],
  ...[[], [''], ['a', '\ud800'], [-0, Number.NaN], [1n, 2n ** 70n], [true, false]],
];

test('values of every type', () => {
  const list = VALUES.flatMap((value, i) => [`key ${i}`, value]);
  expect(written([list])).toEqual([list]);
  expect(written(VALUES.map((value) => ['k', value]))).toEqual(VALUES.map((value) => ['k', value]));
});

test('keys of every kind, and those that find no number', () => {
  const keys = [
    '',
    '__proto__',
    'constructor',
    '\ud800',
    'k'.repeat(MAX_NAME_LENGTH),
    'k'.repeat(MAX_NAME_LENGTH + 1),
    'x'.repeat(1e5),
  ];
  const list = keys.flatMap((key, i) => [key, `value ${i}`]);
  expect(written([list, list])).toEqual([list, list]);
});

test('a key given several times has its last value, at the place of the first', () => {
  const { propertiesInvalid } = readCounters();
  const bad = null;
  const [few] = written([['a', 1, 'b', 2, 'a', bad, 'a', 3, 'b', undefined, 'a', {}, 'a', 4, 'c', 5]]);
  expect(few).toEqual(['a', 4, 'b', 2, 'c', 5]);
  const many = Array.from({ length: 100 }, (_, i) => [`k${i % 40}`, i]).flat();
  const [read] = written([[...many, 'k0', bad, 7, 1, 7, 2]]);
  expect(read).toEqual(Array.from({ length: 40 }, (_, i) => [`k${i}`, i < 20 ? i + 80 : i + 40]).flat());
  expect(readCounters().propertiesInvalid - propertiesInvalid).toBe(5);
});

test('texts that come again under keys that share a place', () => {
  const keys = Array.from({ length: 200 }, (_, i) => `shared ${i}`);
  for (const key of keys) numberOfName(key);
  const one = fc.tuple(fc.constantFrom(...keys), fc.constantFrom('', 'a', 'b', '\u00e9', 'long'.repeat(20), '\ud800'));
  fc.assert(
    fc.property(fc.array(one.map(([key, value]) => [key, value])), (lists) => {
      expect(written(lists)).toEqual(lists);
    }),
  );
});

test('a text that comes again is written once', () => {
  const entries = new RowEntries(1);
  for (let i = 0; i < 1000; i++) entries.writeProperties(['sql', 'SELECT 1', 'table', 'users']);
  expect(entries.text.used).toBe('SELECT 1users'.length);
});

test('events and links between properties of others', () => {
  const entries = new RowEntries(1);
  const ids = [1, -2, 3, -4, 5, -6];
  entries.writeName('n'.repeat(300));
  entries.writeProperties(['a', [1, 2]]);
  entries.writeMessage('failed \ud800');
  entries.writeDropped(1, 2, 3);
  entries.writeEvent('e'.repeat(300), 0.1);
  entries.writeProperties(['b', 'c']);
  entries.writeDropped(4, 0, 0);
  entries.writeEvent('short', 12345.5);
  entries.writeLink(ids, 'a=b');
  entries.writeProperties(['d', true]);
  entries.writeLink(ids.toReversed(), '');
  const end = entries.count;
  entries.writeProperties(['of', 'another row']);
  const reader = new EntryReader(entries, 0, end);
  expect(reader.name(0)).toBe('n'.repeat(300));
  expect([reader.properties(), reader.message(), reader.dropped()]).toEqual([
    ['a', [1, 2]],
    'failed \ud800',
    [1, 2, 3],
  ]);
  expect([reader.ticks(), reader.eventName()]).toEqual([0.1, 'e'.repeat(300)]);
  expect([reader.properties(), reader.dropped()]).toEqual([
    ['b', 'c'],
    [4, 0, 0],
  ]);
  expect([reader.hasEvent, reader.ticks(), reader.eventName()]).toEqual([true, 12345.5, 'short']);
  expect([reader.properties(), reader.dropped(), reader.hasEvent]).toEqual([null, [0, 0, 0], false]);
  expect([reader.link(), reader.properties()]).toEqual([{ ids, traceState: 'a=b' }, ['d', true]]);
  expect([reader.link(), reader.properties()]).toEqual([{ ids: ids.toReversed(), traceState: '' }, null]);
  expect(reader.link()).toBeUndefined();
});

// Last: it fills the table of this thread.
test('more names than the table has room for are written in the row', () => {
  const names = Array.from({ length: MAX_NAMES + 2000 }, (_, i) => `distinct ${i}`);
  const list = names.flatMap((name, i) => [name, i]);
  expect(written([list])).toEqual([list]);
  expect(numberOfName(names.at(-1) as string)).toBe(0);
  expect(numberOfName(names[0])).toBeGreaterThan(0);
  const texts = names.flatMap((name) => [name, 'same text']);
  expect(written([texts])).toEqual([texts]);
});
