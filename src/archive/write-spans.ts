// Writes spans as a segment under a name that tells their times. Shared by this thread and the worker: it must need nothing of either.
import { join } from 'node:path';
import type { ArchivedSpan } from '../trace/archived-span.js';
import { newId, segmentName } from './file-names.js';
import { writeSegment } from './segment/write-segment.js';

/** The name of a segment of some spans, at least one; `id` is 12 hex digits that no other has. */
export const segmentNameOf = (spans: readonly ArchivedSpan[], id: string): string => {
  let { startUnixNs: start, startUnixNs: end } = spans[0];
  for (const { startUnixNs, endUnixNs } of spans) {
    if (startUnixNs < start) start = startUnixNs;
    if (startUnixNs > end) end = startUnixNs;
    if (endUnixNs > end) end = endUnixNs;
  }
  return segmentName(start, end, id);
};

/** Write spans, at least one, as a segment that stands for the files of `replaces`. */
export const writeSpansTo = (
  directory: string,
  spans: readonly ArchivedSpan[],
  replaces: readonly string[],
  id = newId(),
): void => {
  writeSegment(join(directory, segmentNameOf(spans, id)), spans, { replaces });
};
