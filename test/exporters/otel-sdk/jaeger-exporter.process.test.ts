// The official Jaeger exporter runs on our records, over UDP and HTTP; and what it loses on the way is what the docs list.
import { JaegerExporter } from '@opentelemetry/exporter-jaeger';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { OtelSdkReporter } from '../../../src/exporters/otel-sdk.js';
import { EventRecord, type SpanRecord, TraceIdentity } from '../../../src/record/record.js';
import { closedPort, startAgent, type UdpAgent } from '../jaeger/support/udp-agent.js';
import { startServer, type TestServer } from '../support/http-server.js';
import { batchOf, numberedRecords, RESOURCE, record } from '../support/records.js';
import { decodeHttpBody, decodePacket, type OfficialBatch } from './support/decode-official.js';

const SPAN = record({
  trace: new TraceIdentity(0x0af76519, 0x16cd43dd, 0x8448eb21, 0x1c80319c, 'vendor=1'),
  parent: [1, 2],
  name: 'GET /zboží',
  kind: 'client',
  properties: [
    'int',
    42,
    'text',
    'a',
    'flag',
    true,
    'exact',
    9_007_199_254_740_993n,
    'list',
    ['a', 'b,c'],
    'ints',
    [1, 2],
  ],
  events: [new EventRecord('miss', 1_700_000_000, 123_500_007, ['size', 17])],
  links: [
    {
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      spanId: '00f067aa0ba902b7',
      traceState: 'a=b',
      properties: { why: 'batch' },
    },
  ],
  status: { code: 'error', message: 'broke' },
  hasRemoteParent: true,
});

let agent: UdpAgent;
let server: TestServer;
let close: (() => Promise<void>)[] = [];

beforeEach(async () => {
  agent = await startAgent();
  server = await startServer((response) => response.writeHead(202).end());
});
afterEach(async () => {
  for (const one of close) await one().catch(() => {});
  close = [];
  await agent.close();
  await server.close();
});

const open = (options: object): OtelSdkReporter => {
  const reporter = new OtelSdkReporter(new JaegerExporter({ flushTimeout: 100, ...options }));
  close.push(() => reporter.shutdown());
  return reporter;
};
const overUdp = () => open({ host: '127.0.0.1', port: agent.port });
const overHttp = () => open({ endpoint: `${server.url}/api/traces` });

const sendOverHttp = async (...batches: (readonly SpanRecord[])[]): Promise<OfficialBatch[]> => {
  const reporter = overHttp();
  for (const spans of batches) await reporter.report(batchOf([spans]));
  return server.requests.map(({ body }) => decodeHttpBody(body));
};

test('UDP: all spans arrive', async () => {
  const reporter = overUdp();
  await reporter.report(batchOf([numberedRecords(30), numberedRecords(7)]));
  const received = () => agent.packets.flatMap((packet) => decodePacket(packet).spans);
  await agent.until(() => received().length === 37);
  expect(received().map(({ operationName }) => operationName)).toEqual(
    [...numberedRecords(30), ...numberedRecords(7)].map(({ name }) => name),
  );
  expect(reporter.stats()).toMatchObject({ spansExported: 37, exportCalls: 1, exportsFailed: 0 });
});

test('HTTP: what arrives of a span as it was', async () => {
  const [{ spans }] = await sendOverHttp([SPAN]);
  const [span] = spans;
  expect(span).toMatchObject({
    traceId: SPAN.traceId,
    spanId: SPAN.spanId,
    parentSpanId: SPAN.parentSpanId,
    operationName: 'GET /zboží',
    references: [{ refType: 'FOLLOWS_FROM', spanId: '00f067aa0ba902b7' }],
  });
  expect(span.tags).toEqual(
    expect.arrayContaining([
      ['text', 'STRING', 'a'],
      ['flag', 'BOOL', true],
      ['span.kind', 'STRING', 'client'],
      ['otel.status_code', 'STRING', 'ERROR'],
      ['otel.status_description', 'STRING', 'broke'],
      ['error', 'BOOL', true],
    ]),
  );
  expect(span.logs[0].fields[0]).toEqual(['event', 'STRING', 'miss']);
});

