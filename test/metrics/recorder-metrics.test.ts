// What the recorder says of itself: spans handed over, dropped and delivered are sums that fit together, whatever reporters do.
import { expect, test } from 'vitest';
import { Collector, never, Span, stats } from '../../src/index.js';
import { Instruments, Reader } from '../../src/metrics/reader.js';
import { measureRecorder } from '../../src/metrics/recorder-metrics.js';

/** `name error: value`, of components also their own name. */
const linesOf = (instruments: Instruments): string[] =>
  new Reader(instruments, 'cumulative').read().flatMap(({ instrument, points }) =>
    [...points].map(({ attributes, value }) => {
      const values = attributes.filter(([key]) => key !== 'otel.component.type').map(([, one]) => one);
      return `${[instrument.name, ...values].join(' ')}: ${value}`;
    }),
  );

const COUNTERS = [
  'tracesStarted',
  'tracesUnsampled',
  'spansOfDiscardedTraces',
  'spansOverTraceCap',
  'localSpansOverCap',
] as const;

const noMemory = (line: string): boolean => !line.startsWith('spanline.trace.memory');

test('spans of a service, from their start to their exporter', async () => {
  const instruments = new Instruments();
  // What other tests of this process have counted is none of it.
  const collector = new Collector();
  const before = stats();
  measureRecorder(instruments, () => {
    const now = { ...stats(), collector: collector.stats() };
    for (const name of COUNTERS) now[name] -= before[name];
    return now;
  });
  let fails = false;
  collector.setReporter({
    name: 'otlp',
    report() {
      if (fails) throw Object.assign(new Error('no'), { retryable: false });
    },
  });
  const trace = (spans: number): void => {
    const root = Span.root('job', undefined, { collector });
    for (let i = 1; i < spans; i++) Span.start('step', root).end();
    root.end();
  };
  trace(3);
  const open = Span.root('open', undefined, { collector });
  expect(linesOf(instruments).filter(noMemory)).toEqual([
    'spanline.trace.recorded: 2',
    'spanline.trace.open: 1',
    'otel.sdk.processor.span.queue.size spanline.collector/0: 3',
    'otel.sdk.exporter.span.inflight otlp_http_span_exporter/0: 0',
  ]);
  await collector.flush();
  fails = true;
  trace(2);
  await collector.flush();
  open.cancel();
  collector.configure({ sampler: never });
  Span.root('left out', undefined, { collector }).end();
  expect(linesOf(instruments).filter(noMemory)).toEqual([
    'spanline.trace.recorded: 3',
    'spanline.trace.unsampled: 1',
    'spanline.trace.open: 0',
    'otel.sdk.processor.span.processed spanline.collector/0: 5',
    'otel.sdk.processor.span.queue.size spanline.collector/0: 0',
    'otel.sdk.exporter.span.exported otlp_http_span_exporter/0 rejected: 2',
    'otel.sdk.exporter.span.exported otlp_http_span_exporter/0: 3',
    'otel.sdk.exporter.span.inflight otlp_http_span_exporter/0: 0',
  ]);
});

test('each reason has its sum; a reporter that is replaced goes on with the sums of the one before', () => {
  const instruments = new Instruments();
  const real = stats();
  const reporter = {
    reportedTraces: 1,
    reportedSpans: 0,
    reportErrors: 0,
    retries: 0,
    droppedTracesQueueFull: 0,
    droppedSpansQueueFull: 4,
    droppedSpansRefused: 0,
    droppedSpansAtShutdown: 5,
    queuedSpans: 9,
    queuedBytes: 0,
  };
  let otlp: typeof reporter & { readonly own?: Readonly<Record<string, number>> } = {
    ...reporter,
    own: { rejectedSpans: 2, refusedSpans: 3, spansTooLarge: 1, spansInvalid: 0 },
  };
  measureRecorder(instruments, () => ({
    ...real,
    spansOfDiscardedTraces: 6,
    spansOverTraceCap: 7,
    localSpansOverCap: 1,
    collector: {
      ...real.collector,
      handedSpans: 0,
      droppedSpansQueueFull: 10,
      droppedSpansBeforeReporter: 11,
      droppedSpansAfterShutdown: 12,
      reporters: { otlp, 'file#2': reporter },
    },
  }));
  const sums = (): string[] => linesOf(instruments).filter((line) => /processed|exported|inflight/.test(line));
  const processed = [
    'otel.sdk.processor.span.processed spanline.collector/0 queue_full: 10',
    'otel.sdk.processor.span.processed spanline.collector/0 no_reporter: 11',
    'otel.sdk.processor.span.processed spanline.collector/0 already_shutdown: 12',
    'otel.sdk.processor.span.processed spanline.collector/0 trace_discarded: 6',
    'otel.sdk.processor.span.processed spanline.collector/0 trace_full: 8',
  ];
  const failed = [
    'otel.sdk.exporter.span.exported otlp_http_span_exporter/0 rejected: 5',
    'otel.sdk.exporter.span.exported otlp_http_span_exporter/0 invalid: 1',
    'otel.sdk.exporter.span.exported otlp_http_span_exporter/0 queue_full: 4',
    'otel.sdk.exporter.span.exported otlp_http_span_exporter/0 already_shutdown: 5',
    'otel.sdk.exporter.span.exported spanline.file/1 queue_full: 4',
    'otel.sdk.exporter.span.exported spanline.file/1 already_shutdown: 5',
  ];
  const inFlight = [
    'otel.sdk.exporter.span.inflight otlp_http_span_exporter/0: 9',
    'otel.sdk.exporter.span.inflight spanline.file/1: 9',
  ];
  // A server has answered for a part of a batch that is not reported yet.
  expect(sums()).toEqual([...processed, ...failed, ...inFlight]);
  otlp = { ...otlp, reportedSpans: 20 };
  const delivered = (spans: number): string => `otel.sdk.exporter.span.exported otlp_http_span_exporter/0: ${spans}`;
  expect(sums()).toEqual([...processed, ...failed, delivered(14), ...inFlight]);
  otlp = { ...reporter, reportedSpans: 8, droppedSpansQueueFull: 0, droppedSpansAtShutdown: 0, own: {} };
  expect(sums()).toContain(delivered(22));
});
