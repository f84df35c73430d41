// Finds traces by id: all that many traces need is fetched together, in batches that fit into memory, and the spans of each trace are put
// together, ids from the dictionary, everything else from groups. What does not fit together is damage, never a trace with fewer spans.
import { CorruptError, type DictionaryEntry, GraphError } from '@spanline/graph';
import { firstIndex } from 'spanline/internal/base';
import type { ArchivedSpan } from 'spanline/internal/record';
import { lastWordOf, TRACE_ID_BYTES, traceIdBytes } from '../values/fields.js';
import type { GroupExtents, GroupReader, Outcome, WholeGroup } from './group-reader.js';
import { PARTS } from './layout.js';
import { eachOrDamage, guarded, type SegmentFile, type SegmentReadOptions } from './segment-file.js';
import { markOf } from './trace-rows.js';

/** The keys of a trace, by what they are. */
interface TraceKeys {
  readonly traceId: string;
  /** Ordinals of its spans, ascending, one behind the other. */
  readonly first: number;
  readonly count: number;
  /** Span ids by ordinal, absent parents among them. */
  readonly spanIds: ReadonlyMap<number, string>;
}

/** The keys among `entries`, all that begin with the id of one trace; undefined when none of them is a span. */
export const traceKeys = (
  { name, spanCount }: SegmentFile,
  entries: readonly DictionaryEntry[],
): TraceKeys | undefined => {
  const spanIds = new Map<number, string>();
  let first = Number.POSITIVE_INFINITY;
  let last = -1;
  let count = 0;
  for (const { key, ordinals } of entries) {
    const [ordinal] = ordinals;
    // Only links refer to it.
    if (ordinal < 0) continue;
    spanIds.set(ordinal, key.toString('hex', TRACE_ID_BYTES));
    if (ordinal >= spanCount) continue;
    count++;
    first = Math.min(first, ordinal);
    last = Math.max(last, ordinal);
  }
  if (count === 0) return undefined;
  if (last - first + 1 !== count) {
    throw new CorruptError(`the spans of a trace of ${name} do not stand together`, 'dictionaryBlocks');
  }
  return { traceId: entries[0].key.toString('hex', 0, TRACE_ID_BYTES), first, count, spanIds };
};

/** The spans of a trace, the root first; `groups` has all that may hold some of them. */
export const assembleTrace = (file: SegmentFile, keys: TraceKeys, groups: Outcome<WholeGroup>): ArchivedSpan[] => {
  const { firsts } = file.groups;
  const spans: ArchivedSpan[] = [];
  let number = groupAt(firsts, keys.first);
  for (let ordinal = keys.first; ordinal < keys.first + keys.count; ) {
    const group = groups.get(number);
    if (group instanceof GraphError) throw group;
    const row = group?.traceRows.find(({ first }) => first === ordinal - firsts[number]);
    if (group === undefined || row === undefined || spans.length + row.spanCount > keys.count) {
      throw new CorruptError(`trace ${keys.traceId} of ${file.name} is not where its keys say`, 'traceRows', number);
    }
    for (let i = row.first; i < row.first + row.spanCount; i++) spans.push(spanAt(file, keys, group, i));
    ordinal += row.spanCount;
    number++;
  }
  return spans;
};

const NOTHING = { properties: {} };

const spanAt = (file: SegmentFile, { traceId, spanIds }: TraceKeys, group: WholeGroup, i: number): ArchivedSpan => {
  const { spans, times, properties, events, links, texts } = group;
  const { name, kind, scope } = spans.shape(i);
  const startUnixNs = times.starts[i];
  const parent = times.parents[i];
  return {
    traceId,
    spanId: idOf(file, spanIds, file.groups.firsts[group.number] + i),
    parentSpanId: parent < 0 ? '' : idOf(file, spanIds, parent),
    traceState: texts?.traceState(i) ?? '',
    name,
    kind,
    startUnixNs,
    endUnixNs: times.ends[i],
    status: { code: spans.statusCode(i), message: texts?.message(i) ?? '' },
    events: events?.get(i, startUnixNs) ?? [],
    links: links?.get(i, traceId) ?? [],
    resource: spans.resource(i),
    scope,
    ...(properties?.get(i) ?? NOTHING),
  };
};

const idOf = ({ name }: SegmentFile, spanIds: ReadonlyMap<number, string>, ordinal: number): string => {
  const id = spanIds.get(ordinal);
  if (id !== undefined) return id;
  throw new CorruptError(`a span of ${name} refers to a span of another trace`, 'references');
};

