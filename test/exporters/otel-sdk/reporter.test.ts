// Any SDK exporter sees our spans as the SDK's own, in calls of bounded size; its verdict, its silence and its throws come out as ours.
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import { InMemorySpanExporter } from '@opentelemetry/sdk-trace-base';
import { describe, expect, test } from 'vitest';
import { type ReportBatch, ReportError } from '../../../src/collector/reporter.js';
import { OtelSdkReporter, type OtelSdkReporterOptions } from '../../../src/exporters/otel-sdk.js';
import { batchOf, fullRecord, numberedRecords, RESOURCE, record } from '../support/records.js';

type Result = { code: number; error?: Error };

/** An exporter as a user may write one: the interface of the SDK, the behaviour of the test. */
class ScriptedExporter implements SpanExporter {
  readonly calls: string[][] = [];
  readonly events: string[] = [];
  constructor(private readonly answer: (n: number, done: (result: Result) => void) => void) {}
  export(spans: ReadableSpan[], done: (result: Result) => void): void {
    this.calls.push(spans.map(({ name }) => name));
    this.answer(this.calls.length, done);
  }
  async forceFlush(): Promise<void> {
    this.events.push('flush');
  }
  async shutdown(): Promise<void> {
    this.events.push('shutdown');
  }
}

const again = (reporter: OtelSdkReporter, batch: ReportBatch): Promise<void> => {
  (batch as { signal: AbortSignal }).signal = new AbortController().signal;
  return reporter.report(batch);
};
const names = (count: number) => numberedRecords(count).map(({ name }) => name);

test('a span as the SDK has it, with the fields of SDK 2 and of SDK 1', async () => {
  const exporter = new InMemorySpanExporter();
  const full = fullRecord();
  await new OtelSdkReporter(exporter).report(batchOf([[full, record()]]));
  const [span, root] = exporter.getFinishedSpans();
  expect(span).toMatchObject({
    name: 'GET /zboží 🐎',
    kind: 1,
    parentSpanId: '00000001fffffffe',
    parentSpanContext: { traceId: full.traceId, spanId: '00000001fffffffe', isRemote: true, traceFlags: 1 },
    startTime: [1_700_000_000, 123_456_789],
    endTime: [1_700_000_000, 123_999_001],
    duration: [0, 542_212],
    status: { code: 2, message: 'nepovedlo se: 🐎' },
    ended: true,
    instrumentationScope: { name: 'spanline' },
    instrumentationLibrary: { name: 'spanline' },
    droppedAttributesCount: 0,
  });
  expect(span.spanContext()).toMatchObject({ traceId: full.traceId, spanId: full.spanId, traceFlags: 1 });
  expect(span.spanContext().traceState?.serialize()).toBe('vendor=1,other=2');
  expect(span.spanContext().traceState?.set('new', '3').unset('other').serialize()).toBe('new=3,vendor=1');
  expect(span.attributes).toMatchObject({
    int: 42,
    bigint: '9007199254740993',
    bigints: ['1', '-9223372036854775808'],
    strings: ['a', '', '🐎'],
    true: true,
  });
  expect(span.events[0]).toMatchObject({
    name: 'cache miss',
    time: [1_700_000_000, 123_500_007],
    attributes: { size: 17 },
  });
  expect(span.links[1]).toMatchObject({
    context: { traceId: '00000000000000000000000000000abc', spanId: 'ffffffffffffffff' },
    attributes: { why: 'batch', rank: 3, exact: '9007199254740993', list: ['x', 'y'] },
  });
  expect(span.resource.attributes).toMatchObject({
    'service.name': 'shop',
    'host.name': 'h1',
    'telemetry.sdk.name': 'spanline',
  });
  expect(root.parentSpanContext).toBeUndefined();
  expect(root).not.toHaveProperty('parentSpanId');
  expect(root.resource).toBe(span.resource);
});

const open = (answer: ConstructorParameters<typeof ScriptedExporter>[0], options?: OtelSdkReporterOptions) => {
  const exporter = new ScriptedExporter(answer);
  return { exporter, reporter: new OtelSdkReporter(exporter, options) };
};
const succeed = (_n: number, done: (result: Result) => void): void => done({ code: 0 });

