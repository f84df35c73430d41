// Makes one segment of spans, or of several segments, under a name that contains its times. Shared by this thread and the worker: it must need
// nothing of either. A damaged segment must stop a merge: merging would lose what salvage can save.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { newId, segmentName } from './directory.js';
import { SpanRows } from './rows/span-rows.js';
import { writeSegment } from './segment/write-segment.js';
import { timesOf, writeUnsorted } from './segment/write-unsorted.js';
import { DirectoryPlace } from './segment-place.js';
import { SegmentSet } from './segment-set.js';
import type { Times } from './values/fields.js';
import type { WalFrame } from './wal/wal-writer.js';
import type { MergeAnswer, MergeTask } from './work-thread.js';

/** The row of the earliest or the latest time, by `sign` -1 or 1. */
const extreme = (times: Times, count: number, sign: -1 | 1): number => {
  let found = 0;
  for (let row = 1; row < count; row++) if (sign * times.minus(row, times, found) > 0) found = row;
  return found;
};

/** The name of a segment of some spans, at least one. */
const segmentNameOf = ({ count, start, end }: SpanRows): string => {
  const startUnixNs = start.values[extreme(start, count, 1)];
  const endUnixNs = end.values[extreme(end, count, 1)];
  return segmentName(
    start.values[extreme(start, count, -1)],
    endUnixNs > startUnixNs ? endUnixNs : startUnixNs,
    newId(),
  );
};

/** Write spans, at least one, as a sorted segment that stands for the files of `replaces`. */
export const writeSpansTo = (directory: string, rows: SpanRows, replaces: readonly string[]): void => {
  writeSegment(join(directory, segmentNameOf(rows)), rows, { replaces });
};

/** Write batches, at least one, as an unsorted segment that stands for the files of `replaces`. */
export const writeBatchesTo = async (
  directory: string,
  frames: readonly WalFrame[],
  replaces: readonly string[],
): Promise<void> => {
  const { startUnixNs, endUnixNs } = timesOf(frames);
  await writeUnsorted(join(directory, segmentName(startUnixNs, endUnixNs, newId(), false)), frames, replaces);
};

/**
 * Merge some segments, the one that ends last first, and delete them; false when one turns out to be damaged, which `set` knows then.
 * Wherever it is interrupted nothing is lost and nothing is seen twice.
 */
export const mergeSegments = async (set: SegmentSet, names: readonly string[]): Promise<boolean> => {
  const rows = await readAll(set, names);
  if (rows === undefined) return false;
  writeSpansTo(set.directory, rows, names);
  removeFiles(set.directory, names);
  return true;
};

/** Segments open at a time, and bytes of their blocks kept: each is read once, from its beginning to its end. */
const OPEN_SEGMENTS = 2;
const CACHE_BYTES = 4 * 1024 * 1024;

/** The same in a directory that nobody else has open here. */
export const mergeFiles = async ({ directory, names }: Omit<MergeTask, 'kind'>): Promise<MergeAnswer> => {
  const set = new SegmentSet(new DirectoryPlace(directory), OPEN_SEGMENTS, CACHE_BYTES);
  try {
    return { isDone: await mergeSegments(set, names), damaged: set.damaged() };
  } finally {
    await set.close();
  }
};

/** Delete files, as far as they are there. */
export const removeFiles = (directory: string, names: readonly string[]): void => {
  for (const name of names) rmSync(join(directory, name), { force: true });
};

/** All spans of some segments; undefined when one is damaged. */
const readAll = async (set: SegmentSet, names: readonly string[]): Promise<SpanRows | undefined> => {
  const all = new SpanRows();
  // Oldest first: the last of two equal spans is kept, as it is in a query.
  for (const name of [...names].reverse()) {
    let isDamaged = false;
    await set.use(
      name,
      (segment) => segment.addTo(all),
      () => {
        isDamaged = true;
      },
    );
    if (isDamaged) return undefined;
  }
  return all;
};
