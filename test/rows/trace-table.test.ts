// The table of traces by number: a number that is used again has nothing of the trace before, and bits are set and cleared alone.
import { expect, test } from 'vitest';
import { TraceBit, TraceTable, TraceWord } from '../../src/rows/trace-table.js';

const KEY = { w0: 1, w1: -2, w2: 3, w3: -4, traceState: 'a=b', isRandom: true };

test('bits are cleared of the trace that is named, and no others', () => {
  const table = new TraceTable();
  const [one, two, three] = [1, 2, 3].map(() => table.acquire(KEY, undefined, TraceBit.hidden | TraceBit.unwanted));
  table.clearBits(two, TraceBit.hidden);
  expect([one, two, three].map((number) => table.has(number, TraceBit.hidden))).toEqual([true, false, true]);
  expect([one, two, three].map((number) => table.has(number, TraceBit.unwanted))).toEqual([true, true, true]);
  expect(table.has(two, TraceBit.random)).toBe(true);
});

test('a number that is used again has nothing of the trace before', () => {
  const table = new TraceTable();
  const first = table.acquire(KEY, { of: 'the first' }, TraceBit.hidden);
  table.grow(first, 3, 100);
  table.mount(first, { count: 2 });
  table.set(first, TraceWord.refused, 5);
  table.setAnchor(first, { of: 'the first' });
  table.release(first);
  const other = { w0: 5, w1: 6, w2: 7, w3: 8, traceState: '', isRandom: false };
  const second = table.acquire(other, undefined, 0);
  expect(second).toBe(first);
  expect(table.keyOf(second)).toEqual(other);
  expect([table.resourceOf(second), table.anchorOf(second), table.rootProperties(second)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect([table.get(second, TraceWord.spans), table.stored(second), table.mounts.size]).toEqual([0, 0, 0]);
  expect(table.has(second, TraceBit.hidden)).toBe(false);
});

test('a trace has the resource that it began with, whatever those after it have, also when it comes back', () => {
  const table = new TraceTable();
  const [early, late] = [{ of: 'early' }, { of: 'late' }];
  const resourcesOf = (...numbers: readonly number[]): unknown[] => numbers.map((number) => table.resourceOf(number));
  const first = table.acquire(KEY, early, 0);
  const second = table.acquire(KEY, early, 0);
  const third = table.acquire(KEY, late, 0);
  const without = table.acquire(KEY, undefined, 0);
  expect(resourcesOf(first, second, third, without)).toEqual([early, early, late, undefined]);
  const serial = table.get(first, TraceWord.serial);
  table.release(first);
  const back = table.acquire(KEY, early, 0, serial);
  const fourth = table.acquire(KEY, late, 0);
  expect(resourcesOf(back, second, third, fourth)).toEqual([early, early, late, late]);
});

test('what is remembered of a dropped trace is by its serial number, not by the number that another has now', () => {
  const table = new TraceTable();
  const serials = [1, 2, 3].map(() => table.get(table.acquire(KEY, undefined, 0), TraceWord.serial));
  expect(new Set([0, ...serials]).size).toBe(4);
  expect(serials.map((serial) => table.wasDropped(serial))).toEqual([false, false, false]);
  table.setDropped(serials[1]);
  expect(serials.map((serial) => table.wasDropped(serial))).toEqual([false, true, false]);
});
