// Histories of series, as detectors take them, and what changed between two commits, series by series. Reading holds whole series in memory and so has a
// bound on their number. A history must drop no value: what has none is not in the series at all. A comparison states differences; whether one is
// noise only a history can tell.
import { traced } from 'spanline';
import {
  type Direction,
  declaredDirection,
  directionOf,
  relativeChange,
  unitOfParams,
  verdictOf,
} from '../detect/direction.js';
import type { Series } from '../detect/regressions.js';
import { CallDeadline } from '../params/call-deadline.js';
import { type Params, structuredKeyOf } from '../params/param-text.js';
import type { CallOptions } from '../table/wide-column-table.js';
import type { PerfStore, QueryLike } from './perf-store.js';
import type { PerfSeries, QuerySeriesOptions } from './series-reader.js';

/** The history of a series, with its unit, and which way is better where its params say so. */
export const historyOf = ({ key, params, commits, values }: PerfSeries): Series => ({
  key,
  unit: unitOfParams(params),
  direction: declaredDirection(params),
  commits: commits.map(({ number, hash, timestampMs = 0 }) => ({ number, hash, timestampMs })),
  values,
});

/** Which histories are read. */
export interface ReadSeriesOptions extends QuerySeriesOptions {
  /** Most series. Default 10,000; more is an error: `PerfStore.querySeries` holds a few of them at a time. */
  readonly maxSeries?: number;
}

/**
 * The histories of all series a query selects, sorted by structured key. Use it for detection and plots; for
 * series that memory has no room for use `PerfStore.querySeries`, for single tiles `PerfStore.query`. Rejects with `ERR_SPANLINE_TABLE_LIMIT` beyond `maxSeries`.
 *
 * @example
 * ```ts
 * import { openTable, PERF_SCHEMA, PerfStore, readSeries } from '@spanline/tracedb';
 * const table = await openTable('./perf-store', PERF_SCHEMA);
 * const series = await readSeries(await PerfStore.open(table), 'test=~encode');
 * console.log(series.map(({ key, values }) => `${key} ${values.length}`));
 * await table.close();
 * ```
 */
export const readSeries = traced(
  'perf.read-series',
  async (perf: PerfStore, query: QueryLike, options: ReadSeriesOptions = {}): Promise<PerfSeries[]> => {
    const series: PerfSeries[] = [];
    const { maxSeries = 10_000 } = options;
    for await (const some of perf.querySeries(query, { ...options, maxSeries })) series.push(...some);
    return series;
  },
);

/** A series at two commits. */
export interface ComparedSeries {
  /** Structured key. */
  readonly key: string;
  readonly params: Params;
  readonly unit: string;
  readonly before: number;
  readonly after: number;
  /** (after - before) / |before|; 0 when both are 0, infinite when only `before` is. */
  readonly change: number;
  /** `better` and `worse` need a unit whose direction is known, or a param that says it. */
  readonly verdict: 'better' | 'worse' | 'changed' | 'same';
}

/** How commits are compared. */
export interface CompareOptions extends CallOptions {
  /** Smallest relative change that is not `same`. Default 0.05. */
  readonly minEffect?: number;
  readonly directions?: Readonly<Record<string, Direction>>;
}

/** Values of series at one commit, by structured key. */
export type ValuesAtCommit = ReadonlyMap<string, { readonly params: Params; readonly value: number }>;

/** The series that have a value at both commits, the largest change first. */
export const compareValues = (
  old: ValuesAtCommit,
  now: ValuesAtCommit,
  { minEffect = 0.05, directions }: CompareOptions,
): ComparedSeries[] => {
  const compared: ComparedSeries[] = [];
  for (const [key, { params, value }] of now) {
    const was = old.get(key);
    if (was === undefined) continue;
    const unit = unitOfParams(params);
    const change = relativeChange(was.value, value);
    const isSame = !(Math.abs(change) >= minEffect);
    const verdict = isSame ? 'same' : verdictOf(change > 0, directionOf(unit, directions, declaredDirection(params)));
    compared.push({ key, params, unit, before: was.value, after: value, change, verdict });
  }
  return compared.sort((a, b) => Math.abs(b.change) - Math.abs(a.change) || (a.key < b.key ? -1 : 1));
};

const valuesAt = async (perf: PerfStore, commit: number, query: QueryLike, deadline: CallDeadline) => {
  const found = new Map<string, { readonly params: Params; readonly value: number }>();
  const offset = perf.offsetOf(commit);
  for await (const traces of perf.query(perf.tileOf(commit), query, deadline.next())) {
    for (const { params, values } of traces) {
      const value = values[offset] as number;
      if (!Number.isNaN(value)) found.set(structuredKeyOf(params), { params, value });
    }
  }
  return found;
};

/**
 * The series of a query that have a value at both commits (numbers), the largest change first. Use it to look at one change; use
 * `findRegressions` to know which changes last.
 *
 * @example
 * ```ts
 * import { compareCommits, openTable, PERF_SCHEMA, PerfStore } from '@spanline/tracedb';
 * const table = await openTable('./perf-store', PERF_SCHEMA);
 * const worse = (await compareCommits(await PerfStore.open(table), 300, 301, '')).filter(({ verdict }) => verdict === 'worse');
 * console.log(worse.map(({ key, change }) => `${key} ${(change * 100).toFixed(1)} %`));
 * await table.close();
 * ```
 */
export const compareCommits = traced(
  'perf.compare-commits',
  async (
    perf: PerfStore,
    before: number,
    after: number,
    query: QueryLike,
    options: CompareOptions = {},
  ): Promise<ComparedSeries[]> => {
    const deadline = new CallDeadline('comparing commits', options);
    const old = await valuesAt(perf, before, query, deadline);
    const now = await valuesAt(perf, after, query, deadline);
    return compareValues(old, now, options);
  },
);
