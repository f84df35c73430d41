// Random programs that call the whole recording API with whatever a value can be: nothing throws, what is reported is
// well-formed, and the context is found as it was.
import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import { types } from 'node:util';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import {
  always,
  bindEmitter,
  currentQueue,
  type EventRecord,
  LocalCollector,
  LocalSpan,
  LocalSpans,
  Span,
  SpanContext,
  type SpanRecord,
  trace,
  traced,
  traceIterable,
  tracePromise,
  traceStream,
} from '../../src/index.js';
import fc from '../support/fast-check.js';
import { recorder } from '../support/recorder.js';
import { samples } from '../support/samples.js';

// biome-ignore lint/suspicious/noExplicitAny: any value is the point.
type Any = any;

const random = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
};

const trap = (): never => {
  throw new Error('a trap ran');
};
const TRAPS: ProxyHandler<Any> = Object.fromEntries(
  Object.getOwnPropertyNames(Reflect)
    .filter((name) => name !== 'apply' && name !== 'construct')
    .map((name) => [name, trap]),
);
const revoked = (target: object): object => {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
};
const getter = (...keys: string[]): object =>
  Object.defineProperties({ plain: 1 }, Object.fromEntries(keys.map((key) => [key, { get: trap, enumerable: true }])));

/** Values of every kind, those of our own among them. */
const VALUES: (() => Any)[] = [
  () => undefined,
  () => null,
  () => true,
  () => 0,
  () => Number.NaN,
  () => Number.NEGATIVE_INFINITY,
  () => 5n,
  () => '',
  () => 'text',
  () => '__proto__',
  () => '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  () => '\ud800',
  () => Symbol('s'),
  () => Symbol.iterator,
  () => [],
  () => [1, 'mixed'],
  // biome-ignore lint/suspicious/noSparseArray: the hole is the point.
  () => [1, , 2],
  () => ['a', 'b'],
  () => Object.defineProperty([1], 0, { get: trap }),
  () => ({}),
  () => Object.create(null),
  () => ({ kind: 'server', properties: { a: 1 } }),
  () => ({ kind: 5, properties: 6, collector: 7, parent: 8 }),
  () => JSON.parse('{"__proto__":[1,2],"constructor":"x","a":1}'),
  () => getter('a', 'b'),
  () => getter('kind', 'properties', 'collector', 'parent'),
  () => getter('traceId', 'message', 'stack', 'name'),
  () => getter('w0', 'isSpan', 'trace', 'batches', 'then'),
  () => ({ isSpan: true, trace: {} }),
  () => ({ isSpan: true, trace: null, context: 5 }),
  () => ({ batches: [{ slices: 5 }, null] }),
  () => ({ w0: 1, w1: 2, w2: 3, w3: 4, idHi: 5, idLo: 6, sampled: true, isRemote: false, traceState: '' }),
  () => ({ toString: trap, valueOf: trap, [Symbol.toPrimitive]: trap }),
  () => ({ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), properties: { ok: 1, bad: {} } }),
  () => new Proxy({}, TRAPS),
  () => new Proxy([], TRAPS),
  () => new Proxy(() => 1, TRAPS),
  () => new Proxy(new Error('e'), TRAPS),
  () => revoked({}),
  () => revoked([]),
  () => new Date(),
  () => new Map([['a', 1]]),
  () => new Set([1]),
  () => new Uint8Array(25),
  () => new Error('e'),
  () => Object.assign(new Error('e'), { name: 5, message: {}, stack: Symbol('s') }),
  () => Promise.resolve(1),
  () => runInNewContext('({ a: 1, b: [1] })'),
  () => () => 1,
  () => () => ({ a: 1 }),
  () => () => Object.freeze({ a: [1n], b: {} }),
  () => () => new Proxy({}, TRAPS),
  () => async () => 1,
  () => function* () {},
  () => new LocalSpans(),
  () => SpanContext.random(),
  () => SpanContext.random({ sampled: false }),
  () => new SpanContext(0, 0, 0, 0, 0, 0, true, false, '', false),
  () => new SpanContext(1.5, Number.NaN, 0, 0, 0, 0, 'x' as Any, 5 as Any, 7 as Any, 8 as Any),
  () => Span.noop(),
  () => LocalSpan.start('l'),
];

