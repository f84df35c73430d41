// At the exit of a process a reporter that can work synchronously gets everything, by `reportSync` when it has one; an
// asynchronous one is called once at most, and what it could not take counts as not delivered.
import { expect, test } from 'vitest';
import { Collector, type ReportBatch, type Reporter, Span } from '../../src/index.js';

const atExit = (reporter: Reporter) => {
  const collector = new Collector({ maxBatchSpans: 2, reportIntervalMs: 60_000 });
  collector.setReporter(reporter);
  for (let i = 0; i < 5; i++) Span.root('root', undefined, { collector }).end();
  collector.reportSync();
  return collector.stats().reporters[reporter.name];
};

test('reportSync alone is called', () => {
  const calls: string[] = [];
  const report = (): void => void calls.push('report');
  const stats = atExit({ name: 'r', report, reportSync: (batch) => void calls.push(`sync ${batch.spanCount}`) });
  expect(calls).toEqual(['sync 2', 'sync 2', 'sync 1']);
  expect(stats).toMatchObject({ reportedSpans: 5, queuedSpans: 0 });
});

test('a report that works synchronously is as good', () => {
  const sizes: number[] = [];
  expect(atExit({ name: 'r', report: (batch) => void sizes.push(batch.spanCount) }).reportedSpans).toBe(5);
  expect(sizes).toEqual([2, 2, 1]);
});

test('an asynchronous report is called once', () => {
  let calls = 0;
  const report = (): Promise<void> => {
    calls++;
    return new Promise(() => {});
  };
  expect(atExit({ name: 'r', report })).toMatchObject({ reportedSpans: 0, queuedSpans: 5 });
  expect(calls).toBe(1);
});

test('one that throws is not called for ever', () => {
  const report = (): void => {
    throw new Error('down');
  };
  expect(atExit({ name: 'r', report })).toMatchObject({ reportErrors: 1, reportedSpans: 0, queuedSpans: 5 });
});

test('a reporter that keeps no trace leaves what it got to the next one', () => {
  const collector = new Collector({ reportIntervalMs: 60_000 });
  const names: string[] = [];
  const reader = (name: string): Reporter => ({
    name,
    keepsNoTrace: true,
    report: ({ traces }) => void names.push(...traces.map((trace) => `${name} ${trace.spanAt(0).name}`)),
  });
  collector.setReporter([reader('a'), reader('b')]);
  Span.root('root', undefined, { collector }).end();
  collector.reportSync();
  expect(names).toEqual(['a root', 'b root']);
});

/** What is called of a reporter whose report is in flight when the process ends. */
const callsAtExit = async (isSync: boolean): Promise<string[]> => {
  const collector = new Collector({ reportIntervalMs: 60_000 });
  const calls: string[] = [];
  const named = (how: string, { traces }: ReportBatch): void =>
    void calls.push(`${how} ${traces.map((trace) => trace.spanAt(0).name)}`);
  collector.setReporter({
    name: 'r',
    report: (batch) => {
      named('report', batch);
      return new Promise(() => {});
    },
    ...(isSync && { reportSync: (batch) => named('sync', batch) }),
  });
  Span.root('in flight', undefined, { collector }).end();
  await collector.flush({ timeoutMs: 1 });
  Span.root('after', undefined, { collector }).end();
  collector.reportSync();
  return calls;
};

test('what is in flight is sent again where that works synchronously, and never by a second call of report', async () => {
  expect(await callsAtExit(true)).toEqual(['report in flight', 'sync in flight', 'sync after']);
  expect(await callsAtExit(false)).toEqual(['report in flight']);
});

test('reporters of one name are numbered in the stats, each with its own', () => {
  const collector = new Collector();
  const reporter = (sent: number): Reporter => ({ name: 'r', report() {}, stats: () => ({ sent }) });
  collector.setReporter([reporter(1), reporter(2), reporter(3)]);
  const { reporters } = collector.stats();
  expect(Object.entries(reporters).map(([name, { own }]) => [name, own])).toEqual([
    ['r', { sent: 1 }],
    ['r#2', { sent: 2 }],
    ['r#3', { sent: 3 }],
  ]);
});
