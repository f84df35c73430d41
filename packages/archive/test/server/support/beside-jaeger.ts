// The same random traces in a real Jaeger, which others of a run use too, and in an archive that is served. Their services and ids are of this
// process alone, so that whatever else is in that Jaeger does not count.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import type { RunningJaeger } from '../../../../../scripts/lib/jaeger.mjs';
import { seededRandom } from '../../../../../test/exporters/support/records.js';
import { Archive } from '../../../src/archive.js';
import { type ArchiveServer, createArchiveServer } from '../../../src/server/archive-server.js';

const random = seededRandom(21);
export const below = (limit: number): number => Math.floor(random() * limit);
export const one = <T>(list: readonly T[]): T => list[below(list.length)];
/** An id that no other process draws. */
const hex = (digits: number): string =>
  randomBytes(digits / 2)
    .toString('hex')
    .replace(/^0/, '1');

/** An hour ago: Jaeger looks two days back where it is not told how far. */
export const T0 = BigInt(Date.now() - 3_600_000) * 1_000_000n;
/** What marks the names of this process. */
export const RUN = randomBytes(4).toString('hex');
/** Names of services, each of this process alone. */
export const SHOP = `shop-${RUN}`;
export const AUTH = `auth-${RUN}`;
export const DB = `db-${RUN}`;
const SERVICES = [SHOP, AUTH, DB, undefined] as const;
/** What Jaeger calls a service without a name: one that others may have, too. */
export const UNNAMED = 'missing-service-name';
export const NAMES = ['GET /cart', 'login', 'SELECT', 'zápis 🐎'] as const;
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
const attributes = (max: number) =>
  [...new Set(Array.from({ length: below(max + 1) }, () => one(KEYS)))].map((key) => ({ key, value: one(VALUES)() }));

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
/** Traces with random spans. */
export const makeTraces = (count: number) => Array.from({ length: count }, (_, i) => makeTrace(i));

export type Json = Record<string, unknown>;

/** In any order, and with processes where they are used. */
export const normal = (document: unknown): unknown[] =>
  (document as { data: Json[] }).data
    .map(({ spans, processes, ...trace }) => ({
      ...trace,
      spans: (spans as Json[])
        .map(({ processID, ...span }) => ({ ...span, process: (processes as Json)[processID as string] }))
        .sort((a, b) => (String((a as Json).spanID) < String((b as Json).spanID) ? -1 : 1)),
    }))
    .sort((a, b) => (String((a as Json).traceID) < String((b as Json).traceID) ? -1 : 1));

/** A list as texts, in order. */
export const sorted = (list: unknown): string[] => (list as unknown[]).map((item) => JSON.stringify(item)).sort();

/** Has both hold these traces for the tests of a `describe`, and asks both. */
export const besideJaeger = (jaeger: () => RunningJaeger, traces: ReturnType<typeof makeTraces>) => {
  let archive: Archive;
  let server: ArchiveServer;
  let directory = '';
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'spanline-jaeger-'));
    archive = await Archive.open(directory);
    server = await createArchiveServer({ archive, port: 0 });
    for (const [i, { resourceSpans }] of traces.entries()) {
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
      if (i === Math.floor(traces.length / 2)) await archive.seal();
    }
  });
  afterAll(async () => {
    await server?.close();
    await archive?.close();
    if (directory !== '') await rm(directory, { recursive: true });
  });

  const both = (path: string): Promise<[Response, Response]> =>
    Promise.all([fetch(jaeger().queryUrl + path), fetch(server.url + path)]);
  return {
    both,
    /** Both answers, which must have one status. */
    bothJson: async (path: string): Promise<[theirs: Json, ours: Json]> => {
      const [theirs, ours] = await both(path);
      expect(`${path}: ${ours.status}`).toBe(`${path}: ${theirs.status}`);
      return [(await theirs.json()) as Json, (await ours.json()) as Json];
    },
    directory: () => directory,
  };
};
