// Writes spans as a segment under a name that tells their times. Shared by this thread and the worker: it must need nothing of either.
import { join } from 'node:path';
import { newId, segmentName } from './file-names.js';
import type { SpanRows } from './segment/span-rows.js';
import { writeSegment } from './segment/write-segment.js';

/** The name of a segment of some spans, at least one; `id` is 12 hex digits that no other has. */
const segmentNameOf = ({ count, start, end }: SpanRows, id: string): string => {
  let first = 0;
  let lastStart = 0;
  let lastEnd = 0;
  for (let row = 1; row < count; row++) {
    if (start.minus(row, start, first) < 0) first = row;
    if (start.minus(row, start, lastStart) > 0) lastStart = row;
    if (end.minus(row, end, lastEnd) > 0) lastEnd = row;
  }
  const [startUnixNs, endUnixNs] = [start.values[lastStart], end.values[lastEnd]];
  return segmentName(start.values[first], endUnixNs > startUnixNs ? endUnixNs : startUnixNs, id);
};

/** Write spans, at least one, as a segment that stands for the files of `replaces`. */
export const writeSpansTo = (directory: string, rows: SpanRows, replaces: readonly string[], id = newId()): void => {
  writeSegment(join(directory, segmentNameOf(rows, id)), rows, { replaces });
};
