// A real Jaeger shows every span as it was recorded, by whichever protocol it came.
import { JaegerExporter } from '@opentelemetry/exporter-jaeger';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import { expect, test } from 'vitest';
import type { RunningJaeger } from '../../scripts/lib/jaeger.mjs';
import type { ReportBatch, Reporter } from '../../src/collector/reporter.js';
import { JaegerReporter } from '../../src/exporters/jaeger.js';
import { OtelSdkReporter } from '../../src/exporters/otel-sdk.js';
import { OtlpReporter } from '../../src/exporters/otlp.js';
import { flush, LocalSpan, Span, SpanContext, setReporter } from '../../src/index.js';
import { type SpanRecord, TraceIdentity } from '../../src/record/record.js';
import { batchOf, EVERY_VALUE, fullRecord, RESOURCE, randomTraces, record } from '../exporters/support/records.js';
import { describeJaeger } from '../support/jaeger.js';
import { samples } from '../support/samples.js';
import { expectedSpan, type JsonTrace, orphanWarning, type ShownSpan, shownSpans } from './support/jaeger-spans.js';

/** What a program records: every way to begin a span, every kind, status, property, event and link. */
const recorded = async (): Promise<SpanRecord[][]> => {
  const records: SpanRecord[][] = [];
  setReporter({ name: 'catch', report: ({ traces }) => void records.push(...traces.map(({ spans }) => [...spans])) });
  const remote = SpanContext.random();
  const root = Span.root('root', SpanContext.random(), { kind: 'server', properties: { a: 1, b: 2.5, c: ['x', 'y'] } });
  await root.run(async () => {
    for (let i = 0; i < 50; i++) LocalSpan.start('local').addProperty('i', i).end();
    const local = LocalSpan.start('with event').addEvent('hit', { key: 'k', size: 9_007_199_254_740_993n });
    local.end();
    await null;
    const failed = Span.startWithLocalParent('failed');
    failed.setStatus('error', 'nope').end();
    for (const kind of ['client', 'producer', 'consumer', 'internal'] as const)
      Span.startWithLocalParent(kind, { kind }).setStatus('ok').end();
  });
  const other = Span.root('other');
  Span.start('of two', [root, other]).addLink(remote).end();
  other.addLink(root, { why: 'batch' }).end();
  root.end();
  Span.root('remote', remote).end();
  await flush();
  setReporter([]);
  return records;
};

const NOT_IN_JSON = new Set(['double.nan', 'double.infinity', 'double.minus']);
/** Jaeger cannot show the trace of a double that JSON does not have; over Thrift we send text. */
const finite = EVERY_VALUE.flatMap((key, i, list) =>
  i % 2 === 0 && !NOT_IN_JSON.has(key as string) ? [key, list[i + 1]] : [],
) as typeof EVERY_VALUE;

/** Over Thrift Jaeger makes an error of a span without a status whose `http.status_code` is one. */
const STATUS_KEY = 'app.status_code';

/** The traces in ids of their own, since all go to one Jaeger. */
const renumbered = (traces: readonly (readonly SpanRecord[])[], mark: number): SpanRecord[][] =>
  traces.map((spans) => {
    const { w1, w2, w3, traceState } = spans[0].trace;
    const trace = new TraceIdentity((spans[0].trace.w0 ^ mark) >>> 0, w1, w2, w3, traceState);
    return spans.map((one) =>
      record({
        trace,
        id: [one.idHi, one.idLo],
        parent: [one.parentHi, one.parentLo],
        name: one.name,
        kind: one.kind,
        start: [one.startSec, one.startNano],
        end: [one.endSec, one.endNano],
        properties: one.propertyList?.map((item) => (item === 'http.status_code' ? STATUS_KEY : item)) ?? null,
        events: one.events,
        links: one.links,
        status: one.status,
        hasRemoteParent: one.hasRemoteParent,
      }),
    );
  });

const traceIn = (queryUrl: string, id: string): Promise<Response> => fetch(`${queryUrl}/api/traces/${id}`);

