// Writes spans as a segment under a name that tells their times. Shared by this thread and the worker: it must need nothing of either.
import { join } from 'node:path';
import { newId, segmentName } from './file-names.js';
import type { SpanRows } from './rows/span-rows.js';
import type { Times } from './rows/times.js';
import { writeSegment } from './segment/write-segment.js';

/** The row of the earliest or the latest time, by `sign` -1 or 1. */
const extreme = (times: Times, count: number, sign: -1 | 1): number => {
  let found = 0;
  for (let row = 1; row < count; row++) if (sign * times.minus(row, times, found) > 0) found = row;
  return found;
};

/** The name of a segment of some spans, at least one; `id` is 12 hex digits that no other has. */
const segmentNameOf = ({ count, start, end }: SpanRows, id: string): string => {
  const startUnixNs = start.values[extreme(start, count, 1)];
  const endUnixNs = end.values[extreme(end, count, 1)];
  return segmentName(start.values[extreme(start, count, -1)], endUnixNs > startUnixNs ? endUnixNs : startUnixNs, id);
};

/** Write spans, at least one, as a segment that stands for the files of `replaces`. */
export const writeSpansTo = (directory: string, rows: SpanRows, replaces: readonly string[], id = newId()): void => {
  writeSegment(join(directory, segmentNameOf(rows, id)), rows, { replaces });
};
