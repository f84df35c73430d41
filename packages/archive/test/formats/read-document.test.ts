// A document is read by what it holds, whoever wrapped it, or refused with what it is: none counts as read when nothing of it was.
import { describe, expect, test } from 'vitest';
import { newKnownParts } from '../../src/formats/decode-context.js';
import { encodeJaegerJson, encodeOtlpJson } from '../../src/formats/encode.js';
import { type ReadFormat, readTraceDocument } from '../../src/formats/read-document.js';
import { FULL_SPAN } from '../support/any-span.js';

const read = (document: unknown, format?: ReadFormat) =>
  readTraceDocument(Buffer.from(JSON.stringify(document)), format, {}, newKnownParts());

const TRACE = '5b8efff798038103d269b633813fc60c';
const SPAN = 'eee19b7ec3c1b174';
const span = { traceId: TRACE, spanId: SPAN, name: 's', startTimeUnixNano: '5', endTimeUnixNano: '7' };
const scope = { name: 'lib', version: '1' };
const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] };
const resourceSpans = [{ resource, scopeSpans: [{ scope, spans: [span] }] }];
const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64');

describe('OTLP', () => {
  const [wanted] = read({ resourceSpans }).spans;
  const withIds = { ...span, traceId: base64(TRACE), spanId: base64(SPAN) };

  test.each<[string, unknown]>([
    ["an answer of Jaeger's API version 3", { result: { resourceSpans } }],
    ['that was damaged', { result: { resourceSpans }, error: { message: 'a part cannot be read' } }],
    ['an answer of Tempo', { trace: { resourceSpans }, metrics: {} }],
    [
      'its ids as it writes them',
      { trace: { resourceSpans: [{ resource, scopeSpans: [{ scope, spans: [withIds] }] }] } },
    ],
    ['an older answer of Tempo', { batches: [{ resource, scopeSpans: [{ scope, spans: [withIds] }] }] }],
    [
      'the name that scopes had',
      {
        resourceSpans: [{ resource, instrumentationLibrarySpans: [{ instrumentationLibrary: scope, spans: [span] }] }],
      },
    ],
  ])('%s', (_, document) => {
    expect(wanted).toMatchObject({
      traceId: TRACE,
      spanId: SPAN,
      scope,
      resource: { properties: { 'service.name': 'shop' } },
    });
    for (const format of [undefined, 'otlp'] as const)
      expect(read(document, format)).toMatchObject({ spans: [wanted], refused: 0 });
  });

  test('ids of links as Tempo writes them', () => {
    const links = [{ traceId: base64(TRACE), spanId: base64(SPAN) }];
    const parentSpanId = base64('00000000000000aa');
    const spans = [{ ...withIds, parentSpanId, links }];
    expect(read({ batches: [{ scopeSpans: [{ spans }] }] }).spans).toMatchObject([
      { parentSpanId: '00000000000000aa', links: [{ traceId: TRACE, spanId: SPAN }] },
    ]);
  });

  test('what we write of either kind is read as the format it is', () => {
    expect(read(JSON.parse(encodeOtlpJson([FULL_SPAN]))).spans).toEqual([FULL_SPAN]);
    const jaeger = JSON.parse(encodeJaegerJson(new Map([[FULL_SPAN.traceId, [FULL_SPAN]]])));
    expect(read(jaeger).spans).toEqual(read(jaeger, 'jaeger').spans);
  });
});

const zipkin = {
  traceId: TRACE.slice(16),
  id: SPAN,
  parentId: 'aa',
  kind: 'CLIENT',
  name: 'get',
  timestamp: 1_760_000_000_000_000,
  duration: 10,
  localEndpoint: { serviceName: 'shop', ipv4: '10.0.0.1', port: 80 },
  remoteEndpoint: { serviceName: 'bank', ipv6: '::1' },
  annotations: [{ timestamp: 1_760_000_000_000_003, value: 'sent' }],
  tags: { error: 'no answer', 'http.path': '/x', 'otel.scope.name': 'lib' },
  debug: true,
};

describe('Zipkin', () => {
  test('all that a span has', () => {
    expect(read([zipkin]).spans).toEqual([
      {
        traceId: TRACE.slice(16).padStart(32, '0'),
        spanId: SPAN,
        parentSpanId: 'aa'.padStart(16, '0'),
        traceState: '',
        name: 'get',
        kind: 'client',
        startUnixNs: 1_760_000_000_000_000_000n,
        endUnixNs: 1_760_000_000_000_010_000n,
        status: { code: 'error', message: 'no answer' },
        properties: {
          'http.path': '/x',
          'network.local.address': '10.0.0.1',
          'network.local.port': 80,
          'peer.service': 'bank',
          'network.peer.address': '::1',
          'zipkin.debug': true,
        },
        events: [{ name: 'sent', timeUnixNs: 1_760_000_000_000_003_000n, properties: {} }],
        links: [],
        resource: { properties: { 'service.name': 'shop' } },
        scope: { name: 'lib', version: '', properties: {} },
      },
    ]);
  });

  test('spans, traces, one span; a service is one resource', () => {
    const other = { ...zipkin, id: 'bb', kind: 'SERVER', tags: { error: '' } };
    const { spans } = read([zipkin, other]);
    expect(read([[zipkin], [other]]).spans).toEqual(spans);
    expect(read(zipkin).spans).toEqual([spans[0]]);
    expect(spans[0].resource).toBe(spans[1].resource);
    expect(spans[1]).toMatchObject({ kind: 'server', status: { code: 'error', message: '' } });
  });

  test('little: a span without kind, times from annotations, no error', () => {
    const { traceId, id, name, annotations } = zipkin;
    const tags = { error: 'false', 'otel.status_code': 'OK' };
    expect(read([{ traceId, id, name, annotations, tags, parentId: null }]).spans).toMatchObject([
      {
        kind: 'unspecified',
        startUnixNs: 1_760_000_000_000_003_000n,
        status: { code: 'ok', message: '' },
        properties: { error: 'false' },
        resource: { properties: {} },
      },
    ]);
  });

  test('the halves of a call stay under their id', () => {
    const server = { ...zipkin, kind: 'SERVER', shared: true, localEndpoint: { serviceName: 'bank' } };
    expect(read([zipkin, server])).toMatchObject({ spans: [{ spanId: SPAN }, { spanId: SPAN }], refused: 0 });
  });

  test('a bad span is counted, and costs no other', () => {
    const bad = [
      { duration: -5 },
      { id: 'x' },
      { kind: 'OTHER' },
      { timestamp: null, annotations: [] },
      { tags: { a: 1 } },
    ];
    const decoded = read([zipkin, ...bad.map((change) => ({ ...zipkin, ...change })), 5]);
    expect(decoded.spans).toHaveLength(1);
    expect(decoded.reasons).toEqual({ 'bad field': 4, 'bad span id': 1, 'unknown kind': 1 });
  });
});

