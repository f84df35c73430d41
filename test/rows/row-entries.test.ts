// Entries of rows: what is written as properties, events and links is read as it was, beside any other row.
import { beforeEach, expect, test } from 'vitest';
import { NO_SCOPE } from '../../src/formats/library.js';
import { NO_PROPERTIES } from '../../src/record/properties.js';
import { recordOfRow, TraceIdentity } from '../../src/record/record.js';
import { RowView } from '../../src/record/row-view.js';
import { readCounters } from '../../src/rows/counters.js';
import { type PropertyList, SpanDetails } from '../../src/rows/property.js';
import { RowChunk } from '../../src/rows/row-chunk.js';
import { RowEntries } from '../../src/rows/row-entries.js';
import { internName, MAX_NAME_LENGTH, MAX_NAMES, RowText } from '../../src/rows/row-text.js';
import fc from '../support/fast-check.js';
import { forgetNames, useOwnNames } from '../support/names.js';
import { propertyList } from '../support/row-properties.js';

useOwnNames();
beforeEach(forgetNames);

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
    const read = propertyList(entries, from, end);
    expect(propertyList(copy, from + shift, end + shift)).toEqual(read);
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
  for (const key of keys) internName(key);
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

test('a text that comes again is copied once, from the source that it is in', () => {
  const make = (text: string): RowEntries => {
    const entries = new RowEntries(1);
    for (let i = 0; i < 100; i++) entries.writeProperties(['empty', '', 'sql', text, 'table', `${text}s`]);
    return entries;
  };
  const sources = ['one', 'two', '\u20ac'].map(make);
  const target = new RowEntries(1);
  for (const source of sources) target.copy(source, 0, source.count);
  expect(target.text.used).toBe(7 + 7 + 7);
  const [, , last] = sources;
  last.clear();
  last.writeProperties(['sql', 'new']);
  target.copy(last, 0, last.count);
  const read = propertyList(target, 0, target.count) as PropertyList;
  expect(read.length).toBe(1802);
  expect([read[3], read[5], read[603], read[605], read[1203], read[1205]]).toEqual([
    'one',
    'ones',
    'two',
    'twos',
    '\u20ac',
    '\u20acs',
  ]);
  expect(read.slice(-2)).toEqual(['sql', 'new']);
});

test('events and links between properties of others', () => {
  const chunk = new RowChunk(1);
  const { entries } = chunk;
  const ids = [1, -2, 3, -4, 5, -6];
  entries.writeName('n'.repeat(300));
  entries.writeProperties(['a', [1, 2]]);
  entries.writeMessage('failed \ud800');
  entries.writeDropped(1, 2, 3);
  entries.writeEvent({ name: 'e'.repeat(300), ticks: 1, properties: ['b', 'c'], dropped: 4 });
  entries.writeEvent({ name: 'short', ticks: 12345, properties: null, dropped: 0 });
  entries.writeLink({ ids, traceState: 'a=b', properties: ['d', true], dropped: 0 });
  entries.writeLink({ ids: ids.toReversed(), traceState: '', properties: null, dropped: 0 });
  chunk.add({ idHi: 7, idLo: 8, begin: 0 }, 0, 0, 0, 0, 0, 2);
  entries.writeProperties(['of', 'another row']);
  const anchor = { ticks: 0, unixSec: 10, unixNano: 0, nsPerTick: 1 };
  const identity = new TraceIdentity(1, 2, 3, 4, '');
  const view = new RowView({ properties: NO_PROPERTIES }, NO_SCOPE).of(chunk, 0, identity, anchor);
  const record = recordOfRow(view, identity);
  expect(record).toMatchObject({
    name: 'n'.repeat(300),
    propertyList: ['a', [1, 2]],
    status: { code: 'unset', message: 'failed \ud800' },
    droppedAttributesCount: 1,
    droppedEventsCount: 2,
    droppedLinksCount: 3,
  });
  expect(record.events).toMatchObject([
    { name: 'e'.repeat(300), sec: 10, nano: 1, propertyList: ['b', 'c'], droppedAttributesCount: 4 },
    { name: 'short', nano: 12345, propertyList: null, droppedAttributesCount: 0 },
  ]);
  const hex = (word: number): string => (word >>> 0).toString(16).padStart(8, '0');
  const linkOf = (words: readonly number[]) => ({
    traceId: words.slice(0, 4).map(hex).join(''),
    spanId: words.slice(4).map(hex).join(''),
  });
  expect(record.links).toEqual([
    { ...linkOf(ids), traceState: 'a=b', properties: { d: true } },
    { ...linkOf(ids.toReversed()), traceState: undefined, properties: undefined },
  ]);
});

