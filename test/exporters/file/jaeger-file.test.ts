// The document for Jaeger's UI is valid and complete after every report, holds the latest traces within its bounds, and
// keeps of a span what its format can.
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ReportBatch } from '../../../src/collector/reporter.js';
import { FileReporter, type FileReporterOptions } from '../../../src/exporters/file.js';
import { TraceIdentity } from '../../../src/record/record.js';
import { samples } from '../../support/samples.js';
import { batchOf, fullRecord, numberedRecords, RESOURCE, randomTraces, record } from '../support/records.js';

let folder = '';
let path = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'spanline-'));
  path = join(folder, 'traces.json');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (options: Partial<FileReporterOptions> = {}) =>
  new FileReporter({ path, format: 'jaeger-json', ...options });
const read = () => JSON.parse(readFileSync(path, 'utf8'));

const identity = (n: number) => new TraceIdentity(1, 2, 3, n, '');
const traceNamed = (n: number, bytes = 0) => [record({ trace: identity(n), name: `trace ${n}`.padEnd(bytes) })];
const namesIn = () =>
  read().data.map(({ spans }: { spans: { operationName: string }[] }) => spans[0].operationName.trim());

test('a span with everything', async () => {
  await open().report(batchOf([[fullRecord()]]));
  const { data } = read();
  expect(data).toHaveLength(1);
  expect(data[0].traceID).toBe('0af7651916cd43dd8448eb211c80319c');
  const [span] = data[0].spans;
  expect(span).toMatchObject({
    traceID: '0af7651916cd43dd8448eb211c80319c',
    spanID: 'b7ad6b7169203331',
    operationName: 'GET /zboží 🐎',
    references: [
      { refType: 'CHILD_OF', traceID: '0af7651916cd43dd8448eb211c80319c', spanID: '00000001fffffffe' },
      { refType: 'FOLLOWS_FROM', traceID: '4bf92f3577b34da6a3ce929d0e0e4736', spanID: '00f067aa0ba902b7' },
      { refType: 'FOLLOWS_FROM', traceID: '0000000000000abc', spanID: 'ffffffffffffffff' },
    ],
    startTime: 1_700_000_000_123_456,
    duration: 543,
    processID: 'p1',
    warnings: null,
  });
  const tags = Object.fromEntries(
    span.tags.map(({ key, type, value }: Record<string, unknown>) => [key, [type, value]]),
  );
  expect(tags).toMatchObject({
    string: ['string', 'text'],
    'string.unicode': ['string', 'žluťoučký 🐎 \u0000 "\\\n\u2028'],
    int: ['int64', 42],
    'int.beyond': ['float64', 2 ** 60],
    double: ['float64', 1.5],
    'double.nan': ['float64', 'NaN'],
    bigint: ['int64', '9007199254740993'],
    true: ['bool', true],
    strings: ['string', '["a","","🐎"]'],
    bigints: ['string', '[1,-9223372036854775808]'],
    empty: ['string', '[]'],
    'span.kind': ['string', 'server'],
    'otel.status_code': ['string', 'ERROR'],
    'otel.status_description': ['string', 'nepovedlo se: 🐎'],
    error: ['bool', true],
    'w3c.tracestate': ['string', 'vendor=1,other=2'],
    'spanline.ns': ['int64', 789],
    'spanline.duration_ns': ['int64', 542_212],
  });
  expect(
    span.logs.map(({ timestamp, fields }: { timestamp: number; fields: { value: unknown }[] }) => [
      timestamp,
      fields[0].value,
    ]),
  ).toEqual([
    [1_700_000_000_123_500, 'cache miss'],
    [1_700_000_000_123_600, 'událost'],
    [1_700_000_000_123_700, 'exception'],
    [1_700_000_000_123_456, 'spanline.link'],
  ]);
  expect(span.logs[0].fields).toContainEqual({ key: 'size', type: 'int64', value: 17 });
  expect(span.logs[3].fields).toContainEqual({ key: 'rank', type: 'int64', value: 3 });
  expect(data[0].processes).toEqual({
    p1: {
      serviceName: 'shop',
      tags: [
        { key: 'host.name', type: 'string', value: 'h1' },
        { key: 'process.pid', type: 'int64', value: 42 },
        { key: 'cpu.ids', type: 'string', value: '[0,1]' },
        { key: 'disk.bytes', type: 'int64', value: '9007199254740993' },
      ],
    },
  });
});