describe('spans of one document under one id', () => {
  const [first, other, later] = [
    zipkin,
    { ...zipkin, name: 'other', parentId: 'ab' },
    { ...zipkin, timestamp: zipkin.timestamp + 1, tags: {} },
  ];
  const idsOf = (document: readonly object[]): Record<string, string> =>
    Object.fromEntries(read(document).spans.map((span) => [`${span.name} ${span.startUnixNs}`, span.spanId]));

  test('another name or start is another span, which has an id of its own, in any order', () => {
    const ids = idsOf([first, other, later]);
    expect(new Set(Object.values(ids)).size).toBe(3);
    expect(Object.values(ids)[0]).toBe(SPAN);
    expect(idsOf([later, other, first])).toEqual(ids);
    expect(read([other, first]).spans).toMatchObject([{ parentSpanId: 'ab'.padStart(16, '0') }, { spanId: SPAN }]);
  });

  test('what is the same span, or of another trace, keeps the id', () => {
    const longer = { ...zipkin, duration: 20 };
    const elsewhere = { ...other, traceId: '1' };
    expect(read([zipkin, longer, zipkin, elsewhere]).spans.map(({ spanId }) => spanId)).toEqual(Array(4).fill(SPAN));
  });

  test('in every format', () => {
    const spans = read([first, { ...other, traceId: zipkin.traceId }]).spans.map((span) => ({ ...span, spanId: SPAN }));
    const otlp = JSON.parse(encodeOtlpJson(spans));
    const jaeger = JSON.parse(encodeJaegerJson(new Map([[spans[0].traceId, spans]])));
    for (const document of [otlp, jaeger])
      expect(new Set(read(document).spans.map(({ spanId }) => spanId)).size).toBe(2);
  });
});

describe('what is not a document of traces', () => {
  const jaegerSpan = { traceID: TRACE, spanID: SPAN, operationName: 'op', startTime: 1, duration: 1, processID: 'p1' };
  test.each<[RegExp, unknown]>([
    [/trace of Chrome/, [{ name: 'a', ph: 'X', ts: 0, dur: 5, pid: 1, tid: 1 }]],
    [/trace of Chrome/, { traceEvents: [] }],
    [/without their processes/, [jaegerSpan]],
    [/without their processes/, { ...jaegerSpan, process: {} }],
    [/is an error: trace not found/, { data: null, total: 0, errors: [{ code: 404, msg: 'trace not found' }] }],
    [/must have a list of "spans"/, { data: [{ name: 'op', spanKind: 'server' }], total: 1 }],
    [/a trace must be an object/, { data: ['shop', 'bank'] }],
    [/is an error: No traces found/, { error: { httpCode: 404, message: 'No traces found' } }],
    [/not "resource_spans"/, { resource_spans: [] }],
    [/not "scope_spans"/, { resourceSpans: [{ resource, scope_spans: [] }] }],
    [/it holds metrics/, { resourceMetrics: [] }],
    [/it holds logs/, { resourceLogs: [] }],
    [/version 2/, [{ traceId: TRACE, id: SPAN, name: 'get', binaryAnnotations: [] }]],
    [/expected "resourceSpans"/, { traces: [{ traceID: TRACE, rootServiceName: 'shop' }] }],
    [/expected "resourceSpans"/, { services: ['shop'] }],
    [/expected "resourceSpans"/, {}],
    [/expected "resourceSpans"/, null],
    [/expected "resourceSpans"/, [5]],
    [/expected "resourceSpans"/, 'text'],
  ])('%s', (message, document) => {
    const error = expect.objectContaining({
      code: 'ERR_SPANLINE_TRACE_FORMAT',
      message: expect.stringMatching(message),
    });
    expect(() => read(document)).toThrow(error);
  });

  test('an answer that found nothing is one', () => {
    for (const document of [[], [[]], { resourceSpans: [] }, { data: [] }, { batches: [] }])
      expect(read(document)).toMatchObject({ spans: [], refused: 0 });
  });

  test('of a format that was named', () => {
    expect(() => read([zipkin], 'otlp')).toThrow(/no document of traces/);
    expect(() => read([zipkin], 'jaeger')).toThrow(/"spans"/);
    expect(() => read({ resourceSpans }, 'zipkin')).toThrow(/list of spans/);
  });
});
