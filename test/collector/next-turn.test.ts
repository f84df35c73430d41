// Nothing of a reporter or of `keep` runs while a span ends: what passes the bound of the queue waits for the next turn of the event loop, up to twice the
// bound; beyond that the oldest traces are dropped, and counted.
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Collector, type Reporter, Span } from '../../src/index.js';
import { ROW_BYTES } from '../../src/rows/row-chunk.js';
import { TRACE_BYTES } from '../../src/rows/trace-table.js';
import { useOwnNames } from '../support/names.js';

// The bytes of a span depend on whether its name has a number.
useOwnNames();

/** Of a trace of one span without properties. */
const BYTES = ROW_BYTES + TRACE_BYTES;

interface Watched {
  readonly collector: Collector;
  readonly names: string[];
  /** Calls of `report` and `keep` while `end` ran. */
  inside: number;
  end(count: number): void;
}

const watched = (maxTraces: number): Watched => {
  let isEnding = false;
  const names: string[] = [];
  const note = (): void => {
    if (isEnding) it.inside++;
  };
  const reporter: Reporter = {
    name: 'watched',
    report({ traces }) {
      note();
      names.push(...traces.map(({ root }) => root?.name ?? ''));
    },
  };
  const keep = (): boolean => {
    note();
    return true;
  };
  const collector = new Collector({ maxQueuedBytes: maxTraces * BYTES, keep });
  collector.setReporter(reporter);
  let started = 0;
  const it: Watched = {
    collector,
    names,
    inside: 0,
    end(count) {
      for (let i = 0; i < count; i++) {
        const root = Span.root(`t${started++}`, undefined, { collector });
        isEnding = true;
        root.end();
        isEnding = false;
      }
    },
  };
  return it;
};

test('a synchronous stretch up to twice the bound is reported in the next turn, whole', async () => {
  const it = watched(50);
  it.end(100);
  expect([it.inside, it.names.length, it.collector.stats().readyTraces]).toEqual([0, 0, 100]);
  await turn();
  expect(it.names).toEqual(Array.from({ length: 100 }, (_, i) => `t${i}`));
  expect(it.collector.stats()).toMatchObject({ readyTraces: 0, readyBytes: 0, droppedTracesQueueFull: 0 });
});

test('beyond that the oldest are dropped, each counted', async () => {
  const it = watched(50);
  it.end(500);
  const { readyTraces, readyBytes, droppedTracesQueueFull, droppedSpansQueueFull } = it.collector.stats();
  expect(readyBytes).toBeLessThanOrEqual(2 * 50 * BYTES);
  expect(droppedTracesQueueFull).toBe(500 - readyTraces);
  expect(droppedSpansQueueFull).toBe(droppedTracesQueueFull);
  await turn();
  expect(it.inside).toBe(0);
  expect(it.names).toEqual(Array.from({ length: readyTraces }, (_, i) => `t${500 - readyTraces + i}`));
});

test('what comes after the turn has the whole bound again', async () => {
  const it = watched(50);
  for (let round = 0; round < 5; round++) {
    it.end(90);
    await turn();
  }
  expect([it.inside, it.names.length]).toEqual([0, 450]);
  expect(it.collector.stats().droppedTracesQueueFull).toBe(0);
});