/** The group of an ordinal. */
const groupAt = (firsts: Float64Array, ordinal: number): number =>
  firstIndex(1, firsts.length - 1, (i) => firsts[i] > ordinal) - 1;

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
  reader: GroupReader,
  ids: readonly string[],
  options: SegmentReadOptions = {},
): Promise<Map<string, ArchivedSpan[]>> => {
  const { file } = reader;
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
  return new Map(ids.flatMap((id) => (found.has(id) ? [[id, found.get(id) as ArchivedSpan[]] as const] : [])));
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

/** From when to when a trace lasts, as far as it is there: Unix nanoseconds. */
export interface TraceExtent {
  readonly startUnixNs: bigint;
  readonly endUnixNs: bigint;
}

/** The earlier start and the later end. */
export const joinedExtent = (a: TraceExtent, b: TraceExtent): TraceExtent => ({
  startUnixNs: a.startUnixNs < b.startUnixNs ? a.startUnixNs : b.startUnixNs,
  endUnixNs: a.endUnixNs > b.endUnixNs ? a.endUnixNs : b.endUnixNs,
});

/**
 * Within which times those of some traces lie that are there. Rows of traces are read, which are found by marks, and the keys of those whose mark another of
 * the group has. A trace that is not there may be taken for another that is, and one whose keys cannot be read be said to last longer; none lasts longer than is said.
 */
export const traceExtents = async (
  reader: GroupReader,
  ids: readonly string[],
  options: SegmentReadOptions = {},
): Promise<Map<string, TraceExtent>> => {
  const { file } = reader;
  const found = new Map<string, TraceExtent>();
  for (const batch of batchesOf(file, ids)) {
    const numbers = [...new Set(batch.flatMap(({ groups }) => groups))].sort((a, b) => a - b);
    const loaded = await reader.extents(numbers, options);
    const unclear: Wanted[] = [];
    for (const wanted of batch) {
      const rows = guarded(() => wanted.groups.map((group) => markedExtents(loaded.get(group), lastWordOf(wanted.id))));
      if (rows instanceof GraphError) report(rows, wanted.id, options);
      else if (rows.some(({ length }) => length > 0))
        found.set(wanted.id, rows.flat().reduce<TraceExtent>(joinedExtent, rows.flat()[0]));
      if (!(rows instanceof GraphError) && rows.some(({ length }) => length > 1)) unclear.push(wanted);
    }
    const keys = unclear.length === 0 ? [] : await lookUp(file, unclear, options);
    unclear.forEach(({ id }, i) => {
      const extent = guarded(() => extentByKeys(file, keys[i], loaded));
      if (extent === undefined) found.delete(id);
      else if (!(extent instanceof GraphError)) found.set(id, extent);
    });
  }
  return found;
};

const extentAt = ({ starts, ends }: GroupExtents, i: number): TraceExtent => ({
  startUnixNs: starts[i],
  endUnixNs: ends[i],
});

/** Those of a group with the mark of a trace. */
const markedExtents = (group: GroupExtents | GraphError | undefined, lastWord: number): TraceExtent[] => {
  if (group instanceof GraphError) throw group;
  if (group === undefined) return [];
  const { marks } = group;
  const mark = markOf(lastWord, marks.length);
  const extents: TraceExtent[] = [];
  for (let i = marks.indexOf(mark); i >= 0; i = marks.indexOf(mark, i + 1)) extents.push(extentAt(group, i));
  return extents;
};

/** How long a trace with these keys lasts; undefined when it is not there. */
const extentByKeys = (
  file: SegmentFile,
  entries: readonly DictionaryEntry[] | GraphError,
  groups: Outcome<GroupExtents>,
): TraceExtent | undefined => {
  if (entries instanceof GraphError) throw entries;
  const keys = traceKeys(file, entries);
  if (keys === undefined) return undefined;
  const { firsts } = file.groups;
  let extent: TraceExtent | undefined;
  let number = groupAt(firsts, keys.first);
  for (let ordinal = keys.first; ordinal < keys.first + keys.count; number++) {
    const group = groups.get(number);
    const known = group === undefined || group instanceof GraphError ? undefined : group;
    const at = known?.firsts.indexOf(ordinal - firsts[number]) ?? -1;
    if (known === undefined || at < 0 || at >= known.marks.length)
      throw new CorruptError(`trace ${keys.traceId} of ${file.name} is not where its keys say`, 'traceRows', number);
    const own = extentAt(known, at);
    extent = extent === undefined ? own : joinedExtent(extent, own);
    ordinal += known.firsts[at + 1] - known.firsts[at];
  }
  return extent;
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
const lookUp = (
  { dictionary }: SegmentFile,
  traces: readonly Wanted[],
  options: SegmentReadOptions,
): Promise<readonly (readonly DictionaryEntry[] | GraphError)[]> =>
  eachOrDamage(
    traces.map(({ bytes }) => bytes),
    (prefixes) => dictionary.lookupPrefixes(prefixes, options),
  );
