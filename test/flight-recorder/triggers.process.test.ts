// What writes snapshots by itself, and how a process ends with it: as it would have without.
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { afterAll, expect, test, vi } from 'vitest';
import { readSnapshotFile, type Snapshot } from '../../src/flight-recorder/index.js';
import { never, Span } from '../../src/index.js';
import { bundleChild, root as packageRoot, runFile } from '../support/child.js';
import { fakeTimers } from '../support/fake-timers.js';
import { flight, namesOf } from './support/flight.js';

const directory = mkdtempSync(join(tmpdir(), 'spanline-triggers-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const fresh = (): string => mkdtempSync(join(directory, 'x'));

const readAll = (place: string): Promise<Snapshot[]> =>
  Promise.all(
    readdirSync(place)
      .filter((name) => name.endsWith('.flight'))
      .sort()
      .map((name) => readSnapshotFile(join(place, name))),
  );

const written = async (place: string, count = 1): Promise<Snapshot[]> => {
  const isThere = () => readdirSync(place).filter((name) => name.endsWith('.flight')).length >= count;
  for (let i = 0; i < 500 && !isThere(); i++) await sleep(10);
  return readAll(place);
};

const pause = (ms: number): void => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

test('a slow trace writes a snapshot that names it, and is sent although it was not sampled', async () => {
  const place = fresh();
  const { root, memory, collector } = flight({ sampler: never }, { triggers: { directory: place, slowMs: 300 } });
  // Of some microseconds: that a busy machine makes 300 ms of them is a matter of one in millions.
  root('fast').end();
  const slow = root('slow');
  Span.start('child', slow).end();
  const { traceId } = slow.context ?? {};
  pause(305);
  slow.end();
  Span.start('late', slow).end();
  const [snapshot] = await written(place);
  expect(snapshot.reason).toEqual({ kind: 'slow', text: expect.stringMatching(/^slow took [\d.e+]+ ms$/), traceId });
  expect(namesOf(snapshot).sort()).toEqual(['child', 'fast here', 'late', 'slow']);
  for (const name of readdirSync(place)) expect(statSync(join(place, name)).mode & 0o777).toBe(0o600);
  await collector.flush();
  expect(memory.tree()).toBe('slow\n  child\n  late');
});

test('a root whose name is no text ends as others do, slow or with an error', async () => {
  const fails = vi.fn(() => {
    throw new Error('of the program');
  });
  const name = { toString: fails } as unknown as string;
  for (const triggers of [{ slowMs: 1 }, { error: true }]) {
    const place = fresh();
    const { root } = flight({ sampler: never }, { triggers: { directory: place, ...triggers } });
    const span = root(name).setStatus('error');
    pause(2);
    span.end();
    const [snapshot] = await written(place);
    expect(snapshot.reason.text).toMatch(/^a root (took|has an error)/);
  }
});

test('slower than usual is seen once it is known what is usual', async () => {
  const place = fresh();
  const { root, recorder } = flight(
    {},
    { triggers: { directory: place, timesUsual: 3, minIntervalMs: 1, maxFiles: 100 } },
  );
  const one = root('op');
  pause(30);
  one.end();
  await turn();
  expect(readdirSync(place)).toEqual([]);
  // So many that the one in a hundred which is usual is none that lost the processor: those are one in a thousand on a busy machine (a span takes
  // microseconds, a turn of the scheduler some milliseconds), and that 50 of 5000 are is less likely than 1 in 10^30. One or the other of them may
  // well be slower than usual, and is seen then, too.
  for (let i = 0; i < 5000; i++) root('op').end();
  const isThere = async (): Promise<boolean> => {
    await sleep(20);
    const texts = (await readAll(place)).map(({ reason }) => reason.text);
    return texts.some((text) => Number(/^op took (\d+\.\d+) ms, where 99 of 100 take at most /.exec(text)?.[1]) >= 30);
  };
  // Again where a write of another one was under way.
  await vi.waitUntil(
    () => {
      const other = root('op');
      pause(30);
      other.end();
      return isThere();
    },
    { timeout: 20_000 },
  );
  recorder.stop();
});

test('an error anywhere in the trace, and what keep says of it', async () => {
  const place = fresh();
  const options = { triggers: { directory: place, error: true } };
  const { root, memory, collector } = flight({ keep: () => false }, options);
  const bad = root('bad');
  Span.start('child', bad).setStatus('error', 'no').end();
  bad.end();
  root('good').end();
  const [{ reason }] = await written(place);
  expect(reason).toMatchObject({ kind: 'error', text: 'bad has an error' });
  await collector.flush();
  expect(memory.spans.map(({ name }) => name)).toEqual(['bad', 'child']);
});

test('at most one file in the interval, at most so many files, the oldest deleted', async () => {
  const place = fresh();
  const options = { triggers: { directory: place, slowMs: 1, minIntervalMs: 60_000 } };
  const { root, recorder } = flight({}, options);
  for (let i = 0; i < 3; i++) {
    const one = root('slow');
    pause(2);
    one.end();
    await turn();
  }
  await written(place);
  expect(recorder.stats()).toMatchObject({ snapshots: 1, triggersSkipped: 2, failed: 0 });
  recorder.stop();
  const many = flight({}, { triggers: { directory: place, slowMs: 1, minIntervalMs: 1, maxFiles: 3 } });
  for (let i = 0; i < 6; i++) {
    const one = many.root('slow');
    pause(2);
    one.end();
    await vi.waitUntil(() => many.recorder.stats().snapshots > i, { timeout: 10_000 });
    // The interval is a millisecond.
    await sleep(2);
  }
  await vi.waitUntil(() => readdirSync(place).length === 3, { timeout: 10_000 });
  expect(many.recorder.stats()).toMatchObject({ snapshots: 6, failed: 0 });
  many.recorder.stop();
});

test('a write that fails is not a snapshot, and is tried again before the interval is over', async () => {
  const place = fresh();
  const { root, recorder } = flight({}, { triggers: { directory: place, error: true } });
  const fail = (): void => root('bad').setStatus('error').end();
  const settled = (): boolean => recorder.stats().failed + recorder.stats().snapshots > 0;
  fakeTimers('performance');
  rmSync(place, { recursive: true });
  // What is not a directory cannot be made one.
  writeFileSync(place, '');
  fail();
  await vi.waitUntil(settled, { timeout: 10_000 });
  expect(recorder.stats()).toMatchObject({ snapshots: 0, triggersSkipped: 0, failed: 1 });
  // Not at once: each of a thousand errors would be a write.
  fail();
  expect(recorder.stats()).toMatchObject({ snapshots: 0, triggersSkipped: 1, failed: 1 });
  rmSync(place);
  vi.advanceTimersByTime(1000);
  fail();
  await vi.waitUntil(() => recorder.stats().snapshots > 0, { timeout: 10_000 });
  expect(recorder.stats()).toMatchObject({ snapshots: 1, triggersSkipped: 1, failed: 1 });
  fail();
  expect(recorder.stats().triggersSkipped).toBe(2);
  recorder.stop();
});

test('without a directory a trigger still decides that its trace is sent', async () => {
  const { root, memory, collector } = flight({ sampler: never }, { triggers: { error: true } });
  root('bad').setStatus('error').end();
  await collector.flush();
  expect(memory.spans.map(({ name }) => name)).toEqual(['bad']);
});

test.each([
  ['throw', 1, null, 'uncaught-exception', 'Error: it broke'],
  ['reject', 1, null, 'unhandled-rejection', 'Error: it was rejected'],
  ['exit', 3, null, 'exit-code', 'exit code 3'],
  ['signal', null, 'SIGTERM', 'signal', 'SIGTERM'],
])('a process that ends by %s leaves a snapshot, and ends as it would have', async (end, code, signal, kind, text) => {
  const place = fresh();
  const child = await bundleChild(join(packageRoot, 'test/flight-recorder/children/crash.ts'));
  const result = await runFile(child, { env: { FLIGHT_DIR: place, FLIGHT_END: end } });
  expect([result.code, result.signal]).toEqual([code, signal]);
  const [snapshot, ...more] = await readAll(place);
  expect(more).toEqual([]);
  expect(snapshot.reason).toEqual({ kind, text, traceId: '' });
  expect(snapshot.spanCount).toBe(3002);
  expect(namesOf(snapshot)).toContain('last');
  expect(namesOf(snapshot)).toContain('open open');
});

test('a process that ends well leaves none', async () => {
  const place = fresh();
  const child = await bundleChild(join(packageRoot, 'test/flight-recorder/children/crash.ts'));
  expect((await runFile(child, { env: { FLIGHT_DIR: place } })).code).toBe(0);
  expect(readdirSync(place)).toEqual([]);
});
