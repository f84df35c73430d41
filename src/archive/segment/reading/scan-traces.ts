// Reads a whole segment, trace by trace in the order of ids, a stretch of groups at a time. Where a stretch is damaged its traces are
// read one by one, so that only those that are hit are lost.

import { GraphError } from '../../../container/graph-error.js';
import type { DictionaryEntry } from '../../../graph/dictionary/dictionary-range.js';
import type { ArchivedSpan } from '../../../trace/archived-span.js';
import { TRACE_ID_BYTES } from '../ids.js';
import { isDamage } from './damage.js';
import { findTraces, report, storedBytes } from './find-traces.js';
import type { GroupReader } from './group-reader.js';
import type { SegmentReadOptions } from './read-options.js';
import type { SegmentFile } from './segment-file.js';
import { assembleTrace, traceKeys } from './trace-assembly.js';

/** Groups read at a time, and their bytes in the file. */
const STRETCH_GROUPS = 32;
const STRETCH_BYTES = 2 * 1024 * 1024;

/** All traces. */
export async function* scanTraces(
  file: SegmentFile,
  reader: GroupReader,
  options: SegmentReadOptions = {},
): AsyncGenerator<ArchivedSpan[], undefined, void> {
  const { groups } = file;
  for (let start = 0; start < groups.count; ) {
    const end = endOfStretch(file, start);
    const traces = await readStretch(file, reader, start, end, options);
    yield* traces ?? oneByOne(file, reader, start, end, options);
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
  file: SegmentFile,
  reader: GroupReader,
  start: number,
  end: number,
  options: SegmentReadOptions,
): Promise<ArchivedSpan[][] | undefined> => {
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

/** The traces of groups `start` to `end`, each read alone. */
async function* oneByOne(
  file: SegmentFile,
  reader: GroupReader,
  start: number,
  end: number,
  options: SegmentReadOptions,
): AsyncGenerator<ArchivedSpan[], undefined, void> {
  const { groups, dictionary } = file;
  for (let number = start; number < end; number++) {
    if (number > start && groups.isContinued(number)) continue;
    const group = (await reader.load([number], [], options)).get(number);
    if (group === undefined || group instanceof GraphError) {
      if (group !== undefined) report(group, undefined, options);
      continue;
    }
    for (const { rank } of group.traceRows) {
      let id: string;
      try {
        const key = await dictionary.keyAt(groups.firstRanks[number] + rank, options);
        id = key.toString('hex', 0, TRACE_ID_BYTES);
      } catch (error) {
        if (!isDamage(error)) throw error;
        report(error, undefined, options);
        continue;
      }
      yield* (await findTraces(file, reader, [id], options)).values();
    }
  }
}
