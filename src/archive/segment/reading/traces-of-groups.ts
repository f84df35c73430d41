// The traces that groups hold: their rows, a trace in pieces as one, and their ids. Nothing here decides which of them are meant.
import { CorruptError, GraphError } from '../../../container/graph-error.js';
import type { TraceRow } from '../columns/trace-rows.js';
import { TRACE_ID_BYTES } from '../ids.js';
import { isDamage } from './damage.js';
import { report } from './find-traces.js';
import type { Group, Outcome } from './group-reader.js';
import type { SegmentReadOptions } from './read-options.js';
import type { SegmentFile } from './segment-file.js';

/** A stretch of Unix time in nanoseconds, as a search has it. */
export interface TimeRange {
  /** No start before. */
  readonly startsFromUnixNs?: bigint;
  /** No end before, no start after. */
  readonly fromUnixNs?: bigint;
  readonly toUnixNs?: bigint;
}

/** Whether a group, or the pieces it begins, may lie in the time searched. */
export const overlaps = (
  { groups }: SegmentFile,
  group: number,
  { startsFromUnixNs, fromUnixNs, toUnixNs }: TimeRange,
): boolean => {
  // Pieces are told from each other when all are there.
  if (groups.isContinued(group) || groups.isContinued(group + 1)) return true;
  if (startsFromUnixNs !== undefined && groups.ends[group] < startsFromUnixNs) return false;
  if (fromUnixNs !== undefined && groups.ends[group] < fromUnixNs) return false;
  return toUnixNs === undefined || groups.starts[group] <= toUnixNs;
};

/** The groups of the pieces that begin with group `number`: itself alone, as a rule. */
export const withPieces = ({ groups }: SegmentFile, number: number): number[] => {
  const pieces = [number];
  while (groups.isContinued(pieces[pieces.length - 1] + 1)) pieces.push(pieces[pieces.length - 1] + 1);
  return pieces;
};

/** The rows of a group; of a trace in pieces one row for all. Undefined when it is damaged, which is told. */
export const rowsOf = (
  file: SegmentFile,
  number: number,
  loaded: Outcome<Group>,
  options: SegmentReadOptions,
): readonly TraceRow[] | undefined => {
  const { groups } = file;
  const pieces: TraceRow[] = [];
  for (const piece of withPieces(file, number)) {
    const group = loaded.get(piece);
    if (group instanceof GraphError) {
      report(group, undefined, options);
      return undefined;
    }
    if (group === undefined) return undefined;
    if (piece === number && !groups.isContinued(number + 1)) return group.traceRows;
    pieces.push(group.traceRows[0]);
  }
  return [pieces.reduce(joined)];
};

/** The ids of the traces whose first keys have these ranks, or what kept one from being read. */
export const traceIdsAt = async (
  file: SegmentFile,
  ranks: readonly number[],
  options: SegmentReadOptions,
): Promise<readonly (string | GraphError)[]> => {
  const { dictionary, name } = file;
  if (ranks.some((rank) => rank >= dictionary.keyCount)) {
    throw new CorruptError(`${name} has a trace beyond its keys`, 'traceRows');
  }
  try {
    const keys = await dictionary.keysAt(ranks, options);
    return keys.map((key) => key.toString('hex', 0, TRACE_ID_BYTES));
  } catch (error) {
    if (!isDamage(error)) throw error;
    if (ranks.length === 1) return [error];
    const ids: (string | GraphError)[] = [];
    for (const rank of ranks) ids.push(...(await traceIdsAt(file, [rank], options)));
    return ids;
  }
};

/** One row for two pieces of a trace. */
const joined = (a: TraceRow, b: TraceRow): TraceRow => ({
  ...a,
  spanCount: a.spanCount + b.spanCount,
  startUnixNs: a.startUnixNs < b.startUnixNs ? a.startUnixNs : b.startUnixNs,
  endUnixNs: a.endUnixNs > b.endUnixNs ? a.endUnixNs : b.endUnixNs,
  errorCount: a.errorCount + b.errorCount,
  bytes: a.bytes + b.bytes,
});
