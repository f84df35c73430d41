// A series of a Perf store as detectors take it. It must drop no value: what has none is not in the series at all.
import type { Series } from '../detect/regressions.js';
import type { PerfSeries } from './series-reader.js';

/** The history of a series, with its unit from its param `unit`. */
export const historyOf = ({ key, params, commits, values }: PerfSeries): Series => ({
  key,
  unit: params.unit ?? '',
  commits: commits.map(({ number, hash, timestampMs = 0 }) => ({ number, hash, timestampMs })),
  values,
});
