// Walks over all traces of a segment, in the order of ids, and lists their ids: the rows of groups, a trace in pieces as one. Nothing here
// decides which traces are meant.
import { CorruptError, type DictionaryEntry, GraphError } from '@spanline/graph';
import type { ArchivedSpan } from 'spanline/internal/record';
import { isInTime } from '../trace-search.js';
import { TRACE_ID_BYTES } from '../values/fields.js';
import { assembleTrace, findTraces, report, storedBytes, traceKeys } from './find-traces.js';
import type { Group, GroupReader, Outcome } from './group-reader.js';
import { mayBeMeant, type SegmentSearch } from './search-conditions.js';
import { eachOrDamage, isDamage, type SegmentFile, type SegmentReadOptions } from './segment-file.js';
import type { TraceRow } from './trace-rows.js';

/** A stretch of Unix time in nanoseconds, as a search has it; nothing that starts before `startsFromUnixNs`. */
export type TimeRange = Pick<SegmentSearch, 'startsFromUnixNs' | 'fromUnixNs' | 'toUnixNs'>;

/** Whether a group, or the pieces it begins, may lie in the time searched. */
export const overlaps = ({ groups }: SegmentFile, group: number, range: TimeRange): boolean => {
  // Pieces are told from each other when all are there.
  if (groups.isContinued(group) || groups.isContinued(group + 1)) return true;
  const endUnixNs = groups.ends[group];
  if (range.startsFromUnixNs !== undefined && endUnixNs < range.startsFromUnixNs) return false;
  return isInTime({ startUnixNs: groups.starts[group], endUnixNs }, range);
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
  return eachOrDamage(ranks, async (some) => {
    const keys = await dictionary.keysAt(some, options);
    return keys.map((key) => key.toString('hex', 0, TRACE_ID_BYTES));
  });
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

/** Groups whose traces are named at a time. */
const LISTED_GROUPS = 64;

/** The ids of the traces that lie in `range` as far as they are in the segment, or in groups `from` to `to` of it, some at a time. */
export async function* listTraces(
  reader: GroupReader,
  range: TimeRange,
  options: SegmentReadOptions = {},
  from = 0,
  to = reader.file.groups.count,
): AsyncGenerator<readonly string[], undefined, void> {
  const { file } = reader;
  const { groups } = file;
  for (let start = from; start < to; ) {
    let end = Math.min(to, start + LISTED_GROUPS);
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

/** Groups read at a time, and their bytes in the file. */
const STRETCH_GROUPS = 32;
const STRETCH_BYTES = 2 * 1024 * 1024;

/** All traces. */
export async function* scanTraces(
  reader: GroupReader,
  options: SegmentReadOptions = {},
): AsyncGenerator<ArchivedSpan[], undefined, void> {
  const { file } = reader;
  for (let start = 0; start < file.groups.count; ) {
    const end = endOfStretch(file, start);
    const traces = await readStretch(reader, start, end, options);
    if (traces !== undefined) yield* traces;
    // Something is damaged: what is not is found by its ids.
    else
      for await (const ids of listTraces(reader, {}, options, start, end))
        yield* (await findTraces(reader, ids, options)).values();
    start = end;
  }
}

/** A trace in pieces is never torn. */
const endOfStretch = (file: SegmentFile, start: number): number => {
  const { groups } = file;
  let bytes = 0;
  let end = start;
  for (; end < groups.count; end++) {
    const isFull = end - start >= STRETCH_GROUPS || bytes >= STRETCH_BYTES;
    if (isFull && !groups.isContinued(end)) break;
    bytes += storedBytes(file, end);
  }
  return end;
};

/** The traces of groups `start` to `end`; undefined when something is damaged and somebody wants the rest. */
const readStretch = async (
  reader: GroupReader,
  start: number,
  end: number,
  options: SegmentReadOptions,
): Promise<ArchivedSpan[][] | undefined> => {
  const { file } = reader;
  try {
    const numbers = Array.from({ length: end - start }, (_, i) => start + i);
    const [entries, groups] = await Promise.all([entriesOf(file, start, end, options), reader.whole(numbers, options)]);
    const traces: ArchivedSpan[][] = [];
    for (const own of byTrace(entries)) {
      const keys = traceKeys(file, own);
      if (keys !== undefined) traces.push(assembleTrace(file, keys, groups));
    }
    return traces;
  } catch (error) {
    if (!isDamage(error) || options.onDamage === undefined) throw error;
    return undefined;
  }
};

const entriesOf = async (
  { groups, dictionary }: SegmentFile,
  start: number,
  end: number,
  options: SegmentReadOptions,
): Promise<DictionaryEntry[]> => {
  const range = { start: groups.firstId(start), ...(end < groups.count ? { end: groups.firstId(end) } : {}) };
  const entries: DictionaryEntry[] = [];
  for await (const batch of dictionary.range(range, options)) entries.push(...batch);
  return entries;
};

function* byTrace(entries: readonly DictionaryEntry[]): Generator<DictionaryEntry[]> {
  for (let start = 0; start < entries.length; ) {
    const { key } = entries[start];
    let end = start + 1;
    while (end < entries.length && key.compare(entries[end].key, 0, TRACE_ID_BYTES, 0, TRACE_ID_BYTES) === 0) end++;
    yield entries.slice(start, end);
    start = end;
  }
}
