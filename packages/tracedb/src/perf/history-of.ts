// A series of a Perf store as detectors take it. It must drop no value: what has none is not in the series at all.
import { declaredDirection, unitOfParams } from '../detect/direction.js';
import type { Series } from '../detect/regressions.js';
import type { PerfSeries } from './series-reader.js';

/** The history of a series, with its unit, and which way is better where its params say so. */
export const historyOf = ({ key, params, commits, values }: PerfSeries): Series => ({
  key,
  unit: unitOfParams(params),
  direction: declaredDirection(params),
  commits: commits.map(({ number, hash, timestampMs = 0 }) => ({ number, hash, timestampMs })),
  values,
});
