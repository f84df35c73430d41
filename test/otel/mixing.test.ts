// One context store for both: OpenTelemetry's spans and ours are each other's parents, in either direction, and what else a context holds
// goes along.
import { EventEmitter, once } from 'node:events';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { context, createContextKey, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { expect, test } from 'vitest';
import '../../src/collector/default-collector.js';
import { LocalSpan } from '../../src/local-span/local-span.js';
import { SpanlineContextManager } from '../../src/otel/context-manager.js';
import { alwaysOn } from '../../src/otel/samplers.js';
import { Span } from '../../src/span/span.js';
import { register } from './support/recorded.js';

const tracer = () => trace.getTracer('lib', '1.0.0');
const KEY = createContextKey('key');

test('an OpenTelemetry span under span.run is its child, across awaits', async () => {
  const { collector, spans } = register();
  const root = Span.root('root', undefined, { collector });
  await root.run(async () => {
    await turn();
    expect(trace.getActiveSpan()?.spanContext().spanId).toBe(root.context?.spanId);
    expect(trace.getActiveSpan()).toBe(trace.getActiveSpan());
    tracer().startSpan('child').end();
    using local = LocalSpan.start('local');
    tracer().startSpan('below local').end();
    local.addProperty('a', 1);
  });
  root.end();
  const { child, 'below local': below, local } = await spans();
  expect(child.parentSpanId).toBe(root.context?.spanId);
  expect(child.traceId).toBe(root.context?.traceId);
  expect(below.parentSpanId).toBe(local.spanId);
  expect(child.scope).toEqual({ name: 'lib', version: '1.0.0', properties: {} });
  expect(local.scope).toBeUndefined();
});

test('ours under an active OpenTelemetry span are its children', async () => {
  const { spans } = register();
  await tracer().startActiveSpan('request', async (span) => {
    LocalSpan.start('sync').end();
    await turn();
    LocalSpan.start('later').end();
    const own = Span.startWithLocalParent('own');
    await own.run(async () => {
      await turn();
      tracer().startActiveSpan('inner', (inner) => inner.end());
    });
    own.end();
    span.end();
  });
  const { request, sync, later, own, inner } = await spans();
  for (const one of [sync, later, own]) expect(one.parentSpanId).toBe(request.spanId);
  expect(inner.parentSpanId).toBe(own.spanId);
  expect(sync.isLocal).toBe(true);
});

test('a handler that goes on after with() has its context and makes local spans', async () => {
  const { spans } = register();
  const span = tracer().startSpan('request');
  const done = new Promise<void>((resolve) => {
    context.with(trace.setSpan(context.active(), span), () => {
      setTimeout(async () => {
        LocalSpan.start('in timer').end();
        await turn();
        tracer().startSpan('after').end();
        resolve();
      }, 5);
    });
  });
  expect(trace.getActiveSpan()).toBeUndefined();
  await done;
  span.end();
  const { request, 'in timer': local, after } = await spans();
  expect(local.parentSpanId).toBe(request.spanId);
  expect(after.parentSpanId).toBe(request.spanId);
});

test('values and baggage go along under spans of ours', async () => {
  const { collector } = register();
  const baggage = propagation.createBaggage({ user: { value: 'u' } });
  const outer = propagation.setBaggage(ROOT_CONTEXT.setValue(KEY, 7), baggage);
  await context.with(outer, async () => {
    expect(context.active()).toBe(outer);
    const root = Span.root('root', undefined, { collector });
    await root.run(async () => {
      await turn();
      expect(context.active().getValue(KEY)).toBe(7);
      expect(propagation.getActiveBaggage()?.getEntry('user')?.value).toBe('u');
      expect(trace.getActiveSpan()?.spanContext().spanId).toBe(root.context?.spanId);
      await Span.startWithLocalParent('child').runToEnd(async () => {
        await turn();
        expect(context.active().getValue(KEY)).toBe(7);
      });
      {
        using _ = Span.startWithLocalParent('entered').enter();
        expect(context.active().getValue(KEY)).toBe(7);
      }
    });
    root.end();
    expect(context.active()).toBe(outer);
  });
  expect(context.active()).toBe(ROOT_CONTEXT);
});

test('a context without a span of ours shuts out the local parent', async () => {
  const { collector, spans } = register();
  const root = Span.root('root', undefined, { collector });
  root.run(() => {
    context.with(ROOT_CONTEXT, () => {
      expect(trace.getActiveSpan()).toBeUndefined();
      LocalSpan.start('nowhere').end();
      tracer().startSpan('a root').end();
    });
    tracer().startSpan('another root', { root: true }).end();
    expect(trace.getActiveSpan()?.spanContext().spanId).toBe(root.context?.spanId);
  });
  root.end();
  const found = await spans();
  expect(Object.keys(found).sort()).toEqual(['a root', 'another root', 'root']);
  expect(found['a root'].parentSpanId).toBe('');
  expect(found['a root'].traceId).not.toBe(found.root.traceId);
  expect(found['another root'].parentSpanId).toBe('');
});

test('a remote parent is found by what starts under it', async () => {
  const { spans } = register();
  const remote = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1, isRemote: true };
  context.with(trace.setSpanContext(ROOT_CONTEXT, remote), () => {
    tracer().startActiveSpan('server', (span) => {
      LocalSpan.start('work').end();
      span.end();
    });
  });
  const { server, work } = await spans();
  expect([server.traceId, server.parentSpanId, server.hasRemoteParent]).toEqual([remote.traceId, remote.spanId, true]);
  expect(work.parentSpanId).toBe(server.spanId);
});