/** A call of the list, and what decides on its values. */
interface Step {
  readonly at: number;
  readonly seed: number;
}

const play = async (steps: readonly Step[]): Promise<readonly SpanRecord[]> => {
  let next = random(0);
  const { collector, memory } = recorder({ sampler: always });
  const spans: Span[] = [];
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)];
  // Now and then a value of our own of this program.
  const value = (): Any => (next() < 0.15 && spans.length > 0 ? pick(spans) : pick(VALUES)());
  const keep = (span: Span): void => {
    spans.push(span);
  };
  const root = (): Span => Span.root('root', undefined, { collector });
  keep(root());
  const span = (): Any => pick(spans);
  const properties = (): Any => (next() < 0.5 ? value() : { [pick(['a', '__proto__', 'c'])]: value(), z: value() });
  const calls: (() => unknown)[] = [
    () => keep(root()),
    () => keep(Span.root(value(), value(), { collector, kind: value(), properties: value() })),
    () => keep(Span.rootWithCollector(value(), value(), value())[0]),
    () => keep(Span.start(value(), value(), value())),
    () => keep(Span.start(value(), span(), value())),
    () => keep(Span.start(value(), [span(), value(), span()], value())),
    () => keep(span().run(() => Span.startWithLocalParent(value(), value()))),
    () => span().addProperty(value(), value()),
    () => span().addProperties(properties()),
    () => span().addEvent(value(), properties()),
    () => span().addLink(value(), properties()),
    () => span().setStatus(value(), value()),
    () => span().recordException(value(), properties()),
    () => span().pushChildSpans(value()),
    () => span().elapsed(),
    () => next() < 0.1 && span().cancel(),
    () => span().end(),
    () => span().run(() => value()),
    () => span().runToEnd(() => value()),
    () => {
      const given = value();
      if (typeof given !== 'function') span().run(given);
    },
    () => {
      const given = value();
      if (typeof given !== 'function') span().runToEnd(given);
      if (typeof given !== 'function') span().bind(given);
      if (typeof given !== 'function') trace(value(), given);
    },
    () => span().bind(() => value())(value()),
    () => {
      const guard = span().enter();
      LocalSpan.addEvent(value(), properties());
      guard[Symbol.dispose]();
    },
    () =>
      span().run(() => {
        const local = LocalSpan.start(value());
        local.addProperty(value(), value()).addProperties(properties()).addEvent(value(), properties());
        LocalSpan.addProperty(value(), value());
        LocalSpan.addProperties(properties());
        LocalSpan.addEvent(value(), properties());
        LocalSpan.start(value()).end();
        local.end();
        local.end();
        currentQueue()?.start(value()).end();
      }),
    () => {
      const [, made] = LocalCollector.run(() => LocalSpan.start(value()).addProperties(properties()).end());
      span().pushChildSpans(made);
    },
    () => trace(value(), () => value()),
    () => span().run(() => trace(value(), () => value())),
    () => span().run(() => (traced({ name: 'f', properties: value }, () => value()) as Any).call(value(), value())),
    () => span().run(() => (traced({ properties: () => value() }, async () => value()) as Any)(value())),
    () => span().run(() => [...(traced({ properties: () => value() }, function* () {}) as Any)(value())]),
    () => span().run(() => method.call(value())),
    () => span().run(() => (traced(new Proxy(() => 1, TRAPS) as Any) as Any)()),
    // A hostile value makes a rejected promise of its own.
    () => void tracePromise(value(), Promise.resolve(value()), value()).catch(() => {}),
    () => traceIterable(value(), [1], value()).next(),
    () => traceStream(value(), value(), value()),
    () => traceStream(value(), Readable.from([1]), value()),
    () => bindEmitter(new EventEmitter(), value()).on('e', () => {}),
    () => SpanContext.random(value()),
    () => SpanContext.fromTraceparent(value(), next() < 0.5 ? value() : [value(), value()]),
    () => SpanContext.fromTraceparent('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', [value()]),
  ];
  for (const { at, seed } of steps) {
    next = random(seed);
    const call = calls[at % calls.length];
    try {
      const result = call();
      // Rejections of the values themselves.
      if (types.isPromise(result)) void result.catch(() => {});
    } catch (error) {
      throw new Error(`${call}`, { cause: error });
    }
    if (spans.length > 30) spans.splice(0, 10);
    expect(Span.current()).toBe(undefined);
  }
  for (const one of spans) one.end();
  await collector.flush();
  expect(collector.stats().reporters.memory).toMatchObject({ reportErrors: 0, lastError: undefined });
  return memory.spans;
};

