// What a program plugs in, and what it asks of a process: samplers, resource, copies of the API, metrics, options.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { context, diag, type SpanContext as OtelContext, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { SamplingDecision, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace-base';
import { expect, onTestFinished, test } from 'vitest';
import { Collector } from '../../src/collector/collector.js';
import { MemoryReporter } from '../../src/exporters/memory.js';
import { stats } from '../../src/index.js';
import { containerIdIn } from '../../src/otel/detect-resource.js';
import {
  alwaysOff,
  alwaysOn,
  detectResource,
  findApiCopies,
  observeStats,
  parentBasedSampler,
  perSecond,
  ruleSampler,
  SpanlineTracerProvider,
  traceIdRatio,
} from '../../src/otel/index.js';
import { samplerOf } from '../../src/register/settings.js';
import { ratio } from '../../src/span/sampler.js';
import { SpanContext } from '../../src/span/span-context.js';
import { register } from './support/recorded.js';

test('a share decides as the SDK does for the same id: in code, by the environment, and of this entry', () => {
  for (const share of [0, 0.001, 0.1, 0.5, 0.9, 1]) {
    const [ours, theirs] = [traceIdRatio(share), new TraceIdRatioBasedSampler(share)];
    const others = [ratio(share), samplerOf('traceidratio', share)];
    expect(ours.toString()).toBe(theirs.toString());
    const contexts = Array.from({ length: 2000 }, () => SpanContext.random());
    // One expectation for all: each costs more than the decision.
    const apart = contexts.filter((context) => {
      const { decision } = theirs.shouldSample(ROOT_CONTEXT, context.traceId);
      const isWanted = decision === SamplingDecision.RECORD_AND_SAMPLED;
      return (
        ours.shouldSample(ROOT_CONTEXT, context.traceId, 'n', 0, {}, []).decision !== decision ||
        others.some((sampler) => sampler({ name: 'n', context }) !== isWanted)
      );
    });
    expect(apart.map(({ traceId }) => traceId)).toEqual([]);
  }
  expect(() => traceIdRatio(2)).toThrow(expect.objectContaining({ code: 'ERR_SPANLINE_OPTION' }));
});

test('rules, and a number a second', async () => {
  const { spans } = register({
    sampler: parentBasedSampler(
      ruleSampler(
        [
          { name: /^GET \/health/, sampler: alwaysOff },
          { kind: SpanKind.SERVER, attributes: { 'url.path': '/private' }, sampler: alwaysOff },
          { name: 'rare', sampler: perSecond(2) },
        ],
        alwaysOn,
      ),
    ),
  });
  const tracer = trace.getTracer('t');
  tracer.startActiveSpan('GET /health/live', (span) => {
    tracer.startSpan('below').end();
    span.end();
  });
  tracer.startSpan('private', { kind: SpanKind.SERVER, attributes: { 'url.path': '/private' } }).end();
  tracer.startSpan('public', { kind: SpanKind.SERVER, attributes: { 'url.path': '/' } }).end();
  const rare = Array.from({ length: 50 }, () => tracer.startSpan('rare'));
  expect(rare.filter((span) => span.isRecording()).length).toBe(2);
  for (const span of rare) span.end();
  expect(Object.keys(await spans()).sort()).toEqual(['public', 'rare']);
  expect(() => perSecond(0)).toThrow(expect.objectContaining({ code: 'ERR_SPANLINE_OPTION' }));
});

test('the resource of a process, without its arguments', () => {
  const found = detectResource();
  expect(found).toMatchObject({ 'process.pid': process.pid, 'process.runtime.name': 'nodejs', 'os.type': 'linux' });
  expect(found['service.instance.id']).toMatch(/^[0-9a-f-]{36}$/);
  expect(detectResource()['service.instance.id']).toBe(found['service.instance.id']);
  expect(found).not.toHaveProperty('process.command_args');
  const id = 'ab'.repeat(32);
  expect(containerIdIn(`1:name=systemd:/docker/${id}\n`, '')).toBe(id);
  expect(containerIdIn(`0::/system.slice/cri-containerd-${id}.scope`, '')).toBe(id);
  expect(containerIdIn('0::/\n', `1 2 0:1 /var/lib/docker/containers/${id}/hostname /etc/hostname`)).toBe(id);
  expect(containerIdIn('0::/\n', '')).toBeUndefined();
});

