// The error for a missing table that must not be created: otherwise a read under a mistyped name would leave an empty table behind.
import { TraceDbError } from '../tracedb-error.js';

/** `missing`: the families that a table lacks; none when there is no table. */
export const noTable = (location: string, missing: readonly string[]): TraceDbError =>
  new TraceDbError(
    'ERR_SPANLINE_NOT_FOUND',
    missing.length === 0
      ? `there is no table in ${location}; check the name, or open it with make`
      : `the table in ${location} has no column families ${missing.join(', ')}: it is a store of another kind`,
  );
