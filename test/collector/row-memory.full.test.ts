// Memory of rows: what waits, what is kept by others and what nobody wants hold what they must, and no chunk more.
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  Collector,
  type CollectorOptions,
  LocalCollector,
  LocalSpan,
  type ReportBatch,
  Span,
  type Trace,
} from '../../src/index.js';
import { CHUNK_ROWS } from '../../src/rows/row-chunk.js';
import { counted, recorder } from '../support/recorder.js';

const MB = 1 << 20;

const settled = async (): Promise<void> => {
  for (let i = 0; i < 4; i++) {
    await setImmediate();
    globalThis.gc?.();
  }
};

// Each bound below lies between what a test holds (measured beside a load of ten on each core: 0.02 to 4.2 MB, most of it chunks that wait to be used
// again, of 0.17 MB each) and what it would hold with the fault that it looks for, which a comment says.

/** Megabytes in use, outside the heap and on it. */
const buffered = async (): Promise<number> => {
  await settled();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / MB;
};

const growth = async (work: () => unknown): Promise<number> => {
  const before = await buffered();
  await work();
  return (await buffered()) - before;
};

const collectorTo = (
  report: (batch: ReportBatch) => void | Promise<void>,
  options: CollectorOptions = {},
): Collector => {
  const collector = new Collector({ reportIntervalMs: 1e9, ...options });
  collector.setReporter({ name: 'own', report });
  return collector;
};

const trace = (collector: Collector, spans: number, name = 'span'): void => {
  const root = Span.root('root', undefined, { collector });
  for (let i = 1; i < spans; i++) Span.start(name, root).end();
  root.end();
};

test('a trace of each report that a reporter keeps, read or not, does not hold the chunks', async () => {
  const kept: Trace[] = [];
  const collector = collectorTo(({ traces }) => void kept.push(traces[0]));
  const grown = await growth(async () => {
    for (let i = 0; i < 100; i++) {
      trace(collector, 2);
      trace(collector, CHUNK_ROWS - 2);
      await collector.flush();
    }
  });
  // 1.2 of kept traces; a hundred chunks are 17.
  expect(grown).toBeLessThan(5);
  expect(kept.map(({ spanCount, spans }) => [spanCount, ...spans.map(({ name }) => name)])).toEqual(
    Array.from({ length: 100 }, () => [2, 'root', 'span']),
  );
});

test('a trace kept in part by two reporters is whole for both, whichever settles first', async () => {
  const slow: Trace[] = [];
  const fast: Trace[] = [];
  const collector = new Collector();
  let settle = (): void => {};
  collector.setReporter([
    { name: 'fast', report: ({ traces }) => void fast.push(...traces) },
    {
      name: 'slow',
      report: ({ traces }) => {
        slow.push(...traces);
        traces[0].spanAt(1);
        return new Promise((resolve) => {
          settle = resolve;
        });
      },
    },
  ]);
  trace(collector, 3);
  trace(collector, 4);
  const flushed = collector.flush();
  await setImmediate();
  const names = slow.map(({ spans }) => spans.map(({ name }) => name));
  settle();
  await flushed;
  expect(names.map((list) => list.length)).toEqual([3, 4]);
  expect(fast.map(({ spans }) => spans.map(({ name }) => name))).toEqual(names);
});

test('what waits for a reporter that is down holds about what is counted', async () => {
  let settle = (): void => {};
  const collector = collectorTo(
    () =>
      new Promise((resolve) => {
        settle = resolve;
      }),
  );
  const grown = await growth(async () => {
    for (let i = 0; i < 500; i++) {
      trace(collector, 3);
      void collector.flush({ timeoutMs: 0 });
      await setImmediate();
    }
  });
  const { own } = collector.stats().reporters;
  expect(own.queuedSpans).toBe(1500);
  // 2.6 of 500 parts; with a chunk each they would hold 85.
  expect(grown).toBeLessThan(10);
  settle();
});

