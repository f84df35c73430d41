// Puts the spans of one trace together: ids out of the dictionary, everything else out of groups. What does not fit together is damage,
// never a trace with fewer spans.

import { CorruptError, GraphError } from '../../../container/graph-error.js';
import type { DictionaryEntry } from '../../../graph/dictionary/dictionary-range.js';
import type { ArchivedSpan } from '../../../trace/archived-span.js';
import { TRACE_ID_BYTES } from '../ids.js';
import type { Outcome, WholeGroup } from './group-reader.js';
import type { SegmentFile } from './segment-file.js';

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
const groupAt = (firsts: Float64Array, ordinal: number): number => {
  let [low, high] = [0, firsts.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (firsts[middle] <= ordinal) low = middle;
    else high = middle;
  }
  return low;
};