test('an unsampled remote parent records nothing below, and passes its place on', async () => {
  const { spans } = register();
  const remote = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 0, isRemote: true };
  context.with(trace.setSpanContext(ROOT_CONTEXT, remote), () => {
    tracer().startActiveSpan('server', (span) => {
      expect(span.isRecording()).toBe(false);
      expect(span.spanContext()).toMatchObject({ traceId: remote.traceId, traceFlags: 0 });
      LocalSpan.start('work').end();
      tracer().startSpan('below').end();
      span.end();
    });
  });
  expect(await spans()).toEqual({});
});

test('suppressed tracing', async () => {
  const { spans } = register();
  const key = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');
  tracer().startActiveSpan('request', (span) => {
    context.with(context.active().setValue(key, true), () => {
      expect(tracer().startSpan('hidden').isRecording()).toBe(false);
      LocalSpan.start('local').end();
    });
    span.end();
  });
  expect(Object.keys(await spans())).toEqual(['request']);
});

test('bind: functions keep this, arguments and length; emitters remove what was added', async () => {
  register();
  const span = tracer().startSpan('a');
  const there = trace.setSpan(ROOT_CONTEXT, span);
  const bound = context.bind(there, function (this: unknown, a: number, b: number) {
    return [this, a + b, trace.getActiveSpan() === span];
  });
  expect(bound.length).toBe(2);
  const self = {};
  expect(Reflect.apply(bound, self, [1, 2])).toEqual([self, 3, true]);
  const emitter = context.bind(there, new EventEmitter());
  const seen: unknown[] = [];
  const listener = () => seen.push(trace.getActiveSpan());
  emitter.on('x', listener).once('x', listener);
  emitter.emit('x');
  emitter.off('x', listener);
  emitter.emit('x');
  expect(seen).toEqual([span, span]);
  expect(emitter.listenerCount('x')).toBe(0);
  setTimeout(() => emitter.emit('y', 5), 1);
  expect(await once(emitter, 'y')).toEqual([5]);
  expect(context.bind(there, 5)).toBe(5);
  span.end();
});

test('bind: an emitter of another library gets all that it is given', () => {
  register();
  // As EventEmitter3 takes what `this` is, and component-emitter removes all where it gets nothing but the event.
  type Added = [event: string, listener: (...args: unknown[]) => unknown, self?: unknown];
  let added: Added[] = [];
  const asked: unknown[][] = [];
  const add = (...args: Added): void => void added.push(args);
  const emitter = context.bind(trace.setSpan(ROOT_CONTEXT, tracer().startSpan('a')), {
    on: add,
    once: add,
    addListener: add,
    off(...args: unknown[]) {
      asked.push(args);
      added = added.filter(([event, listener]) => event !== args[0] || (args.length > 1 && listener !== args[1]));
    },
  });
  const self = { name: 'self' };
  const listener = function (this: unknown): unknown {
    return [this, trace.getActiveSpan() !== undefined];
  };
  const given = (): unknown[] => added.map(([, one, its]) => Reflect.apply(one, its, []));
  emitter.on('x', listener, self);
  emitter.once('x', listener, self);
  emitter.addListener('x', listener);
  expect(given()).toEqual([
    [self, true],
    [self, true],
    [undefined, true],
  ]);
  emitter.off('x', listener, self, true);
  expect([given(), asked[0].slice(2)]).toEqual([[], [self, true]]);
  emitter.on('x', listener);
  emitter.on('x', { filter: 1 } as never, listener);
  expect(added[1]).toEqual(['x', { filter: 1 }, listener]);
  emitter.off('x');
  expect([added, asked[1]]).toEqual([[], ['x']]);
});

test('with: this, arguments, result, throw; a promise comes back as it is', async () => {
  const manager = new SpanlineContextManager().enable();
  const promise = wait(1, 'late');
  const self = { a: 1 };
  expect(
    manager.with(
      ROOT_CONTEXT,
      function (this: unknown, ...args: unknown[]) {
        return [this, ...args];
      } as never,
      self as never,
      ...([1, 2] as never),
    ),
  ).toEqual([self, 1, 2]);
  expect(manager.with(ROOT_CONTEXT, () => promise)).toBe(promise);
  expect(() =>
    manager.with(ROOT_CONTEXT, () => {
      throw new Error('no');
    }),
  ).toThrow('no');
  await promise;
});

test('nested contexts do not pile up', () => {
  register();
  const depth = (at: object | undefined): number => (at === undefined ? 0 : 1 + depth((at as { base?: object }).base));
  const nest = (left: number): number =>
    left === 0 ? depth(context.active()) : tracer().startActiveSpan('n', () => nest(left - 1));
  expect(nest(50)).toBe(2);
});

test('what a sampler lets through below a root that collects itself is collected there, and reported to nobody', async () => {
  const { collector, spans } = register({ sampler: alwaysOn });
  const [root, own] = Span.rootWithCollector('root', undefined, { collector });
  await root.run(async () => {
    await turn();
    tracer().startActiveSpan('child', (child) => child.end());
  });
  root.end();
  expect((await own.collect()).map(({ name }) => name)).toEqual(['root', 'child']);
  expect(await spans()).toEqual({});
});
