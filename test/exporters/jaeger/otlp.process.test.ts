// Without a protocol the reporter speaks OTLP to Jaeger's own OTLP port.
import { afterEach, expect, test } from 'vitest';
import { JaegerReporter } from '../../../src/exporters/jaeger.js';
import { batchOf, numberedRecords } from '../support/records.js';
import { startCollector } from './support/collector.js';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

test.each([undefined, 'otlp' as const])('protocol %s: protobuf to /v1/traces', async (protocol) => {
  const collector = await startCollector();
  const reporter = new JaegerReporter({ protocol, endpoint: new URL(collector.endpoint).origin });
  cleanUps.push(
    () => collector.close(),
    () => reporter.shutdown(),
  );
  await reporter.report(batchOf([numberedRecords(3)]));
  await reporter.flush();
  expect(collector.received).toHaveLength(1);
  const [{ path, headers, body }] = collector.received;
  expect(path).toBe('/v1/traces');
  expect(headers['content-type']).toBe('application/x-protobuf');
  expect(body.includes('span 2')).toBe(true);
});