test('calls of bounded size, one at a time; flush and shutdown are passed on', async () => {
  const { exporter, reporter } = open(succeed, { maxExportSpans: 4 });
  await reporter.report(batchOf([numberedRecords(6), numberedRecords(3)]));
  expect(exporter.calls.map(({ length }) => length)).toEqual([4, 4, 1]);
  expect(exporter.calls.flat()).toEqual([...names(6), ...names(3)]);
  await reporter.flush();
  await reporter.shutdown();
  expect(exporter.events).toEqual(['flush', 'shutdown']);
  expect(reporter.name).toBe('otel-sdk:ScriptedExporter');
});

describe('what fails', () => {
  test('a failed call is tried again, what went before it is not', async () => {
    const { exporter, reporter } = open(
      (n, done) => done(n === 2 ? { code: 1, error: new Error('busy') } : { code: 0 }),
      {
        maxExportSpans: 4,
      },
    );
    const batch = batchOf([numberedRecords(10)]);
    await expect(reporter.report(batch)).rejects.toMatchObject({
      code: 'ERR_SPANLINE_EXPORT',
      retryable: true,
      message: expect.stringContaining('busy'),
    });
    await again(reporter, batch);
    exporter.calls.splice(1, 1);
    expect(exporter.calls.flat()).toEqual(names(10));
    expect(reporter.stats()).toEqual({ exportCalls: 4, exportsFailed: 1, spansExported: 10, spansGivenUp: 0 });
  });

  test('what fails every time is given up, counted, and the rest goes on', async () => {
    const bad = (calls: string[][]) => calls.at(-1)?.includes('span 5');
    const { exporter, reporter } = open((_n, done) => done({ code: bad(exporter.calls) ? 1 : 0 }), {
      maxExportSpans: 4,
      maxAttempts: 2,
    });
    const batch = batchOf([numberedRecords(10)]);
    await expect(reporter.report(batch)).rejects.toMatchObject({ retryable: true });
    await again(reporter, batch);
    expect(reporter.stats()).toEqual({ exportCalls: 4, exportsFailed: 2, spansExported: 6, spansGivenUp: 4 });
  });

  test('nothing of a batch arrives: the collector is told that it is lost', async () => {
    const { reporter } = open((_n, done) => done({ code: 1 }), { maxAttempts: 1 });
    await expect(reporter.report(batchOf([numberedRecords(3)]))).rejects.toMatchObject({ retryable: false });
  });

  test('an HTTP status in the error that says "wrong": not tried again', async () => {
    const error = Object.assign(new Error('Bad Request'), { code: 400 });
    const { reporter } = open((_n, done) => done({ code: 1, error }));
    await expect(reporter.report(batchOf([numberedRecords(3)]))).rejects.toMatchObject({ retryable: false });
  });

  test('a throw', async () => {
    const { reporter } = open(() => {
      throw new TypeError('its own bug');
    });
    await expect(reporter.report(batchOf([numberedRecords(3)]))).rejects.toMatchObject({
      code: 'ERR_SPANLINE_EXPORT',
      message: expect.stringContaining('its own bug'),
    });
  });

  test('an exporter that never answers is given up by the signal', async () => {
    const controller = new AbortController();
    const reason = new ReportError('ERR_SPANLINE_REPORT_TIMEOUT', 'too long');
    const { reporter } = open(() => controller.abort(reason));
    await expect(reporter.report(batchOf([numberedRecords(3)], RESOURCE, controller.signal))).rejects.toBe(reason);
  });
});

test('wrong options name themselves', () => {
  const exporter = new InMemorySpanExporter();
  expect(() => new OtelSdkReporter({} as SpanExporter)).toThrow(/needs a SpanExporter/);
  expect(() => new OtelSdkReporter(undefined as unknown as SpanExporter)).toThrow(/needs a SpanExporter/);
  expect(() => new OtelSdkReporter(exporter, { maxExportSpans: 0 })).toThrow(/"maxExportSpans" must be/);
  expect(() => new OtelSdkReporter(exporter, { size: 1 } as object)).toThrow(/"size".*Known: maxExportSpans/);
});
