// What applications send over OTLP/HTTP is kept and comes back equal through both query APIs; what cannot be kept is said, counted, and
// never taken for kept.

import { gzipSync } from 'node:zlib';
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { BasicTracerProvider, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { describe, expect, test } from 'vitest';
import { ReportError } from '../../../../src/collector/reporter.js';
import { OtlpReporter } from '../../../../src/exporters/otlp.js';
import { ownResource } from '../../../../src/formats/library.js';
import type { ArchivedSpan } from '../../../../src/record/archived-span.js';
import { batchOf, fullRecord, RESOURCE, randomTraces, record } from '../../../../test/exporters/support/records.js';
import { archivedSpan } from '../../../../test/support/archived-span.js';
import { TransportError } from '../../../graph/src/container/graph-error.js';
import { encodeOtlpJson } from '../../src/formats/encode.js';
import { decodeJaegerJson } from '../../src/formats/jaeger-json/read-traces.js';
import { decodeOtlpJson } from '../../src/formats/otlp/read-json.js';
import { ServerCounts, startArchiveServer } from '../../src/server/archive-server.js';
import { bodyLimits } from '../../src/server/ingest.js';
import { FULL_SPAN } from '../support/any-span.js';
import { MemoryArchive } from '../support/memory-archive.js';
import { decodeMessage, message, toProtobuf } from '../support/otlp-protobuf.js';
import { ask, onCleanUp, serve } from '../support/serve.js';

const PROTOBUF = { 'content-type': 'application/x-protobuf' };
const JSON_TYPE = { 'content-type': 'application/json' };
const body = encodeOtlpJson([FULL_SPAN]);
const post = (url: string, content: Uint8Array | string, headers: Record<string, string>) =>
  ask(`${url}/v1/traces`, { method: 'POST', body: content, headers });

const bySpan = (a: ArchivedSpan, b: ArchivedSpan): number => (a.traceId + a.spanId < b.traceId + b.spanId ? -1 : 1);
const sorted = (spans: readonly ArchivedSpan[]): ArchivedSpan[] => [...spans].sort(bySpan);

/** As far as Jaeger's older form says it. */
const inMicroseconds = ({ flags: _, ...span }: ArchivedSpan): ArchivedSpan => {
  const cut = (ns: bigint): bigint => ns - (ns % 1000n);
  return {
    ...span,
    startUnixNs: cut(span.startUnixNs),
    endUnixNs: cut(span.startUnixNs) + cut(span.endUnixNs - span.startUnixNs),
    events: span.events.map((event) => ({ ...event, timeUnixNs: cut(event.timeUnixNs) })),
  };
};

/** All spans the server has, through /api/v3 and through /api. */
const readBack = async (url: string, traceIds: readonly string[]) => {
  const v3: ArchivedSpan[] = [];
  const v1: ArchivedSpan[] = [];
  for (const id of new Set(traceIds)) {
    const { result } = (await ask(`${url}/api/v3/traces/${id}`)).json as { result: object };
    v3.push(...decodeOtlpJson(Buffer.from(JSON.stringify(result))).spans);
    v1.push(...decodeJaegerJson((await ask(`${url}/api/traces/${id}`)).body).spans);
  }
  return { v3: sorted(v3), v1: sorted(v1) };
};

describe('our reporter', () => {
  test.each([
    ['protobuf', 'none'],
    ['protobuf', 'gzip'],
    ['json', 'none'],
    ['json', 'gzip'],
  ] as const)('%s, compression %s', async (protocol, compression) => {
    const { url, archive, stats } = await serve();
    const reporter = new OtlpReporter({ endpoint: url, protocol, compression });
    onCleanUp(() => reporter.shutdown());
    const traces = [...randomTraces(7, 300, 60), [fullRecord()]];
    await reporter.report(batchOf(traces));
    expect(reporter.stats()).toMatchObject({ spansSent: 301 });
    expect(stats()).toMatchObject({ requests: 1, otlp: { requests: 1, spans: 301, spansInvalid: 0 } });
    // The model: what the archive would make of the records itself.
    const resource = ownResource(RESOURCE);
    const beyond = (properties: ArchivedSpan['properties']) =>
      'bigint.beyond' in properties
        ? {
            ...properties,
            bigints: [1, -(2n ** 63n)],
            'bigint.beyond': String(2n ** 63n),
            'bigint.below': String(-(2n ** 63n) - 1n),
          }
        : properties;
    const wanted = sorted(traces.flat().map((one) => archivedSpan(one, resource))).map((span) => ({
      ...span,
      properties: beyond(span.properties),
    }));
    expect(sorted(archive.all)).toEqual(wanted);
    const { v3, v1 } = await readBack(
      url,
      wanted.map(({ traceId }) => traceId),
    );
    expect(v3).toEqual(wanted);
    expect(v1.map(({ spanId }) => spanId)).toEqual(wanted.map(({ spanId }) => spanId));
    const plain = wanted.findIndex(({ properties, links }) => links.length === 0 && !('strings' in properties));
    expect(v1[plain]).toEqual({
      ...inMicroseconds(wanted[plain]),
      resource: { properties: { ...wanted[plain].resource.properties, 'cpu.ids': '[0,1]' } },
    });
  });

  test('what the archive refuses is told, and comes again', async () => {
    const { url, archive, stats } = await serve();
    const reporter = new OtlpReporter({ endpoint: url });
    onCleanUp(() => reporter.shutdown());
    archive.room = 0;
    const failure = await reporter.report(batchOf([[record()]])).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ReportError);
    expect(failure).toMatchObject({ retryable: true });
    archive.room = 1;
    await reporter.report(batchOf([[record(), record({ id: [1, 2] })]]));
    expect(reporter.stats()).toMatchObject({ spansSent: 2, rejectedSpans: 1 });
    expect(stats().otlp).toEqual({ requests: 2, spans: 1, spansInvalid: 0, spansRefused: 2 });
  });
});

