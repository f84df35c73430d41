// Chunks whose spans were reported are used again, and nobody who may still read a trace ever sees spans of another one.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Collector, LocalSpan, type ReportBatch, type Reporter, Span, type Trace } from '../../src/index.js';
import { samples } from '../support/samples.js';

let collector: Collector;
let next = 0;

beforeEach(() => {
  collector = new Collector();
  next = 0;
});
// One of the reporters records with each report, which would go on for ever.
afterEach(() => collector.setReporter([]));

/** Traces of ten spans, all of whose names and values have the number of the trace. */
const record = (traces: number): void => {
  for (let i = 0; i < traces; i++) {
    const n = next++;
    const root = Span.root(`root ${n % 50}`, undefined, { collector });
    root.addProperty('trace', n).addProperty('text', `trace ${n}`);
    root.run(() => {
      for (let j = 0; j < 9; j++) LocalSpan.start('local').addProperty('trace', n).end();
    });
    root.end();
  }
};

/** The number of a trace; throws when its spans are not all of one. */
const numberOf = (trace: Trace): number => {
  const numbers = new Set(trace.spans.map((span) => span.properties.trace));
  const [n] = numbers;
  expect([numbers.size, trace.spanCount, trace.root?.properties.text]).toEqual([1, 10, `trace ${String(n)}`]);
  return n as number;
};

const sorted = (numbers: readonly number[]): number[] => [...numbers].sort((a, b) => a - b);
const first = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/** Records until chunks would be used again if they could be. */
const goOn = async (): Promise<void> => {
  for (let i = 0; i < 6; i++) {
    record(800);
    await collector.flush();
  }
};

describe('a reporter that keeps no trace', () => {
  test('gives chunks back, which are used again', async () => {
    const seen: number[] = [];
    collector.setReporter({
      name: 'reads',
      keepsNoTrace: true,
      report: ({ traces }) => void seen.push(...traces.map(numberOf)),
    });
    await goOn();
    expect(sorted(seen)).toEqual(first(4800));
    const { rowChunks, rowChunksPooled } = collector.stats();
    expect(rowChunks).toBeLessThanOrEqual(1);
    expect(rowChunksPooled).toBeGreaterThan(2);
    expect(rowChunksPooled).toBeLessThanOrEqual(16);
    const before = process.memoryUsage().arrayBuffers;
    for (let i = 0; i < samples(3, 20); i++) await goOn();
    // 14,400 traces of ten spans each were some 12 MB of chunks; those that are kept are 4 MB at most.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 2 ** 20);
  });

  test('that reads a trace after all gets an error, never other spans', async () => {
    const kept: Trace[] = [];
    collector.setReporter({ name: 'lies', keepsNoTrace: true, report: ({ traces }) => void kept.push(...traces) });
    record(1);
    await collector.flush();
    expect(() => kept[0].spanAt(0)).toThrow(/keepsNoTrace/);
    expect(() => kept[0].spans).toThrow(expect.objectContaining({ code: 'ERR_SPANLINE_TRACE_RELEASED' }));
  });

  test('and was given up after its time goes on to read what it was given', async () => {
    collector.configure({ reportTimeoutMs: 20, retryMinMs: 1, retryMaxMs: 1 });
    const late: number[] = [];
    let calls = 0;
    let goOnReading: (() => void) | undefined;
    collector.setReporter({
      name: 'slow',
      keepsNoTrace: true,
      async report({ traces }) {
        if (++calls > 1) return;
        await new Promise<void>((resolve) => {
          goOnReading = resolve;
        });
        late.push(...traces.map(numberOf));
      },
    });
    record(500);
    await collector.flush();
    expect(calls).toBeGreaterThan(1);
    await goOn();
    goOnReading?.();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(sorted(late)).toEqual(first(500));
  });
});

describe('what a program may have kept stays as it was', () => {
  const ours: Reporter = { name: 'ours', keepsNoTrace: true, report: ({ traces }) => void traces.map(numberOf) };

  test('traces of a reporter beside one that keeps none', async () => {
    const kept: Trace[] = [];
    const keeps: Reporter = { name: 'keeps', report: ({ traces }) => void kept.push(...traces) };
    collector.setReporter([ours, keeps]);
    record(500);
    await collector.flush();
    await goOn();
    expect(sorted(kept.slice(0, 500).map(numberOf))).toEqual(first(500));
  });

  test('a batch that is read later', async () => {
    const batches: ReportBatch[] = [];
    collector.setReporter([ours, { name: 'later', report: (batch) => void batches.push(batch) }]);
    record(500);
    await collector.flush();
    await goOn();
    expect(sorted(batches[0].traces.map(numberOf))).toEqual(first(500));
  });

  test('a trace that `keep` was asked about', async () => {
    const kept: Trace[] = [];
    collector.configure({
      keep(trace) {
        kept.push(trace as Trace);
        return true;
      },
    });
    collector.setReporter(ours);
    record(500);
    await collector.flush();
    await goOn();
    expect(sorted(kept.slice(0, 500).map(numberOf))).toEqual(first(500));
  });

  test('a batch that failed and is sent again', async () => {
    const seen: number[] = [];
    let calls = 0;
    collector.configure({ retryMinMs: 1, retryMaxMs: 1 });
    collector.setReporter({
      name: 'fails',
      keepsNoTrace: true,
      async report({ traces }) {
        const numbers = traces.map(numberOf);
        record(300);
        await undefined;
        if (calls++ % 2 === 0) throw new Error('not now');
        seen.push(...numbers);
      },
    });
    record(500);
    for (let i = 0; i < 10; i++) await collector.flush();
    expect(sorted(seen).slice(0, 2000)).toEqual(first(2000));
  });
});
