// The ids of a segment's traces, by what their rows say of time. A trace that lies in several files is looked for by it: no span is read.
import { GraphError } from '../../../container/graph-error.js';
import { report } from './find-traces.js';
import type { GroupReader } from './group-reader.js';
import type { SegmentReadOptions } from './read-options.js';
import { mayBeMeant } from './search-conditions.js';
import type { SegmentFile } from './segment-file.js';
import { overlaps, rowsOf, type TimeRange, traceIdsAt } from './traces-of-groups.js';

/** Groups whose traces are named at a time. */
const LISTED_GROUPS = 64;

/** The ids of the traces that lie in `range` as far as they are in the segment, some at a time. */
export async function* listTraces(
  file: SegmentFile,
  reader: GroupReader,
  range: TimeRange,
  options: SegmentReadOptions = {},
): AsyncGenerator<readonly string[], undefined, void> {
  const { groups } = file;
  for (let start = 0; start < groups.count; ) {
    let end = Math.min(groups.count, start + LISTED_GROUPS);
    while (groups.isContinued(end)) end++;
    const wanted: number[] = [];
    for (let group = start; group < end; group++) if (overlaps(file, group, range)) wanted.push(group);
    const loaded = await reader.load(wanted, [], options);
    const ranks: number[] = [];
    for (const number of wanted) {
      // The pieces of a trace count where it begins.
      if (groups.isContinued(number)) continue;
      for (const row of rowsOf(file, number, loaded, options) ?? [])
        if (mayBeMeant(row, range)) ranks.push(groups.firstRanks[number] + row.rank);
    }
    const ids: string[] = [];
    for (const id of await traceIdsAt(file, ranks, options)) {
      if (id instanceof GraphError) report(id, undefined, options);
      else ids.push(id);
    }
    if (ids.length > 0) yield ids;
    start = end;
  }
}
