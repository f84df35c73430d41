// The same traces in a real Jaeger and in an archive that is served: the same questions get the same answers, field for field.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Archive } from '../../../src/archive/archive.js';
import { type ArchiveServer, createArchiveServer } from '../../../src/archive/server/archive-server.js';
import { decodeJaegerJson } from '../../../src/formats/jaeger-json/read-traces.js';
import { encodeJaegerJson } from '../../../src/formats/jaeger-json/write-traces.js';
import { seededRandom } from '../../exporters/support/records.js';
import { describeJaeger } from '../../support/jaeger.js';

const random = seededRandom(21);
const below = (limit: number): number => Math.floor(random() * limit);
const one = <T>(list: readonly T[]): T => list[below(list.length)];
const hex = (digits: number): string =>
  Array.from({ length: digits }, () => below(16).toString(16))
    .join('')
    .replace(/^0/, '1');

/** An hour ago: Jaeger looks two days back where it is not told how far. */
const T0 = BigInt(Date.now() - 3_600_000) * 1_000_000n;
const SERVICES = ['shop', 'auth', 'db', undefined] as const;
const NAMES = ['GET /cart', 'login', 'SELECT', 'zápis 🐎'] as const;
const VALUES: readonly (() => object)[] = [
  () => ({ stringValue: one(['ada', 'alan', '', '<a&b>', 'žluťoučký 🐎']) }),
  () => ({ intValue: one(['1', '42', '-7', '9007199254740993', '9223372036854775807']) }),
  () => ({ doubleValue: one([1.5, -0.25, 1e300, 5e-324, 1e-7, 2.0, 1e15, '-0']) }),
  () => ({ boolValue: random() < 0.5 }),
  () => ({ bytesValue: 'AAH+/w==' }),
  () => ({ arrayValue: { values: [{ stringValue: 'a' }, { intValue: '2' }, { boolValue: true }] } }),
  () => ({
    kvlistValue: {
      values: [
        { key: 'z', value: { stringValue: '<&>' } },
        { key: 'a', value: { intValue: '1' } },
      ],
    },
  }),
];
const KEYS = ['user', 'rows', 'hit', 'host.name', 'ip', 'event'] as const;
const attributes = (most: number) =>
  [...new Set(Array.from({ length: below(most + 1) }, () => one(KEYS)))].map((key) => ({ key, value: one(VALUES)() }));

/** Spans of one trace in one or two requests. */
const makeTrace = (number: number) => {
  const traceId = number % 10 === 0 ? hex(16).padStart(32, '0') : hex(32);
  const count = 1 + below(6);
  const ids = Array.from({ length: count }, () => hex(16));
  const start = T0 + BigInt(number) * 1_000_000_000n + BigInt(below(1_000_000));
  const spans = ids.map((spanId, i) => {
    const from = start + BigInt(i) * BigInt(below(3_000_000));
    const parentSpanId = i === 0 ? undefined : random() < 0.1 ? hex(16) : ids[below(i)];
    const link = () => ({
      traceId: one([traceId, hex(32)]),
      spanId: one([ids[0], hex(16)]),
      attributes: attributes(1),
    });
    return {
      traceId,
      spanId,
      ...(parentSpanId === undefined ? {} : { parentSpanId }),
      name: one(NAMES),
      kind: below(6),
      ...(random() < 0.2 ? { traceState: 'vendor=1' } : {}),
      startTimeUnixNano: String(from),
      // Never at once: Jaeger takes that for a clock that went backwards.
      endTimeUnixNano: String(from + BigInt(1 + below(8_000_000))),
      // Which Jaeger shows with the process.
      attributes: [...attributes(4), ...(random() < 0.1 ? [{ key: 'telemetry.sdk.name', value: one(VALUES)() }] : [])],
      events: Array.from({ length: below(3) }, () => ({
        timeUnixNano: String(from + 100n),
        name: one(['hit', 'miss', '']),
        attributes: attributes(2),
      })),
      links: Array.from({ length: random() < 0.2 ? 1 + below(2) : 0 }, link),
      status: one([{}, { code: 1 }, { code: 2, message: 'no' }, { code: 2 }]),
      droppedAttributesCount: random() < 0.1 ? 2 : 0,
    };
  });
  const resourceSpans = spans.map((span) => {
    const service = one(SERVICES);
    const name = service === undefined ? [] : [{ key: 'service.name', value: { stringValue: service } }];
    const scope = one([
      {},
      { name: 'lib', version: '1.0' },
      { name: 'http', attributes: [{ key: 'hit', value: { boolValue: true } }] },
    ]);
    return { resource: { attributes: [...name, ...attributes(2)] }, scopeSpans: [{ scope, spans: [span] }] };
  });
  return { traceId, resourceSpans };
};
const TRACES = Array.from({ length: 200 }, (_, i) => makeTrace(i));