test('valid after every report, and at exit; late spans join their trace, also from another process', async () => {
  const reporter = open();
  await reporter.report(batchOf([numberedRecords(3), traceNamed(7)]));
  expect(read().data.map(({ spans }: { spans: unknown[] }) => spans.length)).toEqual([3, 1]);
  await reporter.report(batchOf([numberedRecords(2)], { serviceName: 'bank', attributes: {} }));
  const [{ spans, processes }] = read().data;
  expect(spans.map(({ processID }: { processID: string }) => processID)).toEqual(['p1', 'p1', 'p1', 'p2', 'p2']);
  expect(processes.p2).toEqual({ serviceName: 'bank', tags: [] });
  reporter.reportSync(batchOf([traceNamed(8)]));
  expect(namesIn()).toEqual(['span 0', 'trace 7', 'trace 8']);
  expect(readdirSync(folder)).toEqual(['traces.json']);
  expect(reporter.stats()).toMatchObject({ spansWritten: 7, tracesInFile: 3, filesWritten: 3 });
});

test('the oldest traces make room, by number and by bytes, and are counted', async () => {
  const byNumber = open({ maxTraces: 3 });
  await byNumber.report(batchOf([1, 2, 3, 4, 5].map((n) => traceNamed(n))));
  expect(namesIn()).toEqual(['trace 3', 'trace 4', 'trace 5']);
  expect(byNumber.stats()).toMatchObject({ tracesDropped: 2, spansDropped: 2, tracesInFile: 3 });

  const byBytes = open({ maxBytes: 10_000 });
  for (let n = 1; n <= 20; n++) await byBytes.report(batchOf([traceNamed(n, 1000)]));
  expect(readFileSync(path).length).toBeLessThan(12_000);
  expect(namesIn().at(-1)).toBe('trace 20');
  expect(byBytes.stats().tracesDropped).toBe(20 - namesIn().length);
});

test('a trace larger than the document keeps what fits; the rest is counted', async () => {
  const reporter = open({ maxBytes: 10_000 });
  await reporter.report(batchOf([numberedRecords(100)]));
  const { spansRefused, spansWritten } = reporter.stats();
  expect(spansRefused).toBeGreaterThan(0);
  expect(read().data[0].spans).toHaveLength(spansWritten);
  expect(spansRefused + spansWritten).toBe(100);
});

test('a report that could not be written leaves the old document; its retry holds each span once', async () => {
  const reporter = open();
  await reporter.report(batchOf([traceNamed(1)]));
  const before = readFileSync(path, 'utf8');
  // A file where the directory was.
  renameSync(folder, `${folder}-away`);
  writeFileSync(folder, '');
  const batch = batchOf([traceNamed(2)]);
  const error = await reporter.report(batch).then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toMatchObject({ code: 'ERR_SPANLINE_FILE', message: expect.stringContaining(path) });
  rmSync(folder);
  renameSync(`${folder}-away`, folder);
  expect(readFileSync(path, 'utf8')).toBe(before);
  (batch as { signal: AbortSignal }).signal = new AbortController().signal;
  await reporter.report(batch);
  expect(namesIn()).toEqual(['trace 1', 'trace 2']);
  expect(read().data[1].spans).toHaveLength(1);
});

const SPANS = samples(8000, 20_000);

test('an abort in the middle loses nothing: the retry takes the rest', async () => {
  const reporter = open({ maxBytes: 1 << 28 });
  const controller = new AbortController();
  const batch: ReportBatch = batchOf(randomTraces(9, SPANS, 500), RESOURCE, controller.signal);
  const first = reporter.report(batch);
  setImmediate(() => controller.abort(new Error('too long')));
  await expect(first).rejects.toThrow('too long');
  (batch as { signal: AbortSignal }).signal = new AbortController().signal;
  await reporter.report(batch);
  const ids = read().data.flatMap(({ spans }: { spans: { traceID: string; spanID: string }[] }) =>
    spans.map(({ traceID, spanID }) => traceID + spanID),
  );
  expect(ids).toHaveLength(SPANS);
  expect(new Set(ids).size).toBe(SPANS);
});
