// The table of open spans keeps its bound by forgetting the oldest, and everybody else's place stays their own.
import { expect, test } from 'vitest';
import { OpenSpanTable } from '../../src/flight-recorder/open-spans.js';
import type { EndedRoot } from '../../src/span/active-trace.js';

const span = (begin: number): EndedRoot => ({ name: `span ${begin}`, begin, endTicks: 0 });
const begins = (table: OpenSpanTable): number[] =>
  table
    .all()
    .map(({ begin }) => begin)
    .sort((a, b) => a - b);

test.each([1, 3, 100, 1000])('of %i places the newest spans have one, and at most a quarter is empty', (max) => {
  const table = new OpenSpanTable(max);
  for (let i = 1; i <= max * 20; i++) {
    expect(table.add(span(i))).toBeGreaterThanOrEqual(0);
    expect(table.size).toBeLessThanOrEqual(max);
  }
  const left = begins(table);
  expect(left).toEqual(Array.from(left, (_, i) => max * 20 - left.length + 1 + i));
  expect(left.length).toBeGreaterThanOrEqual(Math.floor((max * 3) / 4));
  expect(table.forgotten + left.length).toBe(max * 20);
});

test('spans of one moment do not all go at once', () => {
  const table = new OpenSpanTable(400);
  for (let i = 0; i < 401; i++) table.add(span(7));
  expect(table.forgotten).toBe(100);
});

test('one that was forgotten does not take the place of another when it ends', () => {
  const table = new OpenSpanTable(4);
  const first = span(1);
  const place = table.add(first);
  for (let i = 2; i <= 5; i++) table.add(span(i));
  expect(table.forgotten).toBe(1);
  table.remove(place, first);
  expect(begins(table)).toEqual([2, 3, 4, 5]);
});