test('keep that drops 99 of 100 traces leaves what is kept', async () => {
  let number = 0;
  let settle = (): void => {};
  const collector = collectorTo(
    () =>
      new Promise((resolve) => {
        settle = resolve;
      }),
    { keep: () => number++ % 100 === 0 },
  );
  const changes = await counted(async () => {
    const grown = await growth(async () => {
      for (let round = 0; round < 40; round++) {
        for (let i = 0; i < 500; i++) trace(collector, 10);
        void collector.flush({ timeoutMs: 0 });
        await setImmediate();
      }
    });
    // 0.8; all of the 200,000 spans are 16 MB of rows.
    expect(grown).toBeLessThan(6);
  });
  expect(changes).toEqual({ tracesStarted: 20_000, tracesNotKept: 19_800, spansOfDiscardedTraces: 198_000 });
  settle();
});

test('300,000 spans that are never ended keep no memory', async () => {
  const { root, tree } = recorder({ maxSpansPerTrace: 1e6 });
  const span = root('root');
  const grown = await growth(() => {
    for (let i = 0; i < 300_000; i++) Span.start('lost', span).addProperty('i', i);
  });
  // 0.02; ten bytes of each are 3.
  expect(grown).toBeLessThan(3);
  span.end();
  expect(await tree()).toBe('root');
});

test('a root open for long with one child a chunk does not hold the chunks', async () => {
  const { root, memory, collector } = recorder();
  const long = root('long');
  for (let i = 0; i < 100; i++) {
    Span.start('child', long).end();
    const other = root('other');
    for (let n = 2; n < CHUNK_ROWS; n++) Span.start('x', other).end();
    if (i % 2 === 0) other.cancel();
    other.end();
    if (i % 8 === 0) await collector.flush();
    expect(collector.stats().rowChunks).toBeLessThan(24);
  }
  expect(collector.stats().chunksCompacted).toBeGreaterThan(0);
  long.end();
  await collector.flush();
  expect(memory.traces.find(({ spans }) => spans[0].name === 'long')?.spans.length).toBe(101);
  expect(collector.stats().rowChunks).toBeLessThanOrEqual(1);
});

test('rows of cancelled and evicted traces are let go', async () => {
  const { root, collector } = recorder({ maxOpenTraces: 4 });
  for (let i = 0; i < 200; i++) {
    const span = root('root');
    for (let n = 0; n < 1000; n++) Span.start('x', span).end();
    if (i % 2 === 0) span.cancel();
    expect(collector.stats().rowChunks).toBeLessThan(16);
  }
});

test('a root that collects its own spans holds nothing once it is let go', async () => {
  const { collector } = recorder({ maxOpenTraces: 1 });
  const spans: Span[] = [];
  const grown = await growth(() => {
    for (let i = 0; i < 20; i++) {
      const [span] = Span.rootWithCollector('root', undefined, { collector });
      for (let n = 0; n < 20_000; n++) Span.start('x', span).end();
      spans.push(span);
    }
  });
  // 4.2, of chunks that are used again; 400,000 rows are 32.
  expect(grown).toBeLessThan(12);
});

test('batches of one span count what they hold', async () => {
  const { root, collector } = recorder({ maxOpenBytes: 4 * MB });
  const grown = await growth(() => {
    const span = root('root');
    for (let i = 0; i < 20_000 && span.isRecording; i++) {
      const [, spans] = LocalCollector.run(() => LocalSpan.start('x').end());
      span.pushChildSpans(spans);
    }
    expect(collector.stats().openBytes).toBeLessThanOrEqual(4 * MB);
  });
  // The bound of what is counted, and as much again.
  expect(grown).toBeLessThan(8);
});

test('a name or a value that is a part of a long text does not keep it', async () => {
  const { root, collector } = recorder();
  const span = root('root');
  const grown = await growth(() => {
    for (let i = 0; i < 40; i++) {
      const long = `${i}${'abcdefgh'.repeat(MB / 8)}`;
      JSON.stringify([long]);
      Span.start(long.slice(0, 30), span).addProperty(long.slice(0, 31), true).end();
    }
  });
  // 0.1; the texts are 40.
  expect(grown).toBeLessThan(8);
  expect(collector.stats().openTraces).toBe(1);
});
