// Spans leave with the CPU time of their profile; they wait for it within bounds, and none is lost whatever fails.
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { MemoryReporter } from '../../../../src/exporters/memory.js';
import {
  Collector,
  type ReportBatch,
  type Reporter,
  Span,
  SpanContext,
  type SpanRecord,
} from '../../../../src/index.js';
import { CpuReporter, continuousProfiler, type RunningProfile, startProfile } from '../../src/index.js';
import { busyFor } from '../support/busy-work.js';

/** Of CPU time; with a sample each half of a millisecond. */
const MS = 60;

let running: RunningProfile | undefined;
afterEach(() => {
  try {
    running?.stop();
  } catch {
    // The test stopped it.
  }
  running = undefined;
});

const begin = async (): Promise<RunningProfile> => {
  running = await startProfile({ everyMs: 0.5 });
  return running;
};

const setUp = (options: ConstructorParameters<typeof CpuReporter>[1] = {}, inner: Reporter = new MemoryReporter()) => {
  const reporter = new CpuReporter(inner, options);
  const collector = new Collector({ reportIntervalMs: 1 });
  collector.setReporter(reporter);
  onTestFinished(async () => void (await collector.shutdown()));
  const root = (name: string, ms: number): void => {
    const span = Span.root(name, SpanContext.random(), { collector });
    span.run(() => {
      busyFor(ms / 2);
      Span.startWithLocalParent(`${name} child`).runToEnd(() => busyFor(ms / 2));
      Span.startWithLocalParent(`${name} tiny`).end();
    });
    span.end();
  };
  return { reporter, collector, memory: inner as MemoryReporter, root };
};

const numbers = (memory: MemoryReporter, name: string): Readonly<Record<string, number>> => {
  const span = memory.find(name);
  if (span === undefined) return expect.unreachable(`no span ${name}`);
  return span.properties as Record<string, number>;
};

const turn = (ms = 20): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await turn();
};

describe('with a profile on demand', () => {
  test('traces wait for it and leave with their CPU time, parents with that of their children', async () => {
    const { reporter, memory, root } = setUp();
    const profile = await begin();
    root('a', MS);
    await until(() => reporter.stats().bufferedTraces === 1);
    expect(memory.spans).toEqual([]);
    reporter.add(profile.stop());
    await until(() => memory.spans.length === 3);
    const a = numbers(memory, 'a');
    const child = numbers(memory, 'a child');
    expect(child['cpu.samples']).toBeGreaterThan(0);
    expect(a['cpu.samples']).toBeGreaterThan(child['cpu.samples']);
    expect(a['cpu.ns']).toBeGreaterThan(child['cpu.ns']);
    for (const { 'cpu.ns': ns, 'cpu.stderr_ns': stderr } of [a, child]) {
      expect(Number.isInteger(ns) && Number.isInteger(stderr)).toBe(true);
      expect(stderr).toBeLessThan(ns);
    }
    expect(a['cpu.coverage']).toBeUndefined();
    expect(memory.find('a tiny')?.properties).toEqual({});
    expect(reporter.stats()).toMatchObject({
      bufferedTraces: 0,
      bufferedSpans: 0,
      tracesWithCpu: 1,
      tracesWithoutCpu: 0,
    });
  });

  test('a root that was not met by a sample says so; one that began before says how much was seen', async () => {
    const { reporter, memory, collector } = setUp();
    const early = Span.root('early', SpanContext.random(), { collector });
    busyFor(MS);
    const profile = await begin();
    early.run(() => busyFor(MS));
    early.end();
    Span.root('short', SpanContext.random(), { collector }).end();
    const taken = profile.stop();
    reporter.add(taken);
    await collector.flush();
    expect(memory.find('short')?.properties).toEqual({ 'cpu.ns': 0, 'cpu.samples': 0, 'cpu.stderr_ns': 0 });
    const { 'cpu.coverage': coverage } = numbers(memory, 'early');
    const { startUnixNs: start, endUnixNs: end } = memory.find('early') as SpanRecord;
    expect(coverage).toBeCloseTo(Number(end - taken.startUnixNs) / Number(end - start), 2);
  });

  test('one that is never handed over is not waited for', async () => {
    const { reporter, memory, root } = setUp();
    const profile = await begin();
    root('a', 1);
    await until(() => reporter.stats().bufferedTraces === 1);
    profile.stop();
    await until(() => memory.spans.length === 3);
    expect(reporter.stats()).toMatchObject({ bufferedTraces: 0, tracesOverTime: 1, tracesWithoutCpu: 1 });
  });
});