type Json = Record<string, unknown>;

/** In any order, and with processes where they are used. */
const normal = (document: unknown): unknown[] =>
  (document as { data: Json[] }).data
    .map(({ spans, processes, ...trace }) => ({
      ...trace,
      spans: (spans as Json[])
        .map(({ processID, ...span }) => ({ ...span, process: (processes as Json)[processID as string] }))
        .sort((a, b) => (String((a as Json).spanID) < String((b as Json).spanID) ? -1 : 1)),
    }))
    .sort((a, b) => (String((a as Json).traceID) < String((b as Json).traceID) ? -1 : 1));

const sorted = (list: unknown): string[] => (list as unknown[]).map((item) => JSON.stringify(item)).sort();

describeJaeger('a served archive beside a real Jaeger', (jaeger) => {
  let archive: Archive;
  let server: ArchiveServer;
  let directory: string;

  const both = (path: string): Promise<[Response, Response]> =>
    Promise.all([fetch(jaeger().queryUrl + path), fetch(server.url + path)]);
  const bothJson = async (path: string): Promise<[Json, Json]> => {
    const [theirs, ours] = await both(path);
    expect(`${path}: ${ours.status}`).toBe(`${path}: ${theirs.status}`);
    return [(await theirs.json()) as Json, (await ours.json()) as Json];
  };

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'spanline-jaeger-'));
    archive = await Archive.open(directory);
    server = await createArchiveServer({ archive, port: 0 });
    for (const [i, { resourceSpans }] of TRACES.entries()) {
      // Parts of a trace come one after the other, and a half of the archive is in a segment.
      for (const some of [resourceSpans.slice(0, 2), resourceSpans.slice(2)]) {
        if (some.length === 0) continue;
        const body = JSON.stringify({ resourceSpans: some });
        for (const url of [jaeger().otlpUrl, server.url]) {
          const { status } = await fetch(`${url}/v1/traces`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body,
          });
          expect(status).toBe(200);
        }
      }
      if (i === TRACES.length / 2) await archive.seal();
    }
  });
  afterAll(async () => {
    await server?.close();
    await archive?.close();
    if (directory !== undefined) await rm(directory, { recursive: true });
  });

  test('every trace, field for field', async () => {
    for (const { traceId } of TRACES) {
      const [theirs, ours] = await bothJson(`/api/traces/${traceId}`);
      expect(normal(ours)).toEqual(normal(theirs));
      expect({ ...ours, data: 0 }).toEqual({ ...theirs, data: 0 });
    }
  });

  test('services, operations and dependencies', async () => {
    const [theirs, ours] = await bothJson('/api/services');
    expect(sorted(ours.data)).toEqual(sorted(theirs.data));
    expect(ours.total).toBe(theirs.total);
    for (const service of theirs.data as string[]) {
      for (const path of [`/api/services/${service}/operations`, `/api/operations?service=${service}`]) {
        const [wanted, got] = await bothJson(path);
        expect(sorted(got.data)).toEqual(sorted(wanted.data));
      }
      const [v3Theirs, v3Ours] = await bothJson(`/api/v3/operations?service=${service}`);
      expect(sorted(v3Ours.operations)).toEqual(sorted(v3Theirs.operations));
    }
    const now = Date.now();
    for (const query of [
      '',
      `?endTs=${now}&lookback=86400000`,
      `?endTs=${now}&lookback=3550000&service=db`,
      '?endTs=5',
    ]) {
      const [wanted, got] = await bothJson(`/api/dependencies${query}`);
      expect(sorted(got.data)).toEqual(sorted(wanted.data));
      expect({ ...got, data: 0 }).toEqual({ ...wanted, data: 0 });
    }
  });

  test('the same traces are found by 400 searches', async () => {
    const micros = (): string => String(T0 / 1000n + BigInt(below(200_000_000)));
    const parts: readonly (() => string)[] = [
      () => `operation=${encodeURIComponent(one(NAMES))}`,
      () => `minDuration=${one(['1ms', '3ms', '6.5ms', '1h'])}`,
      () => `maxDuration=${one(['200us', '2ms', '4ms'])}`,
      () => `start=${micros()}`,
      () => `end=${T0 / 1000n + 200_000_000n + BigInt(below(9))}`,
      () =>
        `tag=${encodeURIComponent(one(['user:ada', 'rows:42', 'hit:true', 'user:', 'rows:1.5', 'rows:9007199254740993']))}`,
      () =>
        `tags=${encodeURIComponent(one(['{"user":"alan"}', '{"hit":"false","user":"ada"}', '{"host.name":"ada"}']))}`,
      () =>
        `tag=${encodeURIComponent(one(['host.name:["a",2,true]', 'rows:{"a":1,"z":"\\u003c\\u0026\\u003e"}', 'ip:AAH+/w==']))}`,
      () => `tag=${encodeURIComponent(one(['service.name:db', 'user:5e-324', 'rows:1e+300', 'rows:1e-7']))}`,
    ];
    let found = 0;
    for (let i = 0; i < 400; i++) {
      const some = [...new Set([one(parts), one(parts), one(parts)])].map((part) => part());
      const end = some.some((part) => part.includes('end=')) ? [] : [`end=${T0 / 1000n + 7_200_000_000n}`];
      const query = [
        `service=${one(['shop', 'auth', 'db', 'missing-service-name', 'nobody'])}`,
        ...some,
        ...end,
        'limit=1000',
      ];
      const [theirs, ours] = await bothJson(`/api/traces?${query.join('&')}`);
      const ids = ({ data }: Json): string[] =>
        ((data ?? []) as { traceID: string }[]).map(({ traceID }) => traceID).sort();
      expect({ query, ids: ids(ours) }).toEqual({ query, ids: ids(theirs) });
      found += ids(ours).length;
    }
    expect(found).toBeGreaterThan(500);
  });

  test.each([
    ...['/api/traces/0', '/api/traces/00', '/api/traces/xyz', '/api/traces/ff', `/api/traces/${'1'.repeat(33)}`],
    ...[
      '/api/v3/traces/0',
      '/api/v3/traces/xyz',
      '/api/v3/traces',
      '/api/v3/traces?query.service_name=db',
      '/api/traces',
    ],
    ...['/api/traces?service=db&minDuration=x', '/api/traces?service=db&tag=x', '/api/dependencies?endTs=x'],
    ...['/api/traces?service=db&minDuration=2s&maxDuration=1s', '/api/operations', '/api/dependencies?lookback=1d'],
  ])('the same status: %s', async (path) => {
    const [theirs, ours] = await both(path);
    expect(ours.status).toBe(theirs.status);
  });

  test('traces that are not there are named alike', async () => {
    const [theirs, ours] = await bothJson(`/api/traces?traceID=0&traceID=ff&traceID=${'a'.repeat(32)}`);
    expect(ours).toEqual(theirs);
  });

  test('what Jaeger answers is imported, exported, identical', async () => {
    const ids = TRACES.map(({ traceId }) => `traceID=${traceId}`);
    const document = await (await fetch(`${jaeger().queryUrl}/api/traces?${ids.join('&')}`)).text();
    const { spans, refused } = decodeJaegerJson(Buffer.from(document));
    expect(refused).toBe(0);
    const traces = new Map<string, typeof spans>();
    for (const span of spans) traces.set(span.traceId, [...(traces.get(span.traceId) ?? []), span]);
    expect(JSON.parse(encodeJaegerJson(traces))).toEqual(JSON.parse(document));

    // And by way of an archive on disk, which has its own order of spans.
    const other = await Archive.open(join(directory, 'other'));
    other.append(spans);
    await other.seal();
    const kept = await other.traces([...traces.keys()]);
    await other.close();
    expect(normal(JSON.parse(encodeJaegerJson(kept)))).toEqual(normal(JSON.parse(document)));
  });
});
