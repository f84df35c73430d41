// The queries of the service. Async work is a span each (traced functions), the loops over values are local spans.
import { LocalSpan, Span, trace, traced } from 'spanline';
import type { Benchmarks, Measurement } from './benchmarks.js';

/** What a query answers with. */
export type Answer = Record<string, unknown>;

export type Query = (benchmarks: Benchmarks, parameters: URLSearchParams) => Promise<Answer>;

const CHUNK = 32;

// No span of its own: ten values are sorted in the time that a few spans take. Whoever calls it has one around all calls.
const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
};

const wanted = (parameters: URLSearchParams, name = 'test'): string => {
  const value = parameters.get(name);
  if (value === null) throw new Error(`the parameter "${name}" is missing`);
  return value;
};

const historyOf = async (benchmarks: Benchmarks, test: string): Promise<readonly Measurement[]> =>
  (await benchmarks.histories([test])).get(test) ?? [];

/** Count, median, lowest and highest value. */
const statistics: Query = async (benchmarks, parameters) => {
  const test = wanted(parameters);
  const values = (await historyOf(benchmarks, test)).map(({ value }) => value);
  const middle = trace('median', () => median(values));
  return { test, count: values.length, median: middle, min: Math.min(...values), max: Math.max(...values) };
};

/** The values between two positions. */
const range: Query = async (benchmarks, parameters) => {
  const test = wanted(parameters);
  const history = await historyOf(benchmarks, test);
  const points = history.slice(Number(parameters.get('from')), Number(parameters.get('to')));
  return { test, points: points.map(({ commit, value }) => ({ commit: commit.hash, value })) };
};

/** Two series side by side, by commit. */
const join: Query = async (benchmarks, parameters) => {
  const left = wanted(parameters);
  const right = wanted(parameters, 'with');
  const histories = await benchmarks.histories([left, right]);
  return joinHistories(histories.get(left) ?? [], histories.get(right) ?? []);
};

const joinHistories = traced(
  'join',
  async (left: readonly Measurement[], right: readonly Measurement[]): Promise<Answer> => {
    const byCommit = new Map(left.map(({ commit, value }) => [commit.number, value]));
    // Lets other requests run between the two halves, as a server would.
    await new Promise(setImmediate);
    const rows: [string, number, number][] = [];
    for (let i = 0; i < right.length; i += CHUNK) {
      using merge = LocalSpan.start('merge');
      for (const { commit, value } of right.slice(i, i + CHUNK)) {
        const other = byCommit.get(commit.number);
        if (other !== undefined) rows.push([commit.hash, other, value]);
      }
      merge.addProperty('rows', rows.length);
    }
    Span.current()?.addProperty('rows', rows.length);
    return { rows: rows.length, last: rows.at(-1) };
  },
);

/** The commits after which a series fell most, against the median of the ten before. */
const drops: Query = async (benchmarks, parameters) => {
  const test = wanted(parameters);
  return { test, drops: dropsOf(await historyOf(benchmarks, test)) };
};

const dropsOf = (history: readonly Measurement[]): { commit: string; change: number }[] => {
  using span = LocalSpan.start('drops');
  const found: { commit: string; change: number }[] = [];
  for (let i = 10; i < history.length; i++) {
    const before = median(history.slice(i - 10, i).map(({ value }) => value));
    found.push({ commit: history[i].commit.hash, change: history[i].value / before - 1 });
  }
  span.addProperty('medians', found.length);
  return found.sort((a, b) => a.change - b.change).slice(0, 3);
};

/** All tests at two commits. */
const compare: Query = async (benchmarks, parameters) => {
  const [before, after] = [wanted(parameters, 'before'), wanted(parameters, 'after')];
  const rows = await benchmarks.compare(Number(before), Number(after), parameters.has('careless'));
  return { tests: rows.length, rows };
};

const REPORT_ROUNDS = 150_000;

/** A long text, made without a pause for anybody else: the request that makes others slow. */
const report: Query = async ({ tests }) => {
  // Those that came together with it have begun.
  await new Promise(setImmediate);
  let length = 0;
  for (let round = 0; round < REPORT_ROUNDS; round++) length += JSON.stringify(tests).length;
  return { tests: tests.length, length };
};

export const QUERIES: Readonly<Record<string, Query>> = { statistics, range, join, drops, compare, report };
