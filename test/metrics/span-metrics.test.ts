// The program's own spans by name: each that is recorded once, by the properties that were chosen, and none that sampling leaves out.
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { state } from '../../src/context/process-state.js';
import {
  Collector,
  LocalCollector,
  LocalSpan,
  OptionError,
  type RootOptions,
  ratio,
  type Sampler,
  Span,
  SpanContext,
  spanMetrics,
  toRecords,
} from '../../src/index.js';
import { Instruments, Reader } from '../../src/metrics/reader.js';
import { measureSpans } from '../../src/metrics/span-durations.js';

let instruments: Instruments;
let collector: Collector;
let options: RootOptions;

const collectWith = (sampler: Sampler): void => {
  collector = new Collector({ sampler });
  options = { collector };
};

const forget = (): void => {
  state.spanMetrics = undefined;
  state.spanMeasures = undefined;
};

beforeEach(() => {
  forget();
  onTestFinished(forget);
  instruments = new Instruments();
  collectWith(() => true);
});

/** `key=value,...: count [count in each bucket that has some]`, a line a set. */
const lines = (): string[] =>
  new Reader(instruments, 'cumulative').read().flatMap(({ instrument: { name }, points }) =>
    [...points].map(({ attributes, buckets }) => {
      const set = attributes.map(([key, value]) => `${key}=${String(value)}`).join(',');
      return `${name.replace('spanline.recorded_span.duration', '')}${set}: ${buckets?.reduce((sum, one) => sum + one, 0)}`;
    }),
  );

const root = (name: string): Span => Span.root(name, undefined, options);

test('spans of every kind are counted once by name, property and error; others are not', async () => {
  measureSpans(instruments, true);
  spanMetrics({ checkout: { properties: ['plan', 'items'] }, price: {}, shared: {} });
  const failing = root('checkout');
  failing.addProperty('plan', 'free').addProperty('plan', 'team').addProperty('other', 1);
  expect(() =>
    failing.runToEnd(() => {
      LocalSpan.start('price').end();
      LocalSpan.start('unnamed').end();
      // Left open: the end of its task ends it.
      LocalSpan.start('price').addProperty('error.type', 'timeout');
      throw new TypeError('no card');
    }),
  ).toThrow('no card');
  const parents = [root('a'), root('b')];
  Span.start('shared', parents).setStatus('error').end();
  Span.start('checkout', parents[0]).addProperty('items', 3).end();
  Span.start('checkout', parents[0]).addProperty('items', [1, 2]).addProperty('plan', 2n).end();
  for (const parent of parents) parent.end();
  parents[0].end();
  expect(lines()).toEqual([
    'span.name=price: 1',
    'span.name=price,error.type=timeout: 1',
    'span.name=checkout,error.type=TypeError,plan=team: 1',
    'span.name=shared,error.type=_OTHER: 1',
    'span.name=checkout,items=3: 1',
    'span.name=checkout,plan=2,items=1,2: 1',
  ]);
  await collector.shutdown();
});

test('it counts what is recorded: of a share of the traces all spans, and none of a cancelled trace that goes on', async () => {
  const recorded: string[] = [];
  collectWith(ratio(0.3));
  measureSpans(instruments, true);
  spanMetrics({ request: {}, step: {} });
  for (let i = 0; i < 1000; i++) {
    const request = root('request');
    request.runToEnd(() => {
      LocalSpan.start('step').end();
      if (request.isRecording) recorded.push('request');
    });
  }
  expect(recorded.length).toBeGreaterThan(200);
  expect(recorded.length).toBeLessThan(400);
  expect(lines()).toEqual([`span.name=step: ${recorded.length}`, `span.name=request: ${recorded.length}`]);
  collectWith(() => true);
  const cancelled = root('request');
  const child = Span.start('step', cancelled);
  cancelled.run(() => {
    const local = LocalSpan.start('step');
    cancelled.cancel();
    local.end();
  });
  child.end();
  cancelled.end();
  expect(lines()).toEqual([`span.name=step: ${recorded.length}`, `span.name=request: ${recorded.length}`]);
  await collector.shutdown();
});

test('spans that are collected for many traces count once', () => {
  measureSpans(instruments, true);
  spanMetrics({ write: {} });
  const [, spans] = LocalCollector.run(() => LocalSpan.start('write').end());
  for (const one of [root('a'), root('b')]) one.pushChildSpans(spans).end();
  expect(toRecords(spans)).toHaveLength(1);
  expect(lines()).toEqual(['span.name=write: 1']);
});

test('buckets name the spans themselves', () => {
  measureSpans(instruments, true);
  spanMetrics({ request: {}, step: {} });
  const request = Span.root('request', SpanContext.random(), options);
  let step = '';
  request.runToEnd(() => {
    const local = LocalSpan.start('step');
    step = [local.idHi, local.idLo].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
    local.end();
  });
  const exemplars = new Reader(instruments, 'cumulative')
    .read()
    .flatMap(({ points }) =>
      [...points].flatMap(({ buckets, exemplarOf }) => [...(buckets ?? [])].flatMap((_, i) => exemplarOf(i) ?? [])),
    );
  const { traceId, spanId } = request.context as SpanContext;
  expect(exemplars.map((one) => [one.traceId, one.spanId])).toEqual([
    [traceId, step],
    [traceId, spanId],
  ]);
});

test('names may be wanted before anything measures, and are measured from then on', () => {
  spanMetrics({ early: { properties: ['a'] } });
  expect(state.spanMeasures).toBeUndefined();
  root('early').end();
  measureSpans(instruments, true);
  root('early').end();
  spanMetrics({ early: { properties: ['a', 'a'] }, late: {} });
  root('late').end();
  expect(lines()).toEqual(['span.name=early: 1', 'span.name=late: 1']);
});

test('properties with a value for each request: the bound holds, and sums are whole', () => {
  measureSpans(instruments, true);
  spanMetrics({ order: { properties: ['user'] } });
  for (let i = 0; i < 5000; i++) root('order').addProperty('user', i).end();
  const all = lines();
  expect(all).toHaveLength(2000);
  expect(all[0]).toBe('otel.metric.overflow=true: 3001');
});

test('what is wrong is said, and nothing of the call is taken', () => {
  measureSpans(instruments, true);
  spanMetrics({ checkout: { properties: ['plan'] } });
  const many = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`span ${i}`, {}]));
  const wrong: [unknown, string][] = [
    [undefined, 'spanMetrics takes an object'],
    ['checkout', 'spanMetrics takes an object'],
    [{ fine: {}, checkout: {} }, '"checkout" is measured by [plan] already.'],
    [{ fine: {}, a: { properties: 'plan' } }, '"properties" of "a" must be an array of keys.'],
    [{ fine: {}, a: { properties: [''] } }, '"properties" of "a" must be an array of keys.'],
    [{ fine: {}, a: { properties: ['span.name'] } }, 'must not have span.name'],
    [{ fine: {}, a: { properties: Array.from({ length: 17 }, (_, i) => `key ${i}`) } }, 'at most 16 keys'],
    [{ fine: {}, ...many }, 'at most 2000 names'],
  ];
  for (const [spans, message] of wrong) {
    expect(() => spanMetrics(spans as never)).toThrow(OptionError);
    expect(() => spanMetrics(spans as never)).toThrow(message);
  }
  root('fine').end();
  expect(lines()).toEqual([]);
});