test('copies of the API are found and named', () => {
  const root = mkdtempSync(join(tmpdir(), 'copies-'));
  const put = (path: string, version: string): void => {
    const folder = join(root, path, 'node_modules/@opentelemetry/api');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ version }));
  };
  put('', '1.9.1');
  put('node_modules/lib', '1.4.0');
  put('node_modules/@scope/lib', '1.10.0');
  expect(
    findApiCopies(root)
      .map(({ version }) => version)
      .sort(),
  ).toEqual(['1.10.0', '1.4.0', '1.9.1']);
  expect(findApiCopies(join(root, 'node_modules')).length).toBeGreaterThan(0);
});

test('counters as metrics', async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 1e6 });
  const provider = new MeterProvider({ readers: [reader] });
  const stop = observeStats(provider);
  await reader.forceFlush();
  const names = exporter.getMetrics()[0].scopeMetrics[0].metrics.map(({ descriptor }) => descriptor.name);
  expect(names).toContain('spanline.spans_over_trace_cap');
  expect(names).toContain('spanline.collector.open_bytes');
  stop();
  await provider.shutdown();
});

test('an option that is wrong is named', () => {
  const wrong = (options: object) =>
    expect(() => new SpanlineTracerProvider(options)).toThrow(expect.objectContaining({ code: 'ERR_SPANLINE_OPTION' }));
  wrong({ sampler: {} });
  wrong({ idGenerator: 5 });
  wrong({ spanProcessors: [{}] });
  wrong({ attributeValueLengthLimit: 0 });
  wrong({ attributePerEventCountLimit: -1 });
  wrong({ other: 1 });
});

test('attributes of an event and of a link: the first are kept, and the others counted', async () => {
  const { spans } = register({ attributePerEventCountLimit: 1, attributePerLinkCountLimit: 0 });
  const attributes = { a: 1, b: 2, c: 3 };
  const context = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1 };
  trace.getTracer('t').startSpan('s').addEvent('e', attributes).addLink({ context, attributes }).end();
  const { s } = await spans();
  expect(s.events[0]).toMatchObject({ properties: { a: 1 }, droppedAttributesCount: 2 });
  expect(s.links[0]).toMatchObject({ properties: {}, droppedAttributesCount: 3 });
});

test('texts are cut, limits count what they drop', async () => {
  const { spans } = register(
    { attributeValueLengthLimit: 3 },
    { maxPropertiesPerSpan: 2, maxEventsPerSpan: 1, maxLinksPerSpan: 1 },
  );
  const span = trace.getTracer('t').startSpan('s');
  span.setAttributes({ a: 'abcdef', b: ['abcd', 'x'], c: 1 }).setAttribute('a', 'zzzzz');
  const link = { context: { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1 } };
  span.addEvent('e').addEvent('f').addLinks([link, link]).end();
  const { s } = await spans();
  expect(s.properties).toEqual({ a: 'zzz', b: ['abc', 'x'] });
  expect([s.droppedAttributesCount, s.droppedEventsCount, s.droppedLinksCount]).toEqual([1, 1, 1]);
});

test('a link without a context is left out, and the API is told', async () => {
  const said: string[] = [];
  const log = (message: string) => void said.push(message);
  diag.setLogger({ verbose: log, debug: log, info: log, warn: log, error: log }, { suppressOverrideMessage: true });
  onTestFinished(() => diag.disable());
  const { spans } = register();
  said.length = 0;
  const link = { context: { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1 } };
  // Outside any span there is none.
  const links = [{ context: trace.getSpanContext(context.active()) as OtelContext }, link];
  const before = stats().linksInvalid;
  const span = trace.getTracer('t').startSpan('s', { links });
  span.addLink({ context: undefined as never }).addLinks([null as never, link]);
  span.end();
  expect((await spans()).s.links).toMatchObject([{ traceId: '1'.repeat(32) }, { traceId: '1'.repeat(32) }]);
  expect(said).toEqual(Array(3).fill('Dropping a link without the context of a span'));
  expect(stats().linksInvalid - before).toBe(3);
});