/** What Jaeger has of some traces, once it has all of their spans: datagrams are not acknowledged. */
const shownBy = async ({ queryUrl }: RunningJaeger, traces: readonly (readonly SpanRecord[])[]) => {
  const shown = new Map<string, ShownSpan>();
  for (const spans of traces) {
    for (;;) {
      const answer = await traceIn(queryUrl, spans[0].traceId);
      const { data } = (await answer.json()) as { data: readonly JsonTrace[] | null };
      const found = shownSpans(data ?? []);
      if (found.size >= spans.length) {
        for (const [id, span] of found) shown.set(id, span);
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  return shown;
};

/** The official serializer, sent by hand. */
class OfficialOtlp implements SpanExporter {
  constructor(private readonly url: string) {}
  export(spans: ReadableSpan[], done: (result: { code: number; error?: Error }) => void): void {
    const body = ProtobufTraceSerializer.serializeRequest(spans) as Uint8Array<ArrayBuffer>;
    const headers = { 'content-type': 'application/x-protobuf' };
    fetch(`${this.url}/v1/traces`, { method: 'POST', headers, body }).then(
      ({ ok }) => done({ code: ok ? 0 : 1 }),
      (error) => done({ code: 1, error }),
    );
  }
  async shutdown(): Promise<void> {}
}

const udp = (protocol: 'thrift-compact-udp' | 'thrift-binary-udp', port: number): Reporter =>
  new JaegerReporter({ protocol, host: '127.0.0.1', port });

const WAYS: readonly [name: string, mark: number, isThrift: boolean, reporter: (jaeger: RunningJaeger) => Reporter][] =
  [
    ['OTLP in protobuf', 1, false, ({ otlpUrl }) => new OtlpReporter({ endpoint: otlpUrl })],
    ['OTLP in JSON', 2, false, ({ otlpUrl }) => new OtlpReporter({ endpoint: otlpUrl, protocol: 'json' })],
    ['OTLP of JaegerReporter', 3, false, ({ otlpUrl }) => new JaegerReporter({ endpoint: otlpUrl })],
    [
      'Thrift over HTTP',
      4,
      true,
      ({ thriftUrl }) => new JaegerReporter({ protocol: 'thrift-http', endpoint: thriftUrl }),
    ],
    ['compact Thrift over UDP', 5, true, ({ compactPort }) => udp('thrift-compact-udp', compactPort)],
    ['binary Thrift over UDP', 6, true, ({ binaryPort }) => udp('thrift-binary-udp', binaryPort)],
  ];

/** Short spans, whose durations are less than a microsecond, and one of none. */
const SHORT = [1, 999, 1000, 1001, 0].map((ns, i) =>
  record({
    trace: new TraceIdentity(7, 7, 7, 7, ''),
    id: [7, i + 1],
    start: [1_700_000_000, 0],
    end: [1_700_000_000, ns],
  }),
);

/** Random spans of each way. */
const SPANS = samples(200, 1000);

const report = async (reporter: Reporter, batch: ReportBatch): Promise<void> => {
  await reporter.report(batch);
  await reporter.shutdown?.();
};

describeJaeger('a real Jaeger', (jaeger) => {
  test.each(WAYS)('%s', async (name, mark, isThrift, reporter) => {
    const properties = isThrift ? EVERY_VALUE : finite;
    const made = [
      [fullRecord({ properties }), fullRecord({ id: [3, 4], kind: 'internal', events: [], links: [], properties })],
      // Jaeger takes a span of no length over OTLP for one that ends before it starts, which is what its warning says.
      isThrift ? SHORT : SHORT.slice(0, -1),
      ...(await recorded()),
      // No more datagrams than the system holds while Jaeger has no time to read them.
      ...randomTraces(mark, name.endsWith('UDP') ? 200 : SPANS),
    ];
    const traces = renumbered(made, mark << 8);
    await report(reporter(jaeger()), batchOf(traces));
    const shown = await shownBy(jaeger(), traces);
    const expected = new Map<string, ShownSpan>();
    for (const spans of traces) {
      const ids = new Set(spans.map(({ spanId }) => spanId));
      for (const span of spans) {
        const isOrphan = span.parentSpanId !== '' && !ids.has(span.parentSpanId);
        const warnings = isOrphan ? [orphanWarning(span.parentSpanId)] : null;
        expected.set(`${span.traceId} ${span.spanId}`, { ...expectedSpan(span, RESOURCE, { isThrift }), warnings });
      }
    }
    // Children that end after their parents are told of in another sentence.
    const skew = /^(?:clock skew adjustment|max clock skew)/;
    for (const [id, span] of shown) {
      const warnings = span.warnings?.filter((one) => !skew.test(one)) ?? [];
      expect({ ...span, warnings: warnings.length === 0 ? null : warnings }).toEqual(expected.get(id));
    }
    expect([...shown.keys()].sort()).toEqual([...expected.keys()].sort());
  });

  test('the official OTLP serializer behind OtelSdkReporter', async () => {
    const traces = renumbered(
      [[fullRecord({ properties: finite })], SHORT.slice(0, -1), ...randomTraces(7, SPANS)],
      7 << 8,
    );
    await report(new OtelSdkReporter(new OfficialOtlp(jaeger().otlpUrl)), batchOf(traces));
    const shown = await shownBy(jaeger(), traces);
    for (const span of traces.flat()) {
      const { processTags, tags, ...rest } = shown.get(`${span.traceId} ${span.spanId}`) as ShownSpan;
      const expected = expectedSpan(span, RESOURCE, { isThrift: false });
      const { processTags: _, tags: wanted, logs, ...others } = expected;
      // The SDK has no integers beyond 2^53, which docs/exporters.md tells.
      const large = /"?\d{16,}/;
      const [got, want] = [tags, wanted].map((all) => Object.entries(all).filter(([, value]) => !large.test(value)));
      expect(Object.fromEntries(got)).toEqual(Object.fromEntries(want));
      expect({ ...rest, warnings: null }).toEqual({ ...others, logs, warnings: null });
      expect(processTags).toMatchObject({ 'host.name': 'string "h1"', 'process.pid': 'int64 42' });
    }
  });

  test('the official Jaeger exporter behind OtelSdkReporter: every span, with the losses that are its own', async () => {
    const traces = renumbered([SHORT.slice(0, -1), ...randomTraces(8, SPANS)], 8 << 8);
    const exporter = new JaegerExporter({ endpoint: jaeger().thriftUrl }) as unknown as SpanExporter;
    await report(new OtelSdkReporter(exporter), batchOf(traces));
    const shown = await shownBy(jaeger(), traces);
    for (const span of traces.flat()) {
      const got = shown.get(`${span.traceId} ${span.spanId}`) as ShownSpan;
      const want = expectedSpan(span, RESOURCE, { isThrift: true });
      const { name, references, serviceName } = want;
      expect(got).toMatchObject({ name, references, serviceName });
      // It rounds to the nearest.
      expect(Math.abs(got.startTime - want.startTime)).toBeLessThanOrEqual(1);
      expect(Math.abs(got.duration - want.duration)).toBeLessThanOrEqual(2);
      const isText = ([key, value]: [string, string]): boolean =>
        /^(?:string|bool)/.test(value) && key !== 'w3c.tracestate';
      expect(got.tags).toMatchObject(Object.fromEntries(Object.entries(want.tags).filter(isText)));
      expect(got.logs.map(({ fields }) => fields.event)).toEqual(want.logs.map(({ fields }) => fields.event));
    }
  });
});
