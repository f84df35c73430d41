// Histories of series over tiles, and as detectors take them: what detectors, comparisons and plots work on. Reading holds whole series in memory and
// so has a bound on their number. A history must drop no value: what has none is not in the series at all.

import { traced } from 'spanline';
import { declaredDirection, unitOfParams } from '../detect/direction.js';
import type { Series } from '../detect/regressions.js';
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
