// From an application to a reader, over real sockets and files: what our exporter and OpenTelemetry's SDK send to a server is on the disk
// when they are told so, survives the server, and is read back equal.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { BasicTracerProvider, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { beforeEach, expect, test } from 'vitest';
import { Collector } from '../../../../src/collector/collector.js';
import { MemoryReporter } from '../../../../src/exporters/memory.js';
import { OtlpReporter } from '../../../../src/exporters/otlp.js';
import type { ArchivedSpan } from '../../../../src/record/archived-span.js';
import { Span } from '../../../../src/span/span.js';
import { Archive } from '../../src/archive.js';
import { ask, onCleanUp, serve } from '../support/serve.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'spanline-end-to-end-'));
  onCleanUp(() => rmSync(directory, { recursive: true }));
});

const openServer = async () => {
  const archive = await Archive.open(directory);
  const { url, close } = await serve({ archive });
  return {
    url,
    archive,
    async stop() {
      await close();
      await archive.close();
    },
  };
};

/** All that a new reader finds on the disk. */
const onDisk = async (): Promise<ArchivedSpan[]> => {
  const reader = await Archive.open(directory, { readOnly: true });
  const found = await reader.search({ limit: 1000 });
  const traces = await reader.traces(found.map(({ traceId }) => traceId));
  await reader.close();
  return [...traces.values()].flat();
};

const work = async (collector: Collector, round: number): Promise<void> => {
  const root = Span.root(`round ${round}`, undefined, { collector, kind: 'server', properties: { round } });
  await root.run(async () => {
    const child = Span.startWithLocalParent('step');
    child.addEvent('half', { percent: 50 });
    await new Promise(setImmediate);
    child.setStatus('error', 'late').end();
  });
  root.end();
};

const ROUNDS = 50;

test.each([
  ['protobuf', 'gzip'],
  ['json', 'none'],
] as const)('our exporter, %s, compression %s', async (protocol, compression) => {
  const { url, stop } = await openServer();
  const collector = new Collector({ serviceName: 'app' });
  const memory = new MemoryReporter();
  collector.setReporter([memory, new OtlpReporter({ endpoint: url, protocol, compression })]);
  for (let round = 0; round < ROUNDS; round++) await work(collector, round);
  await collector.flush();
  // Told so: another process sees it while this one runs.
  expect(await onDisk()).toHaveLength(ROUNDS * 2);
  await collector.shutdown();
  await stop();
  const found = await onDisk();
  expect(found).toHaveLength(ROUNDS * 2);
  for (const record of memory.spans) {
    const span = found.find(({ spanId }) => spanId === record.spanId);
    expect(span).toMatchObject({
      traceId: record.traceId,
      parentSpanId: record.parentSpanId,
      name: record.name,
      kind: record.kind,
      startUnixNs: record.startUnixNs,
      endUnixNs: record.endUnixNs,
      properties: record.properties,
      status: { code: record.status.code, message: record.status.message ?? '' },
      events: record.events.map(({ name, timeUnixNs }) => ({ name, timeUnixNs })),
    });
    expect(span?.resource.properties['service.name']).toBe('app');
  }
});

test("OpenTelemetry's SDK", async () => {
  const { url, archive, stop } = await openServer();
  const provider = new BasicTracerProvider({
    spanProcessors: [
      new SimpleSpanProcessor({
        export(spans: ReadableSpan[], done) {
          const body = gzipSync(ProtobufTraceSerializer.serializeRequest(spans) as Uint8Array);
          const headers = { 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip' };
          ask(`${url}/v1/traces`, { method: 'POST', body, headers }).then(
            ({ status }) => done({ code: status === 200 ? 0 : 1 }),
            (error: Error) => done({ code: 1, error }),
          );
        },
        async shutdown() {},
      }),
    ],
  });
  const span = provider.getTracer('lib', '2.0').startSpan('GET /', { attributes: { list: ['a', 'b'] } });
  span.end();
  await provider.forceFlush();
  const { traceId } = span.spanContext();
  expect(await archive.trace(traceId)).toMatchObject([{ name: 'GET /', properties: { list: ['a', 'b'] } }]);
  const { json } = await ask(`${url}/api/traces/${traceId}`);
  expect(json).toMatchObject({ data: [{ traceID: traceId, spans: [{ operationName: 'GET /' }] }], errors: null });
  await stop();
  expect(await onDisk()).toMatchObject([{ name: 'GET /', scope: { name: 'lib', version: '2.0' } }]);
});
