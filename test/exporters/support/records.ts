// Spans and batches for exporter tests, made by hand: no clock, no collector, nothing of the code under test but its types.

import type { ReportBatch, Resource, Trace } from '../../../src/collector/reporter.js';
import { OWN_SCOPE, ownResource } from '../../../src/formats/library.js';
import { ObjectView } from '../../../src/record/object-view.js';
import { EventRecord, SpanRecord, TraceIdentity } from '../../../src/record/record.js';
import type { Link, PropertyList, SpanKind, SpanStatus } from '../../../src/rows/property.js';

export interface RecordParts {
  trace?: TraceIdentity;
  id?: readonly [hi: number, lo: number];
  parent?: readonly [hi: number, lo: number];
  name?: string;
  kind?: SpanKind;
  start?: readonly [sec: number, nano: number];
  end?: readonly [sec: number, nano: number];
  properties?: PropertyList | null;
  events?: readonly EventRecord[];
  links?: readonly Link[];
  status?: SpanStatus;
  hasRemoteParent?: boolean;
  /** Attributes, events, links. */
  dropped?: readonly [number, number, number];
}

export const TRACE = new TraceIdentity(0x0af76519, 0x16cd43dd, 0x8448eb21, 0x1c80319c, '');

export const RESOURCE: Resource = {
  serviceName: 'shop',
  attributes: { 'host.name': 'h1', 'process.pid': 42, 'cpu.ids': [0, 1], 'disk.bytes': 9_007_199_254_740_993n },
};

export const record = (parts: RecordParts = {}): SpanRecord => {
  const { trace = TRACE, id = [0xb7ad6b71, 0x69203331], parent = [0, 0], name = 'read', kind = 'internal' } = parts;
  const { start = [1_700_000_000, 123_456_789], end = [1_700_000_000, 123_999_001] } = parts;
  const { properties = null, events = [], links = [], status = { code: 'unset' }, hasRemoteParent = false } = parts;
  const { dropped = [0, 0, 0] } = parts;
  return new SpanRecord(
    trace,
    ...id,
    ...parent,
    name,
    kind,
    ...start,
    ...end,
    properties,
    events,
    links,
    status,
    hasRemoteParent,
    false,
    ...dropped,
  );
};

/** Every type a property may have, and the edges of each. */
export const EVERY_VALUE: PropertyList = [
  ...['string', 'text', 'string.empty', '', 'string.unicode', 'žluťoučký 🐎 \u0000 "\\\n\u2028'],
  ...['int', 42, 'int.negative', -1, 'int.zero', 0, 'int.max', Number.MAX_SAFE_INTEGER],
  ...['int.min', Number.MIN_SAFE_INTEGER, 'int.beyond', 2 ** 60, 'double', 1.5, 'double.tiny', 5e-324],
  ...['double.nan', Number.NaN, 'double.infinity', Number.POSITIVE_INFINITY, 'double.minus', Number.NEGATIVE_INFINITY],
  ...['bigint', 9_007_199_254_740_993n, 'bigint.max', 2n ** 63n - 1n, 'bigint.min', -(2n ** 63n)],
  ...['bigint.beyond', 2n ** 63n, 'bigint.below', -(2n ** 63n) - 1n, 'true', true, 'false', false],
  'strings',
  ['a', '', '🐎'],
  'ints',
  [1, -2, 3],
  'doubles',
  [1.5, -0.25, 1e300],
  'bigints',
  [1n, -(2n ** 63n)],
  'booleans',
  [true, false],
  'empty',
  [],
];

