// Checks what a segment has beside its graphs: every column of every group is decoded, and what rows, tables and summary say of the spans
// is compared with what a segment of the same spans would say. A new check belongs here. All spans are in memory meanwhile.
import { isDeepStrictEqual } from 'node:util';
import { BufferSink, BufferTransport, CorruptError, GraphError } from '@spanline/graph';
import type { ArchivedSpan, TraceSummary } from 'spanline/internal/record';
import { traceIdBytes } from '../values/fields.js';
import { GroupReader } from './group-reader.js';
import { scanTraces } from './scan-traces.js';
import { searchTraces } from './search-traces.js';
import { isDamage, openSegmentFile, type SegmentFile, type SegmentReadOptions } from './segment-file.js';
import { writeSegment } from './write-segment.js';

/** Groups decoded at a time. */
const BATCH_GROUPS = 16;

/** What a summary says of spans; the rest is of the file, or of how it came to be. */
const CLAIMS = [
  'spanCount',
  'traceCount',
  'startUnixNs',
  'endUnixNs',
  'services',
  'operations',
  'listsAllOperations',
] as const;

/** What is wrong with a segment whose graphs are sound: all damaged groups, or the first claim that does not hold. */
export const segmentFaults = async (file: SegmentFile, options?: SegmentReadOptions): Promise<GraphError[]> => {
  const reader = new GroupReader(file);
  const faults: GraphError[] = [];
  for (let first = 0; first < file.groups.count; first += BATCH_GROUPS) {
    const count = Math.min(BATCH_GROUPS, file.groups.count - first);
    const groups = Array.from({ length: count }, (_, i) => first + i);
    for (const group of (await reader.whole(groups, options)).values())
      if (group instanceof GraphError) faults.push(group);
  }
  if (faults.length > 0) return faults;
  try {
    await checkClaims(file, reader, options);
  } catch (error) {
    if (!isDamage(error)) throw error;
    faults.push(error);
  }
  return faults;
};

const checkClaims = async (file: SegmentFile, reader: GroupReader, options?: SegmentReadOptions): Promise<void> => {
  const spans: ArchivedSpan[] = [];
  for await (const trace of scanTraces(file, reader, options)) spans.push(...trace);
  const sink = new BufferSink();
  writeSegment(sink, spans, { compression: 'none' });
  const expected = await openSegmentFile(new BufferTransport(sink.toBuffer()), {});
  for (const claim of CLAIMS)
    if (!isDeepStrictEqual(file.info[claim], expected.info[claim])) throw lie(file, `its ${claim}`, 'summary');
  const [said, right] = [await summaries(file, reader), await summaries(expected, new GroupReader(expected))];
  for (let i = 0; i < Math.max(said.length, right.length); i++)
    if (!isDeepStrictEqual(said[i], right[i])) throw lie(file, `trace ${(said[i] ?? right[i]).traceId}`, 'traceRows');
  for (const { traceId } of right)
    if (file.filter?.mayHave(traceIdBytes(traceId)) === false)
      throw lie(file, `trace ${traceId}, which its filter denies`, 'traceFilter');
};

const summaries = (file: SegmentFile, reader: GroupReader): Promise<TraceSummary[]> =>
  searchTraces(file, reader, { limit: Math.max(1, file.spanCount) }, undefined);

const lie = ({ name }: SegmentFile, what: string, section: string): CorruptError =>
  new CorruptError(`${name} describes ${what} otherwise than its spans do`, section);
