// Without the addon a timer says that the loop was busy, and Node's own entries when it collected garbage; neither grows past its bound.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { TimerTimeline } from '../../../src/flight-recorder/timeline/timeline.js';

const spin = (ms: number): void => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

let timeline: TimerTimeline;
afterEach(() => timeline.stop());

test('a timer that is late is a busy stretch, without parts', async () => {
  timeline = new TimerTimeline(20, 100);
  await sleep(50);
  const startUs = Date.now() * 1000;
  spin(120);
  const endUs = Date.now() * 1000;
  await sleep(50);
  const rows = timeline.rows().filter((one) => one.kind === 'busy' && one.endUs > startUs && one.startUs < endUs);
  // A busy machine may have made the timer late just before.
  const commonUs = rows.reduce((sum, row) => sum + Math.min(row.endUs, endUs) - Math.max(row.startUs, startUs), 0);
  expect(commonUs).toBeGreaterThan(90_000);
  expect(rows.flatMap(({ parts }) => parts)).toEqual([]);
  expect(timeline.counts().samples).toBe(0);
});

test('collections are there with their kind', async () => {
  timeline = new TimerTimeline(20, 100);
  for (let round = 0; round < 20; round++) {
    expect(Array.from({ length: 100_000 }, (_, i) => ({ i })).length).toBe(100_000);
    await sleep(1);
  }
  await sleep(50);
  const kinds = new Set(timeline.rows().flatMap(({ kind, detail }) => (kind === 'gc' ? [detail] : [])));
  expect(kinds).toContain('scavenge');
});

test('the newest are kept, what they replace is counted', async () => {
  timeline = new TimerTimeline(1, 2);
  for (let i = 0; i < 5; i++) {
    spin(40);
    await sleep(25);
  }
  expect(timeline.rows().filter(({ kind }) => kind === 'busy').length).toBe(2);
  expect(timeline.counts().rowsDropped).toBeGreaterThanOrEqual(3);
});

test('nothing comes after it was stopped', async () => {
  timeline = new TimerTimeline(1, 10);
  timeline.stop();
  const before = timeline.rows().length;
  spin(60);
  await sleep(30);
  expect(timeline.rows().length).toBe(before);
});