/** One span with everything a span can have. */
export const fullRecord = (parts: RecordParts = {}): SpanRecord =>
  record({
    trace: new TraceIdentity(0x0af76519, 0x16cd43dd, 0x8448eb21, 0x1c80319c, 'vendor=1,other=2'),
    parent: [0x00000001, 0xfffffffe],
    name: 'GET /zboží 🐎',
    kind: 'server',
    properties: EVERY_VALUE,
    events: [
      new EventRecord('cache miss', 1_700_000_000, 123_500_007, ['key', 'k1', 'size', 17]),
      new EventRecord('událost', 1_700_000_000, 123_600_000, null),
      new EventRecord('exception', 1_700_000_000, 123_700_000, [
        'exception.type',
        'RangeError',
        'exception.message',
        'out of range',
      ]),
    ],
    links: [
      { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' },
      {
        traceId: '00000000000000000000000000000abc',
        spanId: 'ffffffffffffffff',
        traceState: 'a=b',
        properties: { why: 'batch', rank: 3, exact: 9_007_199_254_740_993n, list: ['x', 'y'] },
      },
    ],
    status: { code: 'error', message: 'nepovedlo se: 🐎' },
    hasRemoteParent: true,
    ...parts,
  });

/** `count` plain spans of one trace, each recognisable by its name; the first is the root. */
export const numberedRecords = (count: number, properties: PropertyList | null = null): SpanRecord[] =>
  Array.from({ length: count }, (_, i) =>
    record({ name: `span ${i}`, id: [1, i + 1], parent: i === 0 ? [0, 0] : [1, 1], properties }),
  );

export const traceOf = (spans: readonly SpanRecord[]): Trace => ({
  traceId: spans[0].traceId,
  spanCount: spans.length,
  byteSize: spans.length * 200,
  isContinuation: false,
  spanAt: (index) => spans[index],
  spans,
  root: spans[0],
  durationNs: spans[0].durationNs,
  hasError: spans.some((one) => one.status.code === 'error'),
});

export const batchOf = (
  traces: readonly (readonly SpanRecord[])[],
  resource: Resource = RESOURCE,
  signal: AbortSignal = new AbortController().signal,
): ReportBatch => ({
  traces: traces.map(traceOf),
  spanCount: traces.reduce((sum, spans) => sum + spans.length, 0),
  resource,
  signal,
});

/** Uniform in [0, 1), the same sequence for the same seed (mulberry32). */
export const seededRandom = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

const NAMES = ['GET /query', 'read', 'decode', 'join', 'SELECT * FROM tiles', 'cache', 'zápis'];
const KEYS = ['table', 'rows', 'hit', 'ratio', 'host', 'http.status_code', 'user.id'];
const KINDS: readonly SpanKind[] = ['internal', 'server', 'client', 'producer', 'consumer'];

/**
 * `count` spans in traces of up to `perTrace`, the same for the same seed: realistic names, up to four properties, now and
 * then an event, a link, an error. Parents are spans of the same trace.
 */
export const randomTraces = (seed: number, count: number, perTrace = 100): SpanRecord[][] => {
  const random = seededRandom(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const word = (): number => below(2 ** 32);
  const values = [() => 'metrics', () => below(1000), () => random() < 0.5, random, () => `h${below(9)}`];
  const properties = (max: number): PropertyList | null => {
    const from = below(KEYS.length);
    const list = Array.from({ length: below(max + 1) }, (_, i) => [
      KEYS[(from + i) % KEYS.length],
      values[below(values.length)](),
    ]).flat();
    return list.length === 0 ? null : list;
  };
  const traces: SpanRecord[][] = [];
  for (let left = count; left > 0; ) {
    const size = Math.min(left, perTrace);
    const last = word();
    const isRandom = (last & 1) === 1;
    const trace = new TraceIdentity(word(), word(), word(), last, random() < 0.1 ? 'vendor=1' : '', isRandom);
    const idHi = word();
    const spans: SpanRecord[] = [];
    for (let i = 0; i < size; i++) {
      const start: [number, number] = [1_700_000_000 + i, below(1e9)];
      const parent = i === 0 ? 0 : below(i) + 1;
      spans.push(
        record({
          trace,
          id: [idHi, i + 1],
          parent: parent === 0 ? [0, 0] : [idHi, parent],
          name: NAMES[below(NAMES.length)],
          kind: i === 0 ? 'server' : random() < 0.1 ? KINDS[below(KINDS.length)] : 'internal',
          start,
          end: [start[0] + below(3) + 1, below(1e9)],
          properties: properties(4),
          events: random() < 0.1 ? [new EventRecord('miss', start[0], start[1], properties(2))] : [],
          links: random() < 0.02 ? [{ traceId: TRACE.traceId, spanId: '00f067aa0ba902b7' }] : [],
          status: random() < 0.03 ? { code: 'error', message: 'timed out' } : { code: 'unset' },
        }),
      );
    }
    traces.push(spans);
    left -= size;
  }
  return traces;
};

/** A record as the view that encoders read. */
export const viewOf = (span: SpanRecord): ObjectView => new ObjectView(ownResource(RESOURCE), OWN_SCOPE).of(span);