describe('the OpenTelemetry SDK', () => {
  test.each([
    ['protobuf', ProtobufTraceSerializer, PROTOBUF],
    ['JSON', JsonTraceSerializer, JSON_TYPE],
  ])('%s', async (_, serializer, headers) => {
    const { url, archive } = await serve();
    const finished: ReadableSpan[] = [];
    const answers: number[] = [];
    const provider = new BasicTracerProvider({
      spanProcessors: [
        new SimpleSpanProcessor({
          export(spans, done) {
            finished.push(...spans);
            post(url, serializer.serializeRequest(spans) as Uint8Array, headers).then(({ status }) => {
              answers.push(status);
              done({ code: status === 200 ? 0 : 1 });
            }, done);
          },
          async shutdown() {},
        }),
      ],
    });
    const span = provider.getTracer('lib', '2.0').startSpan('GET /', {
      kind: SpanKind.SERVER,
      attributes: { a: 1, b: 1.5, c: 'x', d: [true, false] },
    });
    span.addEvent('hit', { n: 1 });
    span.setStatus({ code: SpanStatusCode.ERROR, message: 'no' });
    span.end();
    await provider.forceFlush();
    expect(answers).toEqual([200]);
    const { traceId, spanId } = span.spanContext();
    const { v3, v1 } = await readBack(url, [traceId]);
    const [seconds, nanos] = finished[0].startTime;
    expect(v3).toEqual([
      {
        ...archive.all[0],
        traceId,
        spanId,
        name: 'GET /',
        kind: 'server',
        startUnixNs: BigInt(seconds) * 1_000_000_000n + BigInt(nanos),
        properties: { a: 1, b: 1.5, c: 'x', d: [true, false] },
        status: { code: 'error', message: 'no' },
        scope: { name: 'lib', version: '2.0', properties: {} },
      },
    ]);
    expect(v1[0]).toEqual({
      ...inMicroseconds(v3[0]),
      properties: { ...v3[0].properties, d: '[true,false]' },
    });
  });
});

