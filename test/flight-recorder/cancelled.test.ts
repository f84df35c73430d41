// What is cancelled is shown to nobody, however many traces are cancelled and wherever their spans lie, and is not counted as held.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readSnapshotFile } from '../../src/flight-recorder/index.js';
import { writeSnapshotFile } from '../../src/flight-recorder/snapshot-file.js';
import { LocalCollector, LocalSpan, Span } from '../../src/index.js';
import { flight, linesOf, namesOf } from './support/flight.js';

const directory = mkdtempSync(join(tmpdir(), 'spanline-cancelled-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('of five thousand traces cancelled after they were held, none comes back', async () => {
  const { root, collector, snapshot, recorder } = flight();
  for (let i = 0; i < 5000; i++) {
    const one = root('refused');
    Span.start('child', one).end();
    if (i % 100 === 0) Span.start('kept', root('open')).end();
    if (i % 10 === 0) collector.observeNow();
    one.cancel();
    one.end();
  }
  const taken = snapshot();
  const names = namesOf(taken);
  expect([names.filter((name) => name === 'kept').length, names.includes('child')]).toEqual([50, false]);
  expect(taken.spanCount).toBe(names.length);
  expect(recorder.stats()).toMatchObject({ spans: 50, openSpans: 50, failed: 0 });
  const path = join(directory, 'cancelled.flight');
  await writeSnapshotFile(taken, path);
  const read = await readSnapshotFile(path);
  expect(linesOf(read)).toEqual(linesOf(taken));
  expect(read.spanCount).toBe(names.length);
});

test('a trace in many blocks is gone from all of them, and a snapshot that was taken before stays as it was', async () => {
  const { root, collector, snapshot, recorder } = flight();
  const one = root('refused');
  for (let i = 0; i < 50; i++) {
    Span.start('child', one).end();
    root('kept').end();
    collector.observeNow();
  }
  const before = snapshot();
  const lines = linesOf(before);
  expect(before.spanCount).toBe(101);
  one.cancel();
  expect(linesOf(before)).toEqual(lines);
  // What was not read before it was cancelled is the same cut, too.
  const path = join(directory, 'before.flight');
  await writeSnapshotFile(before, path);
  const read = await readSnapshotFile(path);
  expect([linesOf(read), read.spanCount, read.tornRows]).toEqual([lines, 101, 0]);
  const after = snapshot();
  expect([new Set(namesOf(after)), after.spanCount]).toEqual([new Set(['kept']), 50]);
  expect(recorder.stats().spans).toBe(50);
});

test('the ring counts right when blocks with cancelled traces are let go', () => {
  const { root, collector, recorder } = flight({}, { maxBytes: 1 << 20 });
  for (let i = 0; i < 20_000; i++) {
    const one = root('refused');
    Span.start('child', one).end();
    root('kept').end();
    if (i % 1000 === 999) collector.observeNow();
    if (i % 2000 === 999) one.cancel();
    else one.end();
  }
  collector.observeNow();
  const { spans, spansEvictedEarly } = recorder.stats();
  expect(spans).toBeGreaterThan(5000);
  expect(spans + spansEvictedEarly).toBe(20_000 * 3 - 10 * 2);
});

test('a batch of a trace that is reported while it is open is gone with it', async () => {
  const { root, snapshot, collector } = flight({ reportOpenTraces: true });
  const one = root('refused');
  const local = LocalCollector.start();
  LocalSpan.start('batched').end();
  one.pushChildSpans(local.collect());
  await collector.flush();
  one.cancel();
  root('kept').end();
  expect(namesOf(snapshot())).toEqual(['kept']);
});

test('a trace that was held by a recorder before is found by the one that took its place', () => {
  const first = flight();
  for (let i = 0; i < 10; i++) {
    first.root('other').end();
    first.collector.observeNow();
  }
  const second = flight();
  const one = second.root('refused');
  Span.start('child', one).end();
  second.collector.observeNow();
  one.cancel();
  expect(namesOf(second.snapshot())).toEqual([]);
});
