// What is encoded as Jaeger's UI JSON comes back equal but for lists and maps, and documents of our exporters and of Jaeger itself are read
// as they were meant.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { FileReporter } from '../../../../src/exporters/file.js';
import { ownResource } from '../../../../src/formats/library.js';
import type { ArchivedSpan } from '../../../../src/record/archived-span.js';
import { batchOf, fullRecord, RESOURCE, randomTraces } from '../../../../test/exporters/support/records.js';
import { archivedSpan } from '../../../../test/support/archived-span.js';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { encodeJaegerJson, encodeOtlpJson } from '../../src/formats/encode.js';
import { decodeJaegerJson } from '../../src/formats/jaeger-json/read-traces.js';
import { decodeOtlpJson } from '../../src/formats/otlp/read-json.js';
import { FULL_SPAN, flatSpan } from '../support/any-span.js';

const decode = (text: string) => decodeJaegerJson(Buffer.from(text));
const decodeValue = (value: unknown) => decode(JSON.stringify(value));
const byTrace = (spans: readonly ArchivedSpan[]) => {
  const traces = new Map<string, ArchivedSpan[]>();
  for (const span of spans) traces.set(span.traceId, [...(traces.get(span.traceId) ?? []), span]);
  return traces;
};
const roundTrip = (spans: readonly ArchivedSpan[]) => decode(encodeJaegerJson(byTrace(spans)));

let directory: string | undefined;
afterEach(() => {
  if (directory !== undefined) rmSync(directory, { recursive: true });
  directory = undefined;
});

describe('round trip', () => {
  test('a span with everything; lists and maps come back as text', () => {
    const { spans, refused } = roundTrip([FULL_SPAN]);
    expect(refused).toBe(0);
    expect(spans).toEqual([
      {
        ...FULL_SPAN,
        properties: {
          ...FULL_SPAN.properties,
          list: '["a",1,2.5,true,9007199254740993,["x",[]],{"deep":[1]}]',
          map: '{"a":1,"b":{"c":"Bw=="},"empty":{}}',
          none: '',
        },
        resource: { ...FULL_SPAN.resource, properties: { ...FULL_SPAN.resource.properties, args: '["node","a.js"]' } },
      },
    ]);
  });

  test('any spans without lists and maps, whatever keys their properties have', () => {
    fc.assert(
      fc.property(flatSpan, (span) => {
        const { spans, reasons } = roundTrip([span]);
        expect(reasons).toEqual({});
        expect(spans).toEqual([span]);
      }),
      { numRuns: samples(100, 1000, 10_000) },
    );
  });

  test('microseconds, in the form of the UI', () => {
    const [trace] = JSON.parse(encodeJaegerJson(byTrace([FULL_SPAN]))).data;
    expect(trace).toMatchObject({
      traceID: FULL_SPAN.traceId,
      processes: {
        p1: { serviceName: 'shop', tags: [{ key: 'host.name', type: 'string', value: 'h1' }, {}, {}, {}, {}] },
      },
      spans: [
        {
          traceID: FULL_SPAN.traceId,
          spanID: FULL_SPAN.spanId,
          operationName: FULL_SPAN.name,
          references: [{ refType: 'CHILD_OF', spanID: FULL_SPAN.parentSpanId }, {}, {}],
          startTime: 1_700_000_000_123_456,
          duration: 543,
          processID: 'p1',
          warnings: null,
        },
      ],
    });
    const tags = trace.spans[0].tags as { key: string; type: string; value: unknown }[];
    expect(tags.find(({ key }) => key === 'large')).toEqual({ key: 'large', type: 'int64', value: '9007199254740993' });
    expect(tags.find(({ key }) => key === 'bytes')).toEqual({ key: 'bytes', type: 'binary', value: 'AAH+/w==' });
    expect(tags.findLast(({ key }: { key: string }) => key === 'error')).toEqual({
      key: 'error',
      type: 'bool',
      value: true,
    });
  });
});