describe('answers', () => {
  test('a success is empty, in the form that was asked', async () => {
    const { url } = await serve();
    const json = await post(url, body, { 'content-type': 'application/json; charset=utf-8' });
    expect(json).toMatchObject({ status: 200, json: {}, headers: JSON_TYPE });
    const protobuf = await post(url, toProtobuf(body), PROTOBUF);
    expect(protobuf).toMatchObject({ status: 200, headers: PROTOBUF });
    expect(protobuf.body).toHaveLength(0);
    expect(await post(url, '', PROTOBUF)).toMatchObject({ status: 200 });
    expect(await post(url, '{}', JSON_TYPE)).toMatchObject({ status: 200, json: {} });
  });

  test('a partial success counts and says why', async () => {
    const { url, archive, stats } = await serve();
    const request = encodeOtlpJson([
      FULL_SPAN,
      { ...FULL_SPAN, traceId: 'ab' },
      { ...FULL_SPAN, traceId: 'cd' },
      { ...FULL_SPAN, endUnixNs: 1n },
    ]);
    const errorMessage = 'spans were not kept: 2 bad trace id, 1 end before start';
    const json = await post(url, request, JSON_TYPE);
    expect(json).toMatchObject({ status: 200, json: { partialSuccess: { rejectedSpans: '3', errorMessage } } });
    const protobuf = await post(url, toProtobuf(request), PROTOBUF);
    expect(decodeMessage('Response', protobuf.body)).toEqual({ partialSuccess: { rejectedSpans: '3', errorMessage } });
    expect(archive.all).toHaveLength(2);
    expect(stats().otlp).toMatchObject({ spans: 2, spansInvalid: 6 });
  });

  test.each<[number, RegExp, string | Uint8Array, Record<string, string>]>([
    [400, /no valid JSON/, 'nonsense', JSON_TYPE],
    [400, /no valid protobuf/, 'nonsense', PROTOBUF],
    [400, /not valid gzip/, 'nonsense', { ...JSON_TYPE, 'content-encoding': 'gzip' }],
    [400, /not valid gzip/, gzipSync(body).subarray(0, 50), { ...JSON_TYPE, 'content-encoding': 'gzip' }],
    [413, /larger than 10000 bytes/, ' '.repeat(10_001), JSON_TYPE],
    [413, /larger than 10000 bytes/, gzipSync(Buffer.alloc(10_001)), { ...JSON_TYPE, 'content-encoding': 'gzip' }],
    [413, /larger than 10000 bytes/, ' '.repeat(10_001), { ...JSON_TYPE, 'transfer-encoding': 'chunked' }],
    [415, /content type/, body, { 'content-type': 'text/plain' }],
    [415, /content type/, body, {}],
    [415, /content encoding/, body, { ...JSON_TYPE, 'content-encoding': 'br' }],
  ])('%i %s', async (status, words, content, headers) => {
    const { url, archive } = await serve({ maxBodyBytes: 10_000 });
    const answer = await post(url, content, headers);
    expect(answer.status).toBe(status);
    const said =
      headers['content-type'] === PROTOBUF['content-type'] ? decodeMessage('RpcStatus', answer.body) : answer.json;
    expect(said).toEqual({ message: expect.stringMatching(words) });
    expect(answer.headers['content-type']).toBe(
      headers['content-type'] === PROTOBUF['content-type'] ? PROTOBUF['content-type'] : 'application/json',
    );
    expect(archive.all).toEqual([]);
  });

  test('too many values in one request', async () => {
    const { url } = await serve();
    const values = Buffer.alloc(2_000_002);
    for (let i = 0; i < values.length; i += 2) values[i] = 0x0a;
    const attribute = message(1, message(2, message(5, values)));
    const answer = await post(url, message(1, message(1, attribute)), PROTOBUF);
    expect(answer.status).toBe(413);
  });

  test('what a full disk refuses is counted, by whichever port it came', async () => {
    const archive = new MemoryArchive();
    const counts = new ServerCounts();
    const [query, otlp] = await Promise.all(
      (['all', 'ingest'] as const).map((endpoints) => startArchiveServer({ archive, port: 0, endpoints }, [], counts)),
    );
    onCleanUp(() => Promise.all([query.close(), otlp.close()]));
    expect((await post(otlp.url, body, JSON_TYPE)).status).toBe(200);
    archive.flush = () => Promise.reject(new TransportError('the disk is full'));
    expect((await post(otlp.url, body, JSON_TYPE)).status).toBe(503);
    archive.append = () => {
      throw new TransportError('the disk is full');
    };
    expect((await post(otlp.url, body, JSON_TYPE)).status).toBe(503);
    expect((await ask(`${query.url}/stats`)).json).toMatchObject({
      server: { requests: 4, failed: 2, otlp: { requests: 3, spans: 1, spansInvalid: 0, spansRefused: 2 } },
    });
  });

  test('in a small heap a body may hold less', () => {
    expect([2 ** 31, 96 * 2 ** 20, 1].map((heap) => bodyLimits(heap).maxItems)).toEqual([1_000_000, 49_152, 1]);
  });

  test('a full archive and a failed disk: come again', async () => {
    const { url, archive } = await serve();
    archive.onFlush = async () => {
      throw new TransportError('the disk is full');
    };
    const failed = await post(url, body, JSON_TYPE);
    expect(failed).toMatchObject({ status: 503, headers: { 'retry-after': '2' } });
    expect(failed.json).toEqual({ message: expect.stringContaining('the disk is full') });
    archive.onFlush = async () => {};
    archive.room = 0;
    const full = await post(url, body, JSON_TYPE);
    expect(full).toMatchObject({ status: 503, headers: { 'retry-after': '2' } });
  });
});

