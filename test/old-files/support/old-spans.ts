// What the archive files of test/fixtures/old-files hold, written out by hand: no code of src/ may make it, or it would change with that
// code. Traces are listed by id, spans of a trace the root first.
import { ArchivedDouble, type ArchivedSpan } from '../../../src/archive/index.js';

const T0 = 1_760_000_000_000_000_000n;
const trace = (n: number): string => `0af7651916cd43dd8448eb211c8031${n.toString(16).padStart(2, '0')}`;
const id = (n: number): string => `b7ad6b71692033${n.toString(16).padStart(2, '0')}`;

const SHOP = {
  properties: { 'service.name': 'shop', 'host.name': 'h1', 'process.pid': 42, args: ['node', 'a.js'] },
  schemaUrl: 'https://example.com/schemas/1',
  droppedAttributesCount: 6,
};
const STORE = { properties: { 'service.name': 'store' } };
const HTTP = {
  name: 'http',
  version: '1.2.3',
  properties: { short: true },
  schemaUrl: 'https://example.com/schemas/2',
  droppedAttributesCount: 5,
};
const PLAIN = { name: '', version: '', properties: {} };

const plain = {
  parentSpanId: '',
  traceState: '',
  kind: 'internal',
  status: { code: 'unset', message: '' },
  properties: {},
  events: [],
  links: [],
  resource: STORE,
  scope: PLAIN,
} as const;

/** Every type of value, every field of a span. */
const FULL: readonly ArchivedSpan[] = [
  {
    traceId: trace(1),
    spanId: id(1),
    parentSpanId: '',
    traceState: 'vendor=1,other=2',
    name: 'GET /zboží 🐎',
    kind: 'server',
    startUnixNs: T0 + 123_456_789n,
    endUnixNs: T0 + 123_999_001n,
    status: { code: 'error', message: 'nepovedlo se: 🐎' },
    properties: {
      text: 'žluťoučký 🐎 \u0000 "\\\n\u2028',
      empty: '',
      int: 42,
      negative: -1,
      zero: 0,
      large: 9_007_199_254_740_993n,
      largest: 2n ** 63n - 1n,
      smallest: -(2n ** 63n),
      double: 1.5,
      tiny: 5e-324,
      notANumber: Number.NaN,
      infinite: Number.NEGATIVE_INFINITY,
      minusZero: -0,
      whole: new ArchivedDouble(2),
      yes: true,
      no: false,
      none: null,
      bytes: Uint8Array.from([0, 1, 254, 255]),
      list: ['a', 1, 2.5, true, 9_007_199_254_740_993n, ['x', []], { deep: [1] }, null, new ArchivedDouble(7)],
      map: { a: 1, b: { c: Uint8Array.from([7]) }, empty: {} },
      '\0flags': 'a key that begins as a reserved one does',
    },
    flags: 0x101,
    droppedAttributesCount: 3,
    droppedEventsCount: 2,
    droppedLinksCount: 1,
    events: [
      {
        name: 'cache miss',
        timeUnixNs: T0 + 123_500_007n,
        properties: { key: 'k1', size: 17 },
        droppedAttributesCount: 1,
      },
      { name: '', timeUnixNs: 0n, properties: {} },
    ],
    links: [
      { traceId: trace(2), spanId: id(0x21), traceState: '', properties: {} },
      {
        traceId: '00000000000000000000000000000abc',
        spanId: 'ffffffffffffffff',
        traceState: 'a=b',
        properties: { why: 'batch' },
        flags: 0x300,
        droppedAttributesCount: 2,
      },
    ],
    resource: SHOP,
    scope: HTTP,
  },
  {
    ...plain,
    traceId: trace(1),
    spanId: id(2),
    parentSpanId: id(1),
    name: 'SELECT',
    kind: 'client',
    startUnixNs: T0 + 123_456_790n,
    endUnixNs: T0 + 123_456_790n,
    properties: { 'db.system': 'postgresql', rows: 10 },
  },
];

/** Kinds and statuses, a parent that is absent, a span that lasts a month, times at both ends. */
const ODD: readonly ArchivedSpan[] = [
  {
    ...plain,
    traceId: trace(2),
    spanId: id(0x21),
    parentSpanId: 'dddddddddddddddd',
    name: 'consume',
    kind: 'consumer',
    status: { code: 'ok', message: '' },
    startUnixNs: T0 - 2_678_400_000_000_000n,
    endUnixNs: T0,
  },
  {
    ...plain,
    traceId: trace(2),
    spanId: id(0x22),
    parentSpanId: id(0x21),
    name: 'produce',
    kind: 'producer',
    startUnixNs: 0n,
    endUnixNs: 2n ** 64n - 1n,
  },
  {
    ...plain,
    traceId: trace(2),
    spanId: id(0x23),
    parentSpanId: id(0x21),
    name: 'what',
    kind: 'unspecified',
    startUnixNs: T0 - 1n,
    endUnixNs: T0 + 1n,
  },
];

/** Twelve requests alike, as most of an archive is. */
const ALIKE: readonly (readonly ArchivedSpan[])[] = Array.from({ length: 12 }, (_, n) => {
  const start = T0 + BigInt(n) * 1_000_000_000n;
  const shared = { ...plain, traceId: trace(16 + n), resource: SHOP, scope: HTTP } as const;
  const root: ArchivedSpan = {
    ...shared,
    spanId: id(16 * n),
    name: 'POST /order',
    kind: 'server',
    startUnixNs: start,
    endUnixNs: start + 5_000_000n + BigInt(n * 1001),
    properties: { 'http.request.method': 'POST', 'http.response.status_code': n % 5 === 4 ? 500 : 200, order: n },
    status: n % 5 === 4 ? { code: 'error', message: 'out of stock' } : { code: 'unset', message: '' },
  };
  const steps = ['read cart', 'reserve', 'pay'].map(
    (name, step): ArchivedSpan => ({
      ...shared,
      spanId: id(16 * n + step + 1),
      parentSpanId: id(16 * n),
      name,
      startUnixNs: start + BigInt(step + 1) * 1_000_000n + BigInt(n),
      endUnixNs: start + BigInt(step + 2) * 1_000_000n - BigInt(n),
      properties: { attempt: 1, share: 0.25 * step },
    }),
  );
  return [root, ...steps];
});

/** All traces, by id. */
export const OLD_TRACES: ReadonlyMap<string, readonly ArchivedSpan[]> = new Map(
  [FULL, ODD, ...ALIKE].map((spans) => [spans[0].traceId, spans]),
);
export const OLD_SPANS: readonly ArchivedSpan[] = [...OLD_TRACES.values()].flat();
