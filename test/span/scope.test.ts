// A span that another library records says so: from its options through rows to every form that it is sent in.

import { expect, onTestFinished, test } from 'vitest';
import { decodeOtlpJson, decodeOtlpProtobuf } from '../../packages/archive/src/index.js';
import { Collector } from '../../src/collector/collector.js';
import type { ReportBatch } from '../../src/collector/reporter.js';
import { state } from '../../src/context/process-state.js';
import { BatchSpans, RequestBuilder } from '../../src/exporters/batch-spans.js';
import { toSdkResource, toSdkSpan } from '../../src/exporters/otel-sdk/sdk-span.js';
import { OWN_SCOPE } from '../../src/formats/library.js';
import { JsonFormat } from '../../src/formats/otlp/write-json.js';
import { ProtobufFormat } from '../../src/formats/otlp/write-protobuf.js';
import { LocalSpan } from '../../src/local-span/local-span.js';
import { toArchived } from '../../src/record/object-view.js';
import { internedScope, internScope, spanScope } from '../../src/rows/row-text.js';
import { Span } from '../../src/span/span.js';

const HTTP = spanScope('lib-http', '1.2.3', 'https://opentelemetry.io/schemas/1.27.0', { tier: 'edge', weight: 2 });
const REDIS = spanScope('lib-redis');

const record = async (check: (batch: ReportBatch) => void): Promise<void> => {
  const collector = new Collector();
  let error: unknown;
  let reports = 0;
  collector.setReporter({
    name: 'check',
    report(batch) {
      reports++;
      try {
        check(batch);
      } catch (thrown) {
        error = thrown;
      }
    },
  });
  const root = Span.root('GET', undefined, { collector, kind: 'server', scope: HTTP });
  root.run(() => LocalSpan.start('local').end());
  for (const name of ['get', 'set']) {
    Span.start(name, root, { scope: REDIS }).end();
    Span.start(`own ${name}`, root).end();
  }
  root.setStatus('error', 'late').end();
  await collector.shutdown();
  expect(reports).toBe(1);
  if (error !== undefined) throw error;
};

const EXPECTED: Readonly<Record<string, string>> = {
  GET: 'lib-http',
  local: 'spanline',
  get: 'lib-redis',
  set: 'lib-redis',
  'own get': 'spanline',
  'own set': 'spanline',
};

test('rows, records and archive', () =>
  record((batch) => {
    const spans = new BatchSpans(batch);
    for (let i = 0; i < batch.spanCount; i++) {
      const view = spans.viewAt(i);
      expect(view.scope.name).toBe(EXPECTED[view.name]);
      expect(toArchived(view).scope).toBe(view.scope);
      expect(view.kind).toBe(view.name === 'GET' ? 'server' : 'internal');
      expect(view.statusCode).toBe(view.name === 'GET' ? 'error' : 'unset');
    }
    for (const span of batch.traces[0].spans) expect(span.scope?.name ?? 'spanline').toBe(EXPECTED[span.name]);
    const root = toSdkSpan(batch.traces[0].root as never, toSdkResource(batch.resource));
    expect(root.instrumentationScope).toEqual({
      name: 'lib-http',
      version: '1.2.3',
      schemaUrl: 'https://opentelemetry.io/schemas/1.27.0',
      attributes: { tier: 'edge', weight: 2 },
    });
  }));

test.each([
  ['protobuf', new ProtobufFormat(), decodeOtlpProtobuf],
  ['JSON', new JsonFormat(), decodeOtlpJson],
])('OTLP in %s names each library once', (_, format, decode) =>
  record((batch) => {
    const builder = new RequestBuilder(format, 4 << 20);
    const spans = new BatchSpans(batch);
    const send = (only: (name: string) => boolean): Buffer => {
      builder.begin(batch.resource);
      for (let i = 0; i < batch.spanCount; i++) {
        const view = spans.viewAt(i);
        if (only(view.name)) expect(builder.add(view)).toBe('added');
      }
      return builder.end();
    };
    const all = send(() => true);
    expect(all.toString('latin1').split('lib-redis')).toHaveLength(2);
    const decoded = decode(all).spans;
    expect(decoded.map(({ name, scope }) => [name, scope.name]).sort()).toEqual(Object.entries(EXPECTED).sort());
    expect(decoded.find(({ name }) => name === 'GET')?.scope).toEqual({ ...HTTP });
    // One library alone, ours or another.
    for (const one of ['GET', 'own get']) {
      const [span] = decode(send((name) => name === one)).spans;
      expect([span.name, span.scope.name]).toEqual([one, EXPECTED[one]]);
    }
    expect(decode(send(() => false)).spans).toEqual([]);
    // What was left of the last request is not in the next.
    expect(decode(send(() => true)).spans).toHaveLength(6);
  }),
);

test('equal descriptions are one scope, and the table is bounded', () => {
  const number = internScope(HTTP);
  expect(number).toBeGreaterThan(0);
  expect(internedScope(number)).toBe(HTTP);
  expect(spanScope('lib-http', '1.2.3', HTTP.schemaUrl, { tier: 'edge', weight: 2 })).toBe(HTTP);
  expect(spanScope('lib-http', '1.2.4')).not.toBe(HTTP);
  // The table is the thread's, which goes on with other files.
  const before = state.scopes.length;
  onTestFinished(() => {
    state.scopes.length = before;
  });
  for (let i = 0; i < 5000; i++) internScope({ name: `scope ${i}`, version: '', properties: {} });
  expect(internScope({ name: 'one more', version: '', properties: {} })).toBe(0);
  expect(internedScope(0)).toBeUndefined();
  expect(OWN_SCOPE.name).toBe('spanline');
});
