// Over real HTTP: what the collector accepts arrives once; what it refuses surfaces, and is sent again only when that helps.
import { afterEach, expect, test } from 'vitest';
import { type JaegerHttpOptions, JaegerReporter } from '../../../src/exporters/jaeger.js';
import type { SpanRecord } from '../../../src/record/record.js';
import { batchOf, numberedRecords, record } from '../support/records.js';
import { type HttpCollector, startCollector } from './support/collector.js';
import { decodeHttpBody } from './support/decode.js';
import { closedPort } from './support/udp-agent.js';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const start = async (options: Partial<JaegerHttpOptions> = {}): Promise<[JaegerReporter, HttpCollector]> => {
  const collector = await startCollector();
  const reporter = new JaegerReporter({ protocol: 'thrift-http', endpoint: collector.endpoint, ...options });
  cleanUps.push(
    () => collector.close(),
    () => reporter.shutdown(),
  );
  return [reporter, collector];
};

const names = (spans: readonly SpanRecord[]): string[] => spans.map((one) => one.name);
const namesIn = ({ received }: HttpCollector): string[] =>
  received
    .filter(({ status }) => status < 300 && status > 0)
    .flatMap(({ body }) => decodeHttpBody(body).spans.map((one) => one.operationName));

test('a batch is one POST of application/x-thrift', async () => {
  const [reporter, collector] = await start({ headers: { authorization: 'Basic abc' } });
  await reporter.report(batchOf([numberedRecords(3), numberedRecords(2)]));
  expect(collector.received).toHaveLength(1);
  const [{ method, path, headers, body }] = collector.received;
  expect({ method, path }).toEqual({ method: 'POST', path: '/api/traces' });
  expect(headers).toMatchObject({ 'content-type': 'application/x-thrift', authorization: 'Basic abc' });
  expect(decodeHttpBody(body)).toMatchObject({ serviceName: 'shop', spans: { length: 5 } });
  expect(reporter.stats()).toEqual({
    requestsSent: 1,
    requestsFailed: 0,
    spansSent: 5,
    spansRefused: 0,
    bytesSent: body.length,
    spansTooLarge: 0,
  });
});

test('a large batch is split; a span too large for any request is counted', async () => {
  const [reporter, collector] = await start({ maxRequestBytes: 10_000 });
  const spans = numberedRecords(500);
  spans[250] = record({ name: 'large', properties: ['blob', 'x'.repeat(20_000)] });
  await reporter.report(batchOf([spans]));
  expect(collector.received.length).toBeGreaterThan(5);
  for (const { body } of collector.received) expect(body.length).toBeLessThanOrEqual(10_000);
  expect(namesIn(collector)).toEqual(names(spans).filter((name) => name !== 'large'));
  expect(reporter.stats()).toMatchObject({ spansSent: 499, spansTooLarge: 1 });
  expect(reporter.lastError).toContain('maxRequestBytes is 10000');
});

test('503 with Retry-After: the error says when, and the retry sends what was not accepted', async () => {
  const [reporter, collector] = await start({ maxRequestBytes: 10_000 });
  const spans = numberedRecords(500);
  collector.answers.push({ status: 202 }, { status: 202 }, { status: 503, headers: { 'retry-after': '7' } });
  const batch = batchOf([spans]);
  await expect(reporter.report(batch)).rejects.toMatchObject({
    code: 'ERR_SPANLINE_HTTP_STATUS',
    retryable: true,
    retryAfterMs: 7000,
  });
  const accepted = namesIn(collector).length;
  expect(accepted).toBeGreaterThan(0);
  expect(reporter.stats()).toMatchObject({ requestsSent: 2, requestsFailed: 1, spansSent: accepted });
  await reporter.report(batch);
  expect(namesIn(collector)).toEqual(names(spans));
});

test.each([
  [400, false],
  [404, false],
  [429, true],
  [502, true],
])('status %i surfaces; worth a retry: %s', async (status, retryable) => {
  const [reporter, collector] = await start();
  collector.answers.push({ status, body: 'Unable to process request body', headers: { 'content-type': 'text/plain' } });
  await expect(reporter.report(batchOf([numberedRecords(1)]))).rejects.toMatchObject({
    retryable,
    message: expect.stringContaining('Unable to process request body'),
  });
  expect(reporter.stats()).toMatchObject({ requestsFailed: 1, spansSent: 0 });
});

test('a request refused for good between accepted ones: its spans are counted, the others are not lost with it', async () => {
  const [reporter, collector] = await start({ maxRequestBytes: 10_000 });
  collector.answers.push({ status: 202 }, { status: 400 });
  await reporter.report(batchOf([numberedRecords(500)]));
  const { spansSent, spansRefused, requestsFailed } = reporter.stats();
  expect(namesIn(collector)).toHaveLength(spansSent);
  expect({ all: spansSent + spansRefused, requestsFailed }).toEqual({ all: 500, requestsFailed: 1 });
  expect(reporter.lastError).toContain('400');
});

test('a connection that breaks and a port on which nothing listens are worth a retry', async () => {
  const [reporter, collector] = await start();
  collector.answers.push({ status: 0 });
  const batch = batchOf([numberedRecords(1)]);
  await expect(reporter.report(batch)).rejects.toMatchObject({ code: 'ERR_SPANLINE_CONNECT', retryable: true });
  await reporter.report(batch);
  expect(namesIn(collector)).toEqual(['span 0']);
  const [lost] = await start({ endpoint: `http://127.0.0.1:${await closedPort()}/api/traces` });
  await expect(lost.report(batch)).rejects.toMatchObject({ code: 'ERR_SPANLINE_CONNECT', retryable: true });
});

test('reports that overlap do not mix', async () => {
  const [reporter, collector] = await start({ maxRequestBytes: 5000 });
  const batches = [numberedRecords(300), numberedRecords(200), numberedRecords(100)].map((spans) => batchOf([spans]));
  await Promise.all(batches.map((batch) => reporter.report(batch)));
  expect(namesIn(collector)).toEqual(batches.flatMap((batch) => names(batch.traces[0].spans)));
});
