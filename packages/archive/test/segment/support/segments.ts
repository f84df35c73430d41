// Segments in memory, and what they should say: a model of a segment that is a list of spans.

import { getOrMake } from '../../../../../src/base/maps/maps.js';
import type { ArchivedSpan } from '../../../../../src/record/archived-span.js';
import { BufferSink } from '../../../../graph/src/container/container-writer.js';
import { type OpenSegmentOptions, Segment } from '../../../src/segment/segment.js';
import { type WriteSegmentOptions, writeSegment } from '../../../src/segment/write-segment.js';
import { eachOnce } from '../../../src/shared-ids.js';

/** The bytes of a segment of `spans`. */
export const segmentBytes = (spans: Iterable<ArchivedSpan>, options?: WriteSegmentOptions): Buffer => {
  const sink = new BufferSink();
  writeSegment(sink, spans, options);
  return sink.toBuffer();
};

export const openSegment = (spans: Iterable<ArchivedSpan>, options?: OpenSegmentOptions): Promise<Segment> =>
  Segment.open(segmentBytes(spans), options);

/** Spans by trace id, each once. */
export const tracesOf = (spans: readonly ArchivedSpan[]): Map<string, ArchivedSpan[]> => {
  const traces = new Map<string, ArchivedSpan[]>();
  for (const span of spans) getOrMake(traces, span.traceId, () => []).push(span);
  return new Map([...traces].map(([id, trace]) => [id, [...eachOnce(trace)]]));
};

/** Spans in an order that does not depend on how they came. */
export const byId = (spans: readonly ArchivedSpan[]): ArchivedSpan[] =>
  [...spans].sort((a, b) => (a.traceId + a.spanId < b.traceId + b.spanId ? -1 : 1));

/** All items of something that is iterated. */
export const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
};

/** An ordinary span, changed as a test needs it. */
export const span = (changes: Partial<ArchivedSpan> = {}): ArchivedSpan => ({
  traceId: '0123456789abcdef0123456789abcdef',
  spanId: '00000000000000aa',
  parentSpanId: '',
  traceState: '',
  name: 'GET /query',
  kind: 'server',
  startUnixNs: 1_760_000_000_000_000_000n,
  endUnixNs: 1_760_000_000_001_000_000n,
  status: { code: 'unset', message: '' },
  properties: {},
  events: [],
  links: [],
  resource: { properties: { 'service.name': 'shop' } },
  scope: { name: 'spanline', version: '1', properties: {} },
  ...changes,
});

/** Hexadecimal ids by number. */
export const traceIdOf = (n: number): string => n.toString(16).padStart(32, '0');
export const spanIdOf = (n: number): string => n.toString(16).padStart(16, '0');