test('whatever a program gives, nothing is thrown into it', async () => {
  const fail = (): never => {
    throw new Error('broken');
  };
  const revoked = Proxy.revocable([], {});
  revoked.revoke();
  // What has no text, what throws when it is read, what is of another type.
  const odd = [null, 7, 'x', fail, Symbol('s'), Object.create(null), new Proxy({}, { get: fail, ownKeys: fail })];
  diag.setLogger(
    { verbose: fail, debug: fail, info: fail, warn: fail, error: fail },
    { suppressOverrideMessage: true },
  );
  onTestFinished(() => diag.disable());
  const good = { context: { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1 } };
  const { spans } = register();
  const tracer = trace.getTracer('t');
  for (const one of odd as never[]) {
    tracer.startSpan('o', {}, trace.setSpanContext(ROOT_CONTEXT, { ...good.context, traceState: one })).end();
    tracer.startSpan('o', { links: one, attributes: one, kind: one, startTime: one }).end();
  }
  const span = tracer.startSpan('s', null as never, null as never);
  for (const one of odd as never[]) {
    span.setAttribute('a', one).setAttribute(one, 1).setAttributes(one).setAttributes({ 'http.route': one });
    span.addEvent('e', one).addEvent('e', { a: one }, one).addLink(one).addLink({ context: one }).addLinks(one);
    span.addLink({ context: { ...good.context, traceState: one }, attributes: one });
    span.setStatus(one).setStatus({ code: 2, message: one });
    span.recordException(one);
    span.recordException({ code: one, name: one, message: 'm' });
    tracer.startSpan(one).setAttribute('http.route', '/').updateName(one).end();
  }
  span.setAttribute('c', revoked.proxy).addEvent('e', { a: revoked.proxy }).setAttribute('b', 2).addLink(good).end();
  span.end();
  const { s } = await spans();
  expect(s.properties.b).toBe(2);
  expect(s.links.length).toBeGreaterThan(0);
});

test('a sampler and an idGenerator that throw: not recorded, and ids of our own', async () => {
  const fail = (): never => {
    throw new Error('broken');
  };
  const broken = { shouldSample: fail, toString: () => 'broken' };
  const { spans, provider } = register({ sampler: broken });
  expect(provider.getTracer('t').startSpan('a').isRecording()).toBe(false);
  expect(await spans()).toEqual({});
  const other = register({ idGenerator: { generateTraceId: fail, generateSpanId: fail } });
  other.provider.getTracer('t').startSpan('a').end();
  expect((await other.spans()).a.traceId).toMatch(/^[0-9a-f]{32}$/);
});

test('a processor that throws stops nobody', async () => {
  const seen: string[] = [];
  const broken = {
    onStart() {
      throw new Error('start');
    },
    onEnd() {
      throw new Error('end');
    },
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  const good = { ...broken, onStart: () => seen.push('start'), onEnd: () => seen.push('end') };
  const { provider, spans } = register({ spanProcessors: [broken, good] });
  provider.getTracer('t').startSpan('a').end();
  expect(seen).toEqual(['start', 'end']);
  expect(Object.keys(await spans())).toEqual(['a']);
  await provider.shutdown();
  expect(context.active()).toBe(ROOT_CONTEXT);
});

test('ids of a generator are of spans that are recorded: what a full trace refuses passes on the span above', async () => {
  const collector = new Collector({ maxSpansPerTrace: 1 });
  const memory = new MemoryReporter();
  collector.setReporter(memory);
  let made = 0;
  const tracer = new SpanlineTracerProvider({
    collector,
    idGenerator: {
      generateTraceId: () => '1'.repeat(32),
      generateSpanId: () => String(++made).padStart(16, '0'),
    },
  }).getTracer('lib');
  const root = tracer.startSpan('root');
  const below = trace.setSpan(ROOT_CONTEXT, root);
  const ids = ['kept', 'refused'].map((name) => {
    const span = tracer.startSpan(name, {}, below);
    span.end();
    return span.spanContext().spanId;
  });
  root.end();
  await collector.flush();
  const recorded = memory.spans.map(({ spanId }) => spanId);
  expect(memory.tree()).toBe('root\n  kept');
  expect(recorded).toEqual(expect.arrayContaining(ids));
});