describe('its losses', () => {
  test('integers become doubles; those beyond 2^53 are text, because the SDK has no type for them', async () => {
    const [{ spans }] = await sendOverHttp([SPAN]);
    expect(spans[0].tags).toContainEqual(['int', 'DOUBLE', 42]);
    expect(spans[0].tags).toContainEqual(['exact', 'STRING', '9007199254740993']);
    expect(spans[0].logs[0].fields).toContainEqual(['size', 'DOUBLE', 17]);
  });

  test('arrays become text with commas, from which they cannot be had back', async () => {
    const [{ spans }] = await sendOverHttp([SPAN]);
    expect(spans[0].tags).toContainEqual(['list', 'STRING', 'a,b,c']);
    expect(spans[0].tags).toContainEqual(['ints', 'STRING', '1,2']);
  });

  test('nanoseconds are cut off to microseconds', async () => {
    const [{ spans }] = await sendOverHttp([SPAN]);
    expect(spans[0].startTime).toBe(1_700_000_000_123_456n);
    expect(spans[0].duration).toBe(542n);
    expect(spans[0].logs[0].timestamp).toBe(1_700_000_000_123_500n);
  });

  test("a link's properties and tracestate, the span's own tracestate, and whether the parent is remote", async () => {
    const [{ spans }] = await sendOverHttp([SPAN]);
    const all = JSON.stringify(spans, (_key, value) => (typeof value === 'bigint' ? value.toString() : value));
    expect(all).not.toContain('batch');
    expect(all).not.toContain('a=b');
    expect(all).not.toContain('vendor=1');
    expect(all).not.toMatch(/remote/i);
  });

  test('the service name is that of the first span for good; the true one is a tag', async () => {
    const reporter = overHttp();
    await reporter.report(batchOf([[SPAN]]));
    await reporter.report(batchOf([[SPAN]], { serviceName: 'bank', attributes: {} }));
    const [, second] = server.requests.map(({ body }) => decodeHttpBody(body));
    expect(second.serviceName).toBe('shop');
    expect(second.spans[0].tags).toContainEqual(['service.name', 'STRING', 'bank']);
  });

  test('the resource is repeated as tags of every span and missing from the process', async () => {
    const [{ spans, processTags }] = await sendOverHttp(numberedRecords(3));
    for (const { tags } of spans) expect(tags).toContainEqual(['host.name', 'STRING', 'h1']);
    expect(processTags).toEqual([]);
  });

  test('UDP: it calls a success what nobody received', async () => {
    const reporter = open({ host: '127.0.0.1', port: await closedPort() });
    for (let i = 0; i < 3; i++) await reporter.report(batchOf([numberedRecords(2)]));
    expect(reporter.stats()).toMatchObject({ spansExported: 6, exportsFailed: 0 });
  });

  test('UDP: a span too large for a packet stops the spans behind it', async () => {
    const reporter = overUdp();
    const spans = [
      record({ name: 'before' }),
      record({ name: 'large', properties: ['x', 'x'.repeat(70_000)] }),
      record({ name: 'behind' }),
    ];
    const failed = await reporter.report(batchOf([spans])).then(
      () => undefined,
      (error) => error,
    );
    expect(failed).toMatchObject({ code: 'ERR_SPANLINE_EXPORT', retryable: true });
    const names = agent.packets.flatMap((packet) =>
      decodePacket(packet).spans.map(({ operationName }) => operationName),
    );
    expect(names).not.toContain('behind');
  });
});

test('HTTP: a failing server fails the report', async () => {
  server.answer = (response) => response.writeHead(503).end();
  const reporter = overHttp();
  await expect(reporter.report(batchOf([[SPAN]], RESOURCE))).rejects.toMatchObject({
    code: 'ERR_SPANLINE_EXPORT',
    message: expect.stringContaining('503'),
  });
  expect(reporter.stats()).toMatchObject({ exportsFailed: 1, spansExported: 0 });
  expect(reporter.lastError).toContain('503');
});