test('without a profile traces go on at once, as they are', async () => {
  const { reporter, collector, memory, root } = setUp();
  root('a', 1);
  await collector.flush();
  expect(memory.find('a')?.properties).toEqual({});
  expect(reporter.stats()).toMatchObject({ tracesWithCpu: 0, tracesWithoutCpu: 1, batches: 1 });
});

test('with a continuous profiler each trace gets the figures of the rotations it ran in', async () => {
  const { reporter, memory, root } = setUp();
  const profiler = await continuousProfiler({
    everyMs: 1,
    rotateMs: 100,
    budgetPercent: 100,
    sink: (profile) => reporter.add(profile),
  });
  try {
    for (let i = 0; i < 4; i++) {
      root(`r${i}`, 40);
      await turn(1);
    }
    await until(() => memory.find('r3') !== undefined);
    for (let i = 0; i < 4; i++) {
      const { 'cpu.samples': samples } = numbers(memory, `r${i}`);
      expect(samples).toBeGreaterThan(0);
    }
  } finally {
    await profiler.stop();
  }
});

test('more spans than may wait: the oldest traces go on, and are counted', async () => {
  const { reporter, memory, root } = setUp({ maxBufferedSpans: 6 });
  await begin();
  for (const name of ['a', 'b', 'c', 'd']) root(name, 1);
  await until(() => memory.spans.length === 6);
  expect(memory.traces.map(({ spans }) => spans[0].name)).toEqual(['a', 'b']);
  expect(reporter.stats()).toMatchObject({ bufferedSpans: 6, tracesOverBound: 2 });
});

test('longer than may be waited: the trace goes on, and is counted', async () => {
  const { reporter, memory, root } = setUp({ maxBufferedMs: 50 });
  await begin();
  root('a', 1);
  await until(() => memory.spans.length === 3);
  expect(reporter.stats()).toMatchObject({ bufferedSpans: 0, tracesOverTime: 1 });
});

test('a flush, and an end of the program, wait for no profile', async () => {
  const { collector, memory, root } = setUp();
  await begin();
  root('a', 1);
  expect(await collector.flush()).toEqual({ complete: true, pendingSpans: 0 });
  expect(memory.spans).toHaveLength(3);
  root('b', 1);
  collector.reportSync();
  expect(memory.spans).toHaveLength(6);
});

test('a reporter that fails gets it again, one batch at a time, and nothing is lost', async () => {
  const names: string[] = [];
  let calls = 0;
  let open = 0;
  const flaky: Reporter = {
    name: 'flaky',
    async report({ traces }: ReportBatch) {
      expect(++open).toBe(1);
      await turn(5);
      open--;
      if (++calls % 2 === 1) throw new Error('not now');
      for (const { root } of traces) names.push(root?.name as string);
    },
  };
  const { reporter, collector, root } = setUp({}, flaky);
  const profile = await begin();
  root('a', 1);
  await until(() => reporter.stats().bufferedTraces === 1);
  reporter.add(profile.stop());
  root('b', 1);
  await collector.flush();
  await until(() => names.length === 2);
  expect(names.sort()).toEqual(['a', 'b']);
  expect(reporter.stats().bufferedSpansDropped).toBe(0);
});

test.each([[{ maxBufferedMs: 0 }], [{ maxBufferedSpans: 'x' }], [{ held: 1 }]])(
  'wrong options are refused: %j',
  (options) => {
    expect(() => new CpuReporter(new MemoryReporter(), options as object)).toThrow(
      expect.objectContaining({ code: 'ERR_SPANLINE_OPTION' }),
    );
  },
);
