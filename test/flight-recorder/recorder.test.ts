// What the recorder does beside its ring: for a process that may be gone in a moment, and for many traces at once.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { recoverSnapshot } from '../../src/flight-recorder/index.js';
import { MAX_OPEN_SPANS } from '../../src/flight-recorder/open-spans.js';
import { LocalCollector, LocalSpan, never, Span, SpanContext, stats } from '../../src/index.js';
import { ROW_BYTES } from '../../src/rows/row-chunk.js';
import { TRACE_BYTES } from '../../src/rows/trace-table.js';
import { useOwnNames } from '../support/names.js';
import { flight, namesOf } from './support/flight.js';

useOwnNames();

const directory = mkdtempSync(join(tmpdir(), 'spanline-recorder-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('batches mounted by hand reach the files without a snapshot', async () => {
  const place = mkdtempSync(join(directory, 'x'));
  const { root, recorder, collector } = flight({}, { file: place });
  const one = root('one');
  const local = LocalCollector.start();
  LocalSpan.start('batched').end();
  one.pushChildSpans(local.collect());
  one.end();
  await collector.flush();
  const names = async (): Promise<string[]> => namesOf(await recoverSnapshot(place));
  await vi.waitUntil(async () => (await names()).includes('batched'), { timeout: 10_000 });
  expect(await names()).toEqual(['one', 'batched']);
  recorder.stop();
});

test('as many traces as there are open spans are each there with their own, tracestates too', () => {
  const { root, snapshot } = flight();
  const ids = new Set<string>();
  for (let i = 0; i < MAX_OPEN_SPANS; i++) {
    const traceId = `b${i.toString(16).padStart(31, '0')}`;
    ids.add(`${traceId} ${i}`);
    root(`open ${i}`, SpanContext.fromTraceparent(`00-${traceId}-b7ad6b7169203331-01`, `vendor=${i}`));
  }
  const wrong: string[] = [];
  for (const { traceId, spans } of snapshot().traces()) {
    const [{ record, isOpen }] = spans;
    const number = record.trace.traceState.slice(7);
    if (!isOpen || record.name !== `open ${number}` || !ids.delete(`${traceId} ${number}`)) wrong.push(record.name);
  }
  expect([wrong, [...ids]]).toEqual([[], []]);
});

test('batches of many traces are each under their own', async () => {
  const { root, snapshot, collector } = flight();
  for (let i = 0; i < 5000; i++) {
    const one = root(`one ${i}`);
    const local = LocalCollector.start();
    LocalSpan.start(`batched ${i}`).end();
    one.pushChildSpans(local.collect());
    one.end();
  }
  await collector.flush();
  const traces = [...snapshot().traces()].map(({ spans }) => spans.map(({ record }) => record.name).join(', '));
  expect(traces).toEqual(Array.from({ length: 5000 }, (_, i) => `one ${i}, batched ${i}`));
});

test.each(['evicted', 'not kept', 'ended after the shutdown'])(
  'what comes of a trace that was %s is held all the same',
  async (how) => {
    const options = how === 'evicted' ? { maxOpenTraces: 1 } : { keep: () => how !== 'not kept' };
    // What is not kept ends before the pause, and must not be slow however busy the machine is.
    const slowMs = how === 'not kept' ? 600_000 : 5;
    const { root, snapshot, memory, collector } = flight(options, { triggers: { slowMs } });
    const one = root('one');
    Span.start('before', one).end();
    const local = LocalCollector.start();
    LocalSpan.start('batched').end();
    one.pushChildSpans(local.collect());
    if (how === 'evicted') root('other').cancel();
    if (how === 'not kept') {
      one.end();
      await collector.flush();
    }
    if (how === 'ended after the shutdown') await collector.shutdown();
    const { spansOfDiscardedTraces: before, spansLate } = stats();
    const child = Span.start('after', one);
    child.run(() => LocalSpan.start('inside').end());
    // Of the others some spans were on their way already: other processes were told that it is sampled.
    const mark = how === 'evicted' ? ' here' : '';
    expect(namesOf(snapshot())).toContain(`after${mark} open`);
    child.end();
    // It is slow, and what is left of it would be a part that looks whole.
    await new Promise((resolve) => setTimeout(resolve, 10));
    one.end();
    await collector.flush();
    expect(namesOf(snapshot()).sort()).toEqual(
      ['after', 'batched', 'before', 'inside', 'one'].map((name) => name + mark),
    );
    expect(memory.spans).toEqual([]);
    if (how === 'evicted') expect(stats().spansOfDiscardedTraces - before).toBe(3);
    if (how === 'not kept')
      expect([stats().spansOfDiscardedTraces - before, stats().spansLate - spansLate]).toEqual([2, 0]);
    // Others are told that it is not sampled.
    expect(Span.start('next', one).context?.sampled).toBe(false);
  },
);

test('a trace that was let go is cancelled as any other, and is over when the recorder is', () => {
  const { root, snapshot, recorder, collector } = flight({ maxOpenTraces: 1 });
  const one = root('one');
  root('other');
  Span.start('after', one).end();
  collector.observeNow();
  one.cancel();
  expect(namesOf(snapshot()).some((name) => name.startsWith('after'))).toBe(false);
  const two = root('two');
  root('last');
  recorder.stop();
  Span.start('after', two).end();
  expect(Span.start('more', two).isRecording).toBe(false);
});

test('a flood of spans that are for the recorder alone takes bounded memory before the event loop turns', () => {
  const maxQueuedBytes = 1 << 20;
  const { root, collector, recorder } = flight({ sampler: never, maxQueuedBytes }, { maxBytes: 2 << 20 });
  for (let i = 0; i < 50_000; i++) root('here').end();
  expect(collector.stats().rowBytes).toBeLessThan(16 << 20);
  expect(recorder.stats().spans + recorder.stats().spansEvictedEarly).toBeGreaterThan(
    50_000 - 1 - maxQueuedBytes / (ROW_BYTES + TRACE_BYTES),
  );
});

test.each([
  ['that is open', 'one\n  failing\n  after'],
  ['that was evicted', 'one\n  failing\n  after'],
  ['that was evicted, and whose first rows the recorder has taken', 'one\n  after'],
])('a trigger has a trace reported %s, with what waits of it', async (how, tree) => {
  const { root, memory, collector, recorder } = flight(
    { sampler: never, maxOpenTraces: 1 },
    { triggers: { error: true } },
  );
  const one = root('one');
  Span.start('failing', one).setStatus('error').end();
  if (how !== 'that is open') root('other').cancel();
  if (how.endsWith('taken')) await collector.flush();
  Span.start('after', one).end();
  one.end();
  await collector.flush();
  expect(memory.tree()).toBe(tree);
  expect(collector.stats()).toMatchObject({ readyTraces: 0, readyBytes: 0, openTraces: 0, openBytes: 0 });
  recorder.stop();
});