class Named {
  @traced()
  work(): number {
    return 1;
  }
}
const { work: method } = new Named();

test('a function that is a revoked proxy is not a supported value of a property, and costs no other', async () => {
  const { collector, memory } = recorder();
  const root = Span.root('root', undefined, { collector });
  const gone: Any = revoked(() => {});
  root.addProperty('a', gone).addProperty('b', 1).addProperty('a', gone).addEvent('event', { a: gone, b: 1 });
  root.run(() => LocalSpan.start('local').addProperty('a', gone).addProperty('b', 1).end());
  root.end();
  await collector.flush();
  expect(memory.spans.map(({ name, properties }) => [name, properties])).toEqual([
    ['root', { b: 1 }],
    ['local', { b: 1 }],
  ]);
  expect(memory.spans[0].events[0].properties).toEqual({ b: 1 });
});

const isScalar = (value: unknown): boolean => ['string', 'number', 'bigint', 'boolean'].includes(typeof value);

const checkProperties = (list: readonly unknown[] | null, read: object): void => {
  const keys = (list ?? []).filter((_, i) => i % 2 === 0);
  expect(Reflect.ownKeys(read).sort()).toEqual([...(keys as string[])].sort());
  expect(new Set(keys).size).toBe(keys.length);
  for (let i = 1; i < (list?.length ?? 0); i += 2) {
    const value = list?.[i];
    const items: readonly unknown[] = Array.isArray(value) ? [...value] : [value];
    expect(items.every(isScalar) && new Set(items.map((item) => typeof item)).size <= 1).toBe(true);
  }
};

const checkEvent = (event: EventRecord): void => {
  expect(typeof event.name).toBe('string');
  checkProperties(event.propertyList, event.properties);
};

const check = (record: SpanRecord): void => {
  expect(record.traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
  expect(record.spanId).toMatch(/^(?!0{16})[0-9a-f]{16}$/);
  expect(record.parentSpanId).toMatch(/^((?!0{16})[0-9a-f]{16})?$/);
  expect(typeof record.name).toBe('string');
  expect(['internal', 'server', 'client', 'producer', 'consumer']).toContain(record.kind);
  expect(['unset', 'ok', 'error']).toContain(record.status.code);
  expect(['string', 'undefined']).toContain(typeof record.status.message);
  expect(record.durationNs).toBeGreaterThanOrEqual(0);
  expect(record.endUnixNs).toBeGreaterThanOrEqual(record.startUnixNs);
  expect(typeof record.trace.traceState).toBe('string');
  checkProperties(record.propertyList, record.properties);
  record.events.forEach(checkEvent);
  for (const { traceId, spanId, traceState } of record.links) {
    expect([traceId.length, spanId.length]).toEqual([32, 16]);
    expect(['string', 'undefined']).toContain(typeof traceState);
  }
};

const steps = fc.array(fc.record({ at: fc.nat(999), seed: fc.nat() }), { maxLength: 400, size: 'max' });

test('random programs', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (program) => {
      const records = await play(program);
      records.forEach(check);
      expect(new Set(records.map((one) => one.traceId + one.spanId)).size).toBe(records.length);
    }),
    { numRuns: samples(15, 50, 1000) },
  );
});
