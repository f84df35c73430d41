// What the recorder does beside its ring: for a process that may be gone in a moment, and for many traces at once.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { recoverSnapshot } from '../../src/flight-recorder/index.js';
import { MAX_OPEN_SPANS } from '../../src/flight-recorder/open-span-table.js';
import { LocalCollector, LocalSpan, SpanContext } from '../../src/index.js';
import { flight, namesOf } from './support/flight.js';

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
  const seen = [...snapshot().traces()].map(({ traceId, spans: [{ record, isOpen }] }) => {
    expect([isOpen, record.name]).toEqual([true, `open ${record.trace.traceState.slice(7)}`]);
    return `${traceId} ${record.trace.traceState.slice(7)}`;
  });
  expect(new Set(seen)).toEqual(ids);
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