describe('bounds', () => {
  test('bodies of all requests together: what is beyond is told to come again', async () => {
    const { url, stats } = await serve({ maxBodyBytes: 1000 });
    const slow = Array.from({ length: 5 }, () => {
      const controller = new AbortController();
      const stream = new ReadableStream({
        start(stream) {
          stream.enqueue(Buffer.from('{'.padEnd(900)));
          controller.signal.addEventListener('abort', () => {
            stream.enqueue(Buffer.from('}'));
            stream.close();
          });
        },
      });
      const init = { method: 'POST', headers: JSON_TYPE, body: stream, duplex: 'half' } as RequestInit;
      return { answer: fetch(`${url}/v1/traces`, init), finish: () => controller.abort() };
    });
    const first = await Promise.race(slow.map(({ answer }) => answer));
    expect(first.status).toBe(429);
    expect(first.headers.get('retry-after')).toBe('2');
    for (const { finish } of slow) finish();
    const statuses = (await Promise.all(slow.map(({ answer }) => answer))).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 200, 200, 200, 429]);
    expect(stats().bodiesRefused).toBe(1);
    expect(await post(url, '{}', JSON_TYPE)).toMatchObject({ status: 200 });
  });

  test('a success waits for the disk, and many wait for one flush', async () => {
    const { url, archive } = await serve();
    let release = (): void => {};
    archive.onFlush = () =>
      new Promise((resolve) => {
        release = resolve;
      });
    const answered: number[] = [];
    const send = () => post(url, body, JSON_TYPE).then(({ status }) => answered.push(status));
    const first = send();
    while (archive.flushes < 1) await new Promise((resolve) => setTimeout(resolve, 5));
    const others = Array.from({ length: 10 }, send);
    while (archive.all.length < 11) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(answered).toEqual([]);
    release();
    await first;
    while (archive.flushes < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(answered).toEqual([200]);
    release();
    await Promise.all(others);
    expect({ flushes: archive.flushes, answered: answered.length }).toEqual({ flushes: 2, answered: 11 });
  });
});
