// What goes wrong between a process and the server that takes its metrics: said once, and nothing is lost.
import { gunzipSync } from 'node:zlib';
import { afterEach, expect, test, vi } from 'vitest';
import { timers } from '../../src/base/calls/timers.js';
import { resolveOtlpOptions } from '../../src/exporters/otlp/options.js';
import { Counter } from '../../src/metrics/instruments.js';
import { OtlpMetricExporter } from '../../src/metrics/otlp-exporter.js';
import { Instruments, Reader } from '../../src/metrics/reader.js';
import { deadUrl, startServer, type TestServer } from '../exporters/support/http-server.js';
import { encodeMessage } from '../exporters/support/otlp-decode.js';
import { otlpMessages } from '../support/otlp-messages.js';

const Request = otlpMessages.lookupType('MetricsRequest');

/** The one sum in a body. */
const sumIn = (body: Uint8Array): unknown => {
  const text = JSON.stringify(Request.toObject(Request.decode(body), { longs: String }));
  return /"asInt":"(\d+)"/.exec(text)?.[1];
};

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const serve = async (...args: Parameters<typeof startServer>): Promise<TestServer> => {
  const server = await startServer(...args);
  cleanUps.push(() => server.close());
  return server;
};

const exporterTo = (env: Readonly<Record<string, string>>, exitTimeoutMs = 5000, intervalMs = 60_000) => {
  const instruments = new Instruments();
  const requests = instruments.add(new Counter({ name: 'requests', unit: '1', description: '', isWhole: true }));
  const warnings: string[] = [];
  const exporter = new OtlpMetricExporter({
    otlp: resolveOtlpOptions({}, env, 'METRICS'),
    reader: new Reader(instruments, 'delta'),
    resource: () => ({ properties: { 'service.name': 'shop' } }),
    intervalMs,
    timeoutMs: 5000,
    exitTimeoutMs,
    warn: (message) => warnings.push(message),
  });
  cleanUps.push(() => exporter.close());
  return { exporter, requests, warnings };
};

test('nobody answers: one warning, which names what to set, and the next export has all', async () => {
  const { exporter, requests, warnings } = exporterTo({ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: await deadUrl() });
  requests.add(1);
  await exporter.export();
  await exporter.export();
  exporter.exportSync();
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatch(/^Metrics were not sent.*could not be reached.*OTEL_EXPORTER_OTLP_METRICS_ENDPOINT\.$/);
  expect([exporter.exportsSent, exporter.exportsFailed]).toEqual([0, 3]);
});

test('what was refused is in the next export, compressed as asked, with the headers of the variables', async () => {
  const server = await serve((response, _, n) => {
    response.statusCode = n === 1 ? 503 : 200;
    response.end();
  });
  const { exporter, requests } = exporterTo({
    OTEL_EXPORTER_OTLP_ENDPOINT: server.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a',
    OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'api-key=b',
    OTEL_EXPORTER_OTLP_METRICS_COMPRESSION: 'gzip',
  });
  requests.add(1);
  await exporter.export();
  requests.add(10);
  await exporter.export();
  requests.add(100);
  await exporter.exportLast();
  const seen = server.requests.map(({ path, headers, body }) => [path, headers['api-key'], sumIn(gunzipSync(body))]);
  expect(seen).toEqual([
    ['/v1/metrics', 'b', '1'],
    ['/v1/metrics', 'b', '11'],
    ['/v1/metrics', 'b', '100'],
  ]);
  expect([exporter.exportsSent, exporter.exportsFailed]).toEqual([2, 1]);
});

test('at once, where nothing asynchronous runs any more', async () => {
  // The server is in this thread, which waits: it answers nobody until the time is up.
  const server = await serve();
  const { exporter, requests, warnings } = exporterTo({ OTEL_EXPORTER_OTLP_ENDPOINT: server.url }, 300);
  requests.add(7);
  exporter.exportSync();
  expect(exporter.exportsFailed).toBe(1);
  expect(warnings[0]).toContain('did not answer');
});

test('a server that takes a part says so once', async () => {
  const partial = { partialSuccess: { rejectedSpans: 3, errorMessage: 'too old' } };
  const server = await serve((response) => {
    response.setHeader('content-type', 'application/x-protobuf').end(encodeMessage('Response', partial));
  });
  const { exporter, warnings } = exporterTo({ OTEL_EXPORTER_OTLP_ENDPOINT: server.url });
  await exporter.export();
  await exporter.export();
  expect(warnings).toEqual(['The OTLP server rejected 3 points: too old']);
});

test('an interval longer than a timer can wait is the longest, not the shortest', async () => {
  const setInterval = vi.spyOn(timers, 'setInterval');
  cleanUps.push(() => setInterval.mockRestore());
  exporterTo({ OTEL_EXPORTER_OTLP_ENDPOINT: await deadUrl() }, 5000, 2 ** 40).exporter.start();
  expect(setInterval.mock.calls[0][1]).toBe(2 ** 31 - 1);
});
