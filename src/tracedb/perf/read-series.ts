// Histories of series over tiles: what detectors, comparisons and plots work on. It holds whole series in memory and so has a bound
// on their number.
import { traced } from '../../span/traced.js';
import { CallDeadline } from '../params/call-deadline.js';
import type { Params } from '../params/params.js';
import { structuredKeyOf } from '../params/structured-key.js';
import type { CallOptions } from '../table/wide-column-table.js';
import { TraceDbError } from '../tracedb-error.js';
import type { Commit } from './commit-log.js';
import type { PerfStore, QueryLike } from './perf-store.js';

/** Which histories are read. */
export interface ReadSeriesOptions extends CallOptions {
  /** First and last commit, by number, both included. Default: all. */
  readonly from?: number;
  readonly to?: number;
  /** Most series. Default 10,000; more is an error. */
  readonly maxSeries?: number;
}

/** The history of one series. */
export interface PerfSeries {
  /** Structured key. */
  readonly key: string;
  readonly params: Params;
  /** The commits that have a value, ascending by number. */
  readonly commits: readonly Commit[];
  /** One a commit. */
  readonly values: readonly number[];
}

interface Growing {
  readonly params: Params;
  readonly commits: Commit[];
  readonly values: number[];
}

/**
 * The histories of all series a query selects, sorted by structured key. Use it for detection and plots; for single tiles use
 * `PerfStore.query`. Rejects with `ERR_SPANLINE_TABLE_LIMIT` beyond `maxSeries`.
 *
 * @example
 * ```ts
 * import { openTable, PERF_SCHEMA, PerfStore, readSeries } from 'spanline/tracedb';
 * const table = await openTable('./perf-store', PERF_SCHEMA);
 * const series = await readSeries(await PerfStore.open(table), 'test=~encode');
 * console.log(series.map(({ key, values }) => `${key} ${values.length}`));
 * await table.close();
 * ```
 */
export const readSeries = traced(
  'perf.read-series',
  async (perf: PerfStore, query: QueryLike, options: ReadSeriesOptions = {}): Promise<PerfSeries[]> => {
    const { from = 0, to = Number.MAX_SAFE_INTEGER, maxSeries = 10_000, ...call } = options;
    const deadline = new CallDeadline('reading series', call);
    const range = to === Number.MAX_SAFE_INTEGER ? { from } : { from, to };
    const commits = new Map((await perf.commits.list(range, deadline.next())).map((commit) => [commit.number, commit]));
    const tiles = (await perf.tiles(deadline.next()))
      .filter((tile) => (tile + 1) * perf.config.tileSize > from && tile * perf.config.tileSize <= to)
      .reverse();
    const series = new Map<string, Growing>();
    for (const tile of tiles) {
      const first = tile * perf.config.tileSize;
      for await (const traces of perf.query(tile, query, deadline.next())) {
        for (const { params, values } of traces) {
          const key = structuredKeyOf(params);
          let one = series.get(key);
          if (one === undefined) {
            one = { params, commits: [], values: [] };
            series.set(key, one);
            if (series.size > maxSeries) {
              throw new TraceDbError(
                'ERR_SPANLINE_TABLE_LIMIT',
                `the query selects more than ${maxSeries} series; name more keys, or raise maxSeries`,
              );
            }
          }
          for (let offset = 0; offset < values.length; offset++) {
            const value = values[offset] as number;
            const commit = commits.get(first + offset);
            if (Number.isNaN(value) || commit === undefined) continue;
            one.commits.push(commit);
            one.values.push(value);
          }
        }
      }
    }
    return [...series]
      .filter(([, { values }]) => values.length > 0)
      .map(([key, one]) => ({ key, ...one }))
      .sort((a, b) => (a.key < b.key ? -1 : 1));
  },
);
