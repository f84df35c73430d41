// Finds traces by id: all that is needed of many traces is fetched together, in stretches that fit into memory.

import { GraphError } from '../../../container/graph-error.js';
import type { DictionaryEntry } from '../../../graph/dictionary/dictionary-range.js';
import type { ArchivedSpan } from '../../../trace/archived-span.js';
import { traceIdBytes } from '../ids.js';
import { PARTS } from '../layout.js';
import { guarded, isDamage } from './damage.js';
import type { GroupReader } from './group-reader.js';
import type { SegmentReadOptions } from './read-options.js';
import type { SegmentFile } from './segment-file.js';
import { assembleTrace, traceKeys } from './trace-assembly.js';

/** Groups of one batch of reads, and their bytes in the file. */
const BATCH_GROUPS = 512;
const BATCH_BYTES = 16 * 1024 * 1024;

interface Wanted {
  readonly id: string;
  readonly bytes: Buffer;
  readonly groups: readonly number[];
}

/** Bytes of a group in the file. */
export const storedBytes = ({ groups }: SegmentFile, group: number): number =>
  PARTS.reduce((sum, part) => sum + (groups.ref(part, group)?.storedLength ?? 0), 0);

/** The traces with these ids that are there, in the order asked. */
export const findTraces = async (
  file: SegmentFile,
  reader: GroupReader,
  ids: readonly string[],
  options: SegmentReadOptions = {},
): Promise<Map<string, ArchivedSpan[]>> => {
  const found = new Map<string, ArchivedSpan[]>();
  for (const batch of batchesOf(file, ids)) {
    const groups = [...new Set(batch.flatMap((trace) => trace.groups))].sort((a, b) => a - b);
    const [keys, whole] = await Promise.all([lookUp(file, batch, options), reader.whole(groups, options)]);
    batch.forEach(({ id }, i) => {
      const spans = guarded(() => {
        const entries = keys[i];
        if (entries instanceof GraphError) throw entries;
        const own = traceKeys(file, entries);
        return own === undefined ? [] : assembleTrace(file, own, whole);
      });
      if (spans instanceof GraphError) report(spans, id, options);
      else if (spans.length > 0) found.set(id, spans);
    });
  }
  const ordered = new Map<string, ArchivedSpan[]>();
  for (const id of ids) {
    const spans = found.get(id);
    if (spans !== undefined) ordered.set(id, spans);
  }
  return ordered;
};

/** Those of some traces that are there; only keys are read. One whose keys cannot be read may be there. */
export const presentTraces = async (
  file: SegmentFile,
  ids: readonly string[],
  options: SegmentReadOptions = {},
): Promise<string[]> => {
  const present: string[] = [];
  for (const batch of batchesOf(file, ids)) {
    const keys = await lookUp(file, batch, options);
    batch.forEach(({ id }, i) => {
      const entries = keys[i];
      const isThere = guarded(() => entries instanceof GraphError || traceKeys(file, entries) !== undefined);
      if (isThere !== false) present.push(id);
    });
  }
  return present;
};

/** Tell of damage, or throw it when nobody wants to be told. */
export const report = (error: GraphError, traceId: string | undefined, { onDamage }: SegmentReadOptions): void => {
  if (onDamage === undefined) throw error;
  onDamage(error, traceId);
};

/** The traces that may be there, by id, in batches. */
function* batchesOf(file: SegmentFile, ids: readonly string[]): Generator<Wanted[]> {
  const wanted: Wanted[] = [];
  for (const id of new Set(ids)) {
    const bytes = traceIdBytes(id);
    if (file.filter?.mayHave(bytes) === false) continue;
    const { first, end } = file.groups.groupsOf(bytes);
    if (end > first) wanted.push({ id, bytes, groups: Array.from({ length: end - first }, (_, i) => first + i) });
  }
  wanted.sort((a, b) => (a.id < b.id ? -1 : 1));
  let batch: Wanted[] = [];
  let groups = 0;
  let size = 0;
  let last = -1;
  for (const trace of wanted) {
    const more = trace.groups.filter((group) => group > last);
    const moreSize = more.reduce((sum, group) => sum + storedBytes(file, group), 0);
    if (batch.length > 0 && (groups + more.length > BATCH_GROUPS || size + moreSize > BATCH_BYTES)) {
      yield batch;
      batch = [];
      groups = 0;
      size = 0;
    }
    batch.push(trace);
    groups += more.length;
    size += moreSize;
    last = Math.max(last, ...trace.groups);
  }
  if (batch.length > 0) yield batch;
}

/** The keys of each trace, or what kept them from being read. */
const lookUp = async (
  { dictionary }: SegmentFile,
  traces: readonly Wanted[],
  options: SegmentReadOptions,
): Promise<readonly (readonly DictionaryEntry[] | GraphError)[]> => {
  try {
    return await dictionary.lookupPrefixes(
      traces.map(({ bytes }) => bytes),
      options,
    );
  } catch (error) {
    if (!isDamage(error)) throw error;
    if (traces.length === 1) return [error];
    // Only some of them stand in damaged blocks: which, shows when each is looked up alone.
    const alone: (readonly DictionaryEntry[] | GraphError)[] = [];
    for (const trace of traces) alone.push(...(await lookUp({ dictionary } as SegmentFile, [trace], options)));
    return alone;
  }
};
