// Makes one segment of several, in whatever thread it is called. A damaged one must stop it: merging would lose what salvage can save.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { SpanRows } from './rows/span-rows.js';
import type { SegmentSet } from './segment-set.js';
import { writeSpansTo } from './write-spans.js';

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
      async (segment) => {
        for await (const trace of segment.scan()) for (const span of trace) all.add(span);
      },
      () => {
        isDamaged = true;
      },
    );
    if (isDamaged) return undefined;
  }
  return all;
};
