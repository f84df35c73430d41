// A server of a real archive answers as one of a model in memory: the same traces for the same questions, whether they are in segments, held,
// or both, and every span as it was sent.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownResource } from '../../../../src/formats/library.js';
import type { ArchivedSpan } from '../../../../src/record/archived-span.js';
import { randomTraces, seededRandom } from '../../../../test/exporters/support/records.js';
import { archivedSpan } from '../../../../test/support/archived-span.js';
import { samples } from '../../../../test/support/samples.js';
import { Archive } from '../../src/archive.js';
import { encodeOtlpJson } from '../../src/formats/encode.js';
import { decodeJaegerJson } from '../../src/formats/jaeger-json/read-traces.js';
import { decodeOtlpJson } from '../../src/formats/otlp/read-json.js';
import { FULL_SPAN } from '../support/any-span.js';
import { ask, onCleanUp, serve } from '../support/serve.js';

const SERVICES = ['shop', 'db', 'žába/š'].map((serviceName) => ownResource({ serviceName, attributes: { v: 1 } }));

/** Traces in two services each, with distinct starts. */
const traces: ArchivedSpan[][] = randomTraces(41, samples(360, 1200), 12).map((trace, t) =>
  trace.map((record, i) => {
    const span = archivedSpan(record, SERVICES[(t + (i % 2)) % SERVICES.length]);
    const shift = BigInt(t) * 1_000_000_000n;
    return { ...span, startUnixNs: span.startUnixNs + shift, endUnixNs: span.endUnixNs + shift };
  }),
);
traces.push([{ ...FULL_SPAN, parentSpanId: '' }]);

const openArchive = async (): Promise<Archive> => {
  const directory = mkdtempSync(join(tmpdir(), 'spanline-server-'));
  const archive = await Archive.open(directory);
  onCleanUp(async () => {
    await archive.close();
    rmSync(directory, { recursive: true });
  });
  return archive;
};

const key = ({ traceId, spanId }: ArchivedSpan): string => traceId + spanId;
const sorted = (spans: readonly ArchivedSpan[]): ArchivedSpan[] =>
  [...spans].sort((a, b) => (key(a) < key(b) ? -1 : 1));
const v3Spans = (json: unknown): ArchivedSpan[] =>
  decodeOtlpJson(Buffer.from(JSON.stringify((json as { result: object }).result))).spans;

test('the same answers as the model', async () => {
  const archive = await openArchive();
  const { url } = await serve({ archive });
  const model = await serve();
  for (const [i, trace] of traces.entries()) {
    const headers = { 'content-type': 'application/json' };
    const body = encodeOtlpJson(trace);
    for (const server of [url, model.url]) {
      expect((await ask(`${server}/v1/traces`, { method: 'POST', headers, body })).status).toBe(200);
    }
    // Two segments, and the rest held.
    if (i === 10 || i === 20) await archive.seal();
  }
  expect(await archive.stats()).toMatchObject({ segments: 2, damaged: [] });
  expect((await ask(`${url}/stats`)).json).toMatchObject({
    server: { failed: 0, otlp: { requests: traces.length, spansRefused: 0 } },
    archive: { segments: 2, damaged: [] },
  });
  expect((await ask(`${url}/api/v3/services`)).json).toEqual((await ask(`${model.url}/api/v3/services`)).json);
  for (const service of ['shop', 'db', 'žába/š', 'nobody']) {
    const names = async (server: string) => {
      const { json } = await ask(`${server}/api/v3/operations?service=${encodeURIComponent(service)}`);
      return (json as { operations: object[] }).operations.map((one) => JSON.stringify(one)).sort();
    };
    expect(await names(url)).toEqual(await names(model.url));
  }

  const random = seededRandom(43);
  const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)];
  const time = (): string => new Date(1_700_000_000_000 + Math.floor(random() * 120) * 1000).toISOString();
  const parts = [
    () => `query.service_name=${encodeURIComponent(one(['shop', 'db', 'žába/š', 'nobody']))}`,
    () => `query.operation_name=${encodeURIComponent(one(['read', 'GET /query', 'zápis', 'nothing']))}`,
    () => `query.start_time_min=${time()}`,
    () => `query.start_time_max=${time()}`,
    () => `query.duration_min=${one(['1s', '12s', '14.5s', '1h'])}`,
    () => `query.duration_max=${one(['1s', '12s', '14.5s', '1h'])}`,
    () =>
      `query.attributes=${encodeURIComponent(one(['{"hit":"true"}', '{"table":"metrics"}', '{"error":"true"}', '{"host":"h3"}']))}`,
  ];
  const counts: Record<number, number> = {};
  for (let i = 0; i < samples(15, 200, 2000); i++) {
    const some = [...new Set([one(parts), one(parts), one(parts)])].map((part) => part());
    const ever = [
      'query.start_time_min=1970-01-01T00:00:00Z',
      'query.start_time_max=2200-01-01T00:00:00Z',
      // Now and then it is not said when, which is refused.
    ].filter((part) => i % 20 !== 0 && !some.some((given) => given.startsWith(part.slice(0, part.indexOf('=')))));
    const query = [...some, ...ever, `query.search_depth=${one([1, 5, 20])}`].join('&');
    const path = `/api/v3/traces?${query}`;
    const [found, wanted] = await Promise.all([ask(url + path), ask(model.url + path)]);
    expect(`${query}: ${found.status}`).toBe(`${query}: ${wanted.status}`);
    counts[found.status] = (counts[found.status] ?? 0) + 1;
    if (found.status !== 200) continue;
    const ids = (json: unknown): string[] => [...new Set(v3Spans(json).map(({ traceId }) => traceId))];
    expect(`${query}: ${ids(found.json)}`).toBe(`${query}: ${ids(wanted.json)}`);
    expect(sorted(v3Spans(found.json))).toEqual(sorted(v3Spans(wanted.json)));
  }
  expect(Object.keys(counts)).toEqual(['200', '400', '404']);

  for (const trace of traces) {
    const answer = await ask(`${url}/api/traces/${trace[0].traceId}`);
    expect(sorted(decodeJaegerJson(answer.body).spans).map(key)).toEqual(sorted(trace).map(key));
  }
  const summaries = async (server: string) => (await ask(`${server}/api/v3/trace-summaries`)).json;
  expect(await summaries(url)).toEqual(await summaries(model.url));
});
