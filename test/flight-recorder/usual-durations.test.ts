// What an operation usually takes is known of those that are used, however many names there are and were.
import { expect, test } from 'vitest';
import { MAX_OPERATIONS, UsualDurations } from '../../src/flight-recorder/usual-durations.js';

const MS = 1e6;

const use = (usual: UsualDurations, name: string, times: number, ns = MS): number | undefined => {
  let last: number | undefined;
  for (let i = 0; i < times; i++) last = usual.add(name, ns);
  return last;
};

test('the 99th percentile is known after 200 of a name, and follows what comes later', () => {
  const usual = new UsualDurations();
  expect(use(usual, 'op', 200)).toBeUndefined();
  const p99 = usual.add('op', MS) as number;
  expect(p99 / MS).toBeGreaterThanOrEqual(1);
  expect(p99 / MS).toBeLessThan(1.2);
  const later = use(usual, 'op', 30_000, 8 * MS) as number;
  expect(later / MS).toBeGreaterThanOrEqual(8);
});

test('one in a hundred may be slow, three may not', () => {
  const usual = new UsualDurations();
  for (let i = 0; i < 1000; i++) usual.add('op', i % 200 === 0 ? 100 * MS : MS);
  expect((usual.add('op', MS) as number) / MS).toBeLessThan(1.2);
  for (let i = 0; i < 1000; i++) usual.add('op', i % 33 === 0 ? 100 * MS : MS);
  expect((usual.add('op', MS) as number) / MS).toBeGreaterThan(90);
});

test('names that come once drive nothing out, and are counted', () => {
  const usual = new UsualDurations();
  for (let i = 0; i < MAX_OPERATIONS; i++) usual.add(`op ${i}`, MS);
  for (let i = 0; i < 100_000; i++) usual.add(`GET /user/${i}`, MS);
  expect(usual).toMatchObject({ names: MAX_OPERATIONS, refused: 100_000, forgotten: 0 });
});

test('operations that are used no more make room for those that are', () => {
  const usual = new UsualDurations();
  for (let i = 0; i < MAX_OPERATIONS; i++) use(usual, `old ${i}`, 1000);
  for (let round = 0; round < 2000; round++) {
    for (let i = 0; i < 20; i++) usual.add(`new ${i}`, MS);
    // Still in use: it must stay all the time.
    usual.add('old 7', MS);
  }
  for (let i = 0; i < 20; i++) expect(usual.add(`new ${i}`, MS)).toBeDefined();
  expect(usual.add('old 7', MS)).toBeDefined();
  expect(usual.names).toBe(MAX_OPERATIONS);
  expect(usual.forgotten).toBe(20);
  expect(usual.refused).toBeGreaterThan(0);
});

test('a name of a kilobyte, or none at all, finds no place', () => {
  const usual = new UsualDurations();
  usual.add('x'.repeat(1000), MS);
  usual.add(undefined as unknown as string, MS);
  expect(usual).toMatchObject({ names: 0, refused: 2 });
});