test('a file of our exporter', async () => {
  directory = mkdtempSync(join(tmpdir(), 'spanline-jaeger-'));
  const path = join(directory, 'traces.json');
  const reporter = new FileReporter({ path, format: 'jaeger-json' });
  const traces = [...randomTraces(5, 200, 40), [fullRecord({ properties: ['a', 1, 'b', 'x', 'c', 1.5] })]];
  await reporter.report(batchOf(traces));
  const { spans, refused } = decode(readFileSync(path, 'utf8'));
  expect(refused).toBe(0);
  const wanted = traces.flat().map((one) => archivedSpan(one, ownResource(RESOURCE)));
  const isOfLibrary = ([key]: readonly [string, unknown]): boolean => key.startsWith('telemetry.sdk.');
  // The exporter leaves out the scope and the library, which are the same for all; the format has no types for lists.
  const fileHas = (span: ArchivedSpan): ArchivedSpan => ({
    ...span,
    scope: { name: '', version: '', properties: {} },
    resource: {
      properties: {
        ...Object.fromEntries(Object.entries(span.resource.properties).filter((entry) => !isOfLibrary(entry))),
        'cpu.ids': '[0,1]',
      },
    },
    links: span.links.map((link) => ({
      ...link,
      properties: 'list' in link.properties ? { ...link.properties, list: '["x","y"]' } : link.properties,
    })),
  });
  expect(spans).toEqual(wanted.map(fileHas));
});