test('more names than the table has room for are written in the row', () => {
  const names = Array.from({ length: MAX_NAMES + 2000 }, (_, i) => `distinct ${i}`);
  const list = names.flatMap((name, i) => [name, i]);
  expect(written([list])).toEqual([list]);
  expect(internName(names.at(-1) as string)).toBe(0);
  expect(internName(names[0])).toBeGreaterThan(0);
  const texts = names.flatMap((name) => [name, 'same text']);
  expect(written([texts])).toEqual([texts]);
});

test('what is not there takes no room: counts of zero, an empty state of a link, an empty message', () => {
  const entries = new RowEntries(1);
  entries.writeDropped(0, 0, 0);
  expect(entries.usedBytes).toBe(0);
  const span = { name: 'n', idHi: 1, idLo: 2, begin: 0, propertyList: null, details: new SpanDetails() };
  expect(entries.writeDetails(span, null, null)).toBe(0);
  // Two entries for the ids.
  entries.writeLink({ ids: [1, 2, 3, 4, 5, 6], traceState: '', properties: null, dropped: 0 });
  expect(entries.usedBytes).toBe(32);
});

test('bytes of a stretch of entries are those of its entries and texts', () => {
  const entries = new RowEntries(1);
  entries.writeProperties(['a', 'one', 'b', 2, 'c', ['three', 'four'], 'd', 5n]);
  const middle = entries.count;
  const before = entries.usedBytes;
  entries.writeMessage('a message');
  entries.writeEvent({ name: 'e'.repeat(300), ticks: 1, properties: null, dropped: 0 });
  expect(entries.bytesOf(0, middle)).toBe(before);
  expect(entries.bytesOf(middle, entries.count)).toBe(entries.usedBytes - before);
});

test('entries in memory of somebody else are read where they lie', () => {
  const list = ['text', 'a', 'double', 1.5, 'list', [0.25, -0, 7], 'last', Number.MAX_VALUE];
  const entries = new RowEntries(1);
  entries.writeProperties(list as unknown as PropertyList);
  // Behind something else, as in a file.
  const memory = new ArrayBuffer(64 + entries.count * 16);
  const words = new Int32Array(memory, 64, entries.count * 4);
  words.set(entries.words.subarray(0, entries.count * 4));
  const text = RowText.over(Buffer.from(entries.text.bytes.subarray(0, entries.text.used)));
  const read = RowEntries.over(words, entries.count, text);
  expect(propertyList(read, 0, read.count)).toEqual(list);
});

test('a row that is copied with more properties keeps its others, those whose keys have no number too', () => {
  const [long, longer] = ['a', 'b'].map((letter) => letter.repeat(MAX_NAME_LENGTH + 1));
  const from = new RowChunk(1);
  from.entries.writeProperties([long, 1, longer, [1, 2], 'short', 'text']);
  from.entries.writeMessage('message');
  from.add({ idHi: 7, idLo: 8, begin: 0 }, 0, 0, 0, internName('n'), 0, 2);
  const to = new RowChunk(2);
  to.copy(from, 0, 0, [longer, 'new', 'more', true]);
  to.copy(from, 0, 0, ['short', 'new']);
  const read = (row: number): PropertyList | null => propertyList(to.entries, to.heads[row], to.heads[row + 1]);
  expect(read(0)).toEqual([long, 1, 'short', 'text', longer, 'new', 'more', true]);
  expect(read(1)).toEqual([long, 1, longer, [1, 2], 'short', 'new']);
});