describe('what Jaeger writes', () => {
  const span = {
    traceID: 'ff',
    spanID: '2',
    operationName: 'get',
    references: [],
    startTime: 1_485_467_191_639_875,
    duration: 5,
    tags: [],
    logs: [],
    processID: 'p1',
    warnings: null,
  };
  const document = (...spans: object[]) => ({
    data: [
      { traceID: 'ff', spans, processes: { p1: { serviceName: 'x', tags: [{ key: 'a', type: 'int64', value: 5 }] } } },
    ],
  });
  const first = (change: object): ArchivedSpan => {
    const { spans, reasons } = decodeValue(document({ ...span, ...change }));
    expect(reasons).toEqual({});
    return spans[0];
  };
  const inside = (refType: string, spanID: string) => ({ refType, traceID: 'ff', spanID });

  test('short ids, plain times, the process', () => {
    expect(first({})).toEqual({
      traceId: 'ff'.padStart(32, '0'),
      spanId: '2'.padStart(16, '0'),
      parentSpanId: '',
      traceState: '',
      name: 'get',
      kind: 'unspecified',
      startUnixNs: 1_485_467_191_639_875_000n,
      endUnixNs: 1_485_467_191_639_880_000n,
      status: { code: 'unset', message: '' },
      properties: {},
      events: [],
      links: [],
      resource: { properties: { 'service.name': 'x', a: 5 } },
      scope: { name: '', version: '', properties: {} },
    });
  });

  test('tags of every type', () => {
    const tags = [
      { key: 'a', type: 'string', value: 'x' },
      { key: 'b', type: 'int64', value: 23456 },
      { key: 'c', type: 'bool', value: 'true' },
      { key: 'd', type: 'float64', value: 72.5 },
      { key: 'e', type: 'int64', value: '9223372036854775222' },
      { key: 'f', type: 'binary', value: 'AAAwOQ==' },
      { key: 'g', value: 1 },
      { key: 'h', value: null },
      { key: 'i', type: 'string', value: { x: 1 } },
      { key: 'span.kind', type: 'string', value: 'server' },
      { key: 'error', type: 'bool', value: true },
      { key: 'otel.scope.name', type: 'string', value: 'lib' },
      { key: 'z', type: 'string', value: 'behind' },
    ];
    expect(first({ tags })).toMatchObject({
      kind: 'server',
      status: { code: 'error', message: '' },
      scope: { name: 'lib', version: '' },
    });
    expect(first({ tags }).properties).toEqual({
      ...{ a: 'x', b: 23456, c: true, d: 72.5, e: 9223372036854775222n, f: Uint8Array.from([0, 0, 48, 57]) },
      ...{ g: 1, h: '', i: '{"x":1}', error: true, z: 'behind' },
      '@jaeger@tag_order': tags.map(({ key }) => key),
    });
  });

  /** The tags of a span that has these, written again: directly, and by way of OTLP. */
  const written = (tags: readonly object[]): object[][] => {
    const read = first({ tags });
    const { spans } = decodeOtlpJson(Buffer.from(encodeOtlpJson([read])));
    return [read, spans[0]].map((one) => JSON.parse(encodeJaegerJson(byTrace([one]))).data[0].spans[0].tags);
  };

  test('tags come out in the order in which they came, also those that stand for fields', () => {
    const tags = [
      { key: 'sampler.type', type: 'string', value: 'const' },
      { key: 'span.kind', type: 'string', value: 'client' },
      { key: 'http.status_code', type: 'int64', value: 200 },
      { key: 'otel.scope.name', type: 'string', value: 'lib' },
      { key: '10', type: 'string', value: 'ten' },
      { key: 'otel.status_code', type: 'string', value: 'ERROR' },
      { key: 'component', type: 'string', value: 'net/http' },
      { key: 'error', type: 'bool', value: true },
      { key: 'http.status_code', type: 'int64', value: 500 },
    ];
    expect(written(tags)).toEqual([tags, tags]);
    const { kind, status, scope, properties } = first({ tags });
    expect({ kind, status, scope: scope.name }).toEqual({
      kind: 'client',
      status: { code: 'error', message: '' },
      scope: 'lib',
    });
    expect(properties).toMatchObject({ '10': 'ten', component: 'net/http', 'http.status_code': 500 });
    expect('@jaeger@tag_order' in first({ tags: tags.slice(0, 1) }).properties).toBe(false);
  });

  test('tags that stand for a default are left out, and the others keep their order', () => {
    const [b, kind, a] = [
      { key: 'b', type: 'int64', value: 1 },
      { key: 'span.kind', type: 'string', value: 'server' },
      { key: 'a', type: 'int64', value: 2 },
    ];
    const none = { key: 'otel.status_code', type: 'string', value: 'UNSET' };
    expect(written([none, b, kind, a])).toEqual([
      [b, kind, a],
      [b, kind, a],
    ]);
  });

  test('fields of logs and tags of processes keep their order, also those of one key', () => {
    const fields = ['b', 'a', 'b', 'c', 'a'].map((key, value) => ({ key, type: 'int64', value }));
    const named = [...fields.slice(0, 3), { key: 'event', type: 'string', value: 'name' }, ...fields.slice(3)];
    const trace = {
      ...document({ ...span, logs: [fields, named].map((one) => ({ timestamp: 7, fields: one })) }).data[0],
      processes: { p1: { serviceName: 'x', tags: fields } },
    };
    const [again] = JSON.parse(encodeJaegerJson(byTrace(decodeValue({ data: [trace] }).spans))).data;
    expect(again.spans[0].logs.map((log: { fields: unknown }) => log.fields)).toEqual([fields, named]);
    expect(again.processes.p1.tags).toEqual(fields);
  });

  test('any tags come out as they came in', () => {
    const text = fc.constantFrom('x', 'server', 'ERROR', '1');
    const tag = fc.oneof(
      fc.record({
        key: fc.constantFrom('b', 'a', '10', '2', 'event', 'otel.scope.name', 'w3c.tracestate'),
        type: fc.constant('string'),
        value: text,
      }),
      fc.record({
        key: fc.constantFrom('span.kind', 'error', 'a'),
        type: fc.constant('string'),
        value: fc.constantFrom('server', 'client', 'no kind'),
      }),
      fc.constantFrom(
        { key: 'otel.status_code', type: 'string', value: 'OK' },
        { key: 'otel.status_description', type: 'string', value: 'why' },
        { key: 'error', type: 'bool', value: true },
      ),
    );
    fc.assert(
      fc.property(fc.array(tag, { maxLength: 8 }), (tags) => {
        expect(written(tags)).toEqual([tags, tags]);
      }),
      { numRuns: samples(100, 1000, 10_000) },
    );
  });

  test('references: the first child-of within the trace is the parent, else the first within it; others are links', () => {
    const outside = { refType: 'CHILD_OF', traceID: 'ee', spanID: '9' };
    const { parentSpanId, links, properties } = first({
      references: [outside, inside('FOLLOWS_FROM', '3'), inside('CHILD_OF', '4')],
    });
    expect(properties).toEqual({ '@jaeger@parent_at': 2 });
    expect(parentSpanId).toBe('4'.padStart(16, '0'));
    expect(links).toMatchObject([
      { traceId: 'ee'.padStart(32, '0'), properties: { 'opentracing.ref_type': 'child_of' } },
      { spanId: '3'.padStart(16, '0'), properties: {} },
    ]);
    expect(first({ references: [inside('FOLLOWS_FROM', '3')] })).toMatchObject({
      parentSpanId: '0000000000000003',
      links: [],
    });
    expect(first({ parentSpanID: '7' }).parentSpanId).toBe('0000000000000007');
  });

  test('logs are events', () => {
    const fields = [
      { key: 'x', type: 'string', value: 'y' },
      { key: 'event', type: 'string', value: 'some-event' },
    ];
    const logs = [
      { timestamp: 7, fields },
      { timestamp: 8, fields: [] },
    ];
    expect(first({ logs }).events).toEqual([
      { name: 'some-event', timeUnixNs: 7000n, properties: { x: 'y', '@jaeger@event_at': 1 } },
      { name: '', timeUnixNs: 8000n, properties: {} },
    ]);
  });

  test('a list of traces, one trace, a process inside of a span', () => {
    const { data } = document(span);
    for (const value of [data, data[0]]) expect(decodeValue(value).spans).toEqual([first({})]);
    const own = { process: { serviceName: 'own' } };
    expect(first(own).resource).toEqual({ properties: { 'service.name': 'own' } });
    const { spans } = decodeValue(document(span, span, { ...span, ...own }, { ...span, ...own }));
    expect(spans[0].resource).toBe(spans[1].resource);
    expect(spans[2].resource).toBe(spans[3].resource);
  });

  test('bad spans are counted, bad documents refused', () => {
    const decoded = decodeValue(
      document(
        span,
        { ...span, spanID: 'x' },
        { ...span, traceID: '0' },
        {
          ...span,
          references: [inside('FOLLOWS_FROM', '1'), { refType: 'FOLLOWS_FROM', traceID: 'xyz', spanID: '1' }],
        },
      ),
    );
    expect(decoded.spans).toHaveLength(1);
    expect(decoded.reasons).toEqual({ 'bad span id': 1, 'bad trace id': 1, 'bad link': 1 });
    for (const wrong of [5, {}, { data: [{ spans: {} }] }, { data: [{ name: 'op' }] }, { data: null }]) {
      expect(() => decodeValue(wrong)).toThrow(expect.objectContaining({ code: 'ERR_SPANLINE_TRACE_FORMAT' }));
    }
    const errors = [{ code: 404, msg: 'trace not found' }];
    expect(() => decodeValue({ data: null, errors })).toThrow('the answer is an error: trace not found');
    expect(decodeValue({ data: [], errors: null }).spans).toEqual([]);
    expect(() => decodeJaegerJson(Buffer.from(JSON.stringify(document(span, span))), { maxItems: 2 })).toThrow(
      expect.objectContaining({ code: 'ERR_SPANLINE_TRACE_TOO_LARGE' }),
    );
  });

  test.each<[string, object]>([
    ['duration', { duration: -5 }],
    ['duration', { duration: 0.5 }],
    ['startTime', { startTime: 'now' }],
    ['timestamp', { logs: [{ timestamp: -1, fields: [] }] }],
    ['a', { tags: [{ key: 'a', type: 'int64', value: 'x' }] }],
    ['the tag b', { logs: [{ timestamp: 1, fields: [{ key: 'b', type: 'bool', value: 3 }] }] }],
    ['a process', { processID: 'p2' }],
    ['a span', [] as object],
  ])('a bad %s costs its span, and no other', (field, change) => {
    const value = document(span, Array.isArray(change) ? change : { ...span, ...change }, span);
    Object.assign(value.data[0].processes, { p2: 5 });
    const decoded = decodeValue({ data: [...value.data, { traceID: 'fe', spans: 7 }] });
    expect(decoded.spans).toHaveLength(2);
    expect(decoded.reasons).toEqual({ 'bad field': 2 });
    expect(decoded.badField).toMatch(new RegExp(`^(${field}) must be`));
  });

  test('a time that has no room in 64 bits of nanoseconds costs its span', () => {
    const beyond = 2 ** 62;
    const nanoseconds = (key: string, value: unknown) => tag(`spanline.${key}`, value, 'int64');
    const decoded = decodeValue(
      document(
        span,
        { ...span, startTime: beyond },
        { ...span, duration: beyond },
        { ...span, tags: [nanoseconds('ns', 1), nanoseconds('duration_ns', '99999999999999999999')] },
        { ...span, logs: [{ timestamp: beyond, fields: [] }] },
      ),
    );
    expect(decoded.spans).toHaveLength(1);
    expect(decoded.reasons).toEqual({ 'time beyond 64 bits': 4 });
  });

  const tag = (key: string, value: unknown, type = 'string') => ({ key, type, value });
  const child = (refType: string, traceID: string, spanID: string) => ({ refType, traceID, spanID });
  const OTHER = `${'0'.repeat(12)}beef`;
  const id = (n: number): string => String(n).padStart(16, '0');
  test.each<[string, object, object?]>([
    ['tags of one key', { tags: [tag('a', 200, 'int64'), tag('a', 500, 'int64'), tag('b', '1')] }],
    [
      'tags of one key and several types',
      { tags: [tag('a', 'x'), tag('a', true, 'bool'), tag('a', 'AAE=', 'binary')] },
    ],
    [
      'fields of one key',
      { logs: [{ timestamp: 5, fields: [tag('event', 'a'), tag('event', 'b'), tag('m', '1'), tag('m', '2')] }] },
    ],
    ['flags', { flags: 1 }],
    ['a status that is a number', { tags: [tag('otel.status_code', 2, 'int64')] }],
    ['an error of older tracers', { tags: [tag('a', '1'), tag('error', true, 'bool')] }],
    ['an error as text', { tags: [tag('error', 'true'), tag('otel.status_description', 'gone')] }],
    ['an error behind another', { tags: [tag('error', 'gone'), tag('error', true, 'bool')] }],
    ['an error before another', { tags: [tag('error', true, 'bool'), tag('error', 'gone')] }],
    ['an error beside a code', { tags: [tag('error', true, 'bool'), tag('otel.status_code', 'ERROR')] }],
    [
      'an error twice beside a code',
      { tags: [tag('error', 'x'), tag('error', true, 'bool'), tag('otel.status_code', 'ERROR')] },
    ],
    ['an error beside another code', { tags: [tag('error', true, 'bool'), tag('otel.status_code', 'OK')] }],
    ['no error', { tags: [tag('error', false, 'bool')] }],
    ['a kind that is none', { tags: [tag('span.kind', 'sideways'), tag('w3c.tracestate', 5, 'int64')] }],
    ['a parent in another trace', { references: [child('CHILD_OF', OTHER, id(7))] }],
    [
      'parents in both',
      {
        references: [
          child('CHILD_OF', id(255), id(1)),
          child('CHILD_OF', OTHER, id(7)),
          child('FOLLOWS_FROM', OTHER, id(8)),
        ],
      },
    ],
    [
      'fields before the name of a log',
      {
        logs: [
          { timestamp: 5, fields: [tag('level', 'info'), tag('event', 'a'), tag('event', 'b'), tag('at', '1')] },
          { timestamp: 6, fields: [tag('n', 1, 'int64'), tag('event', 5, 'int64'), tag('event', 'c')] },
        ],
      },
    ],
    [
      'references before the parent',
      {
        references: [
          child('CHILD_OF', OTHER, id(7)),
          child('FOLLOWS_FROM', id(255), id(8)),
          child('CHILD_OF', id(255), id(1)),
          child('CHILD_OF', id(255), id(9)),
        ],
      },
    ],
    [
      'references before a parent that it follows',
      { references: [child('FOLLOWS_FROM', OTHER, id(7)), child('FOLLOWS_FROM', id(255), id(8))] },
    ],
    [
      'tags as they are stored',
      {
        tags: [
          tag('otel.scope.name', 'lib'),
          tag('otel.scope.version', '1'),
          tag('http.route', '/'),
          tag('a', 1, 'int64'),
          tag('span.kind', 'server'),
          tag('otel.status_code', 'ERROR'),
          tag('error', true, 'bool'),
          tag('otel.status_description', 'gone'),
          tag('w3c.tracestate', 'a=b'),
        ],
      },
    ],
    ['remarks', { warnings: ['skewed'] }, { warnings: ['a part is missing', 'another'] }],
    ['tags of a process', {}, { processes: { p1: { serviceName: 'x', tags: [tag('ip', '1'), tag('ip', '2')] } } }],
  ])('%s come out as they came in', (_, change, ofTrace = {}) => {
    const trace = {
      traceID: id(255),
      spans: [
        { ...span, traceID: id(255), spanID: id(2), ...change },
        { ...span, traceID: id(255), spanID: id(3) },
      ],
      processes: { p1: { serviceName: 'x', tags: [] } },
      warnings: null,
      ...ofTrace,
    };
    const { spans, refused } = decodeValue({ data: [trace] });
    expect(refused).toBe(0);
    const written = encodeJaegerJson(new Map([[spans[0].traceId, spans]]));
    expect(JSON.parse(written).data).toEqual([trace]);
    // By OTLP too: what that has no field for is a property.
    const { spans: sent } = decodeOtlpJson(Buffer.from(encodeOtlpJson(spans)));
    expect(encodeJaegerJson(new Map([[spans[0].traceId, sent]]))).toBe(written);
  });
});
