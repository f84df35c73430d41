// traced() as wrapper and trace() inline: a synchronous function becomes a local span, an async one a span; result,
// `this`, throw, name and length stay what they were.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { LocalSpan, Span, type SpanRecord, trace, traced } from '../../src/index.js';
import { recorder } from '../support/recorder.js';

test('synchronous and async functions', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const inner = traced(function innerStep(x: number) {
    return x * 2;
  });
  const outer = traced({ name: 'outer', kind: 'client', properties: (x: number) => ({ x }) }, async (x: number) => {
    const a = inner(x);
    await null;
    return a + inner(x);
  });
  expect(await span.run(() => outer(3))).toBe(12);
  span.end();
  await collector.flush();
  expect(memory.tree()).toBe('root\n  outer\n    innerStep\n    innerStep');
  expect(memory.find('outer')).toMatchObject({ kind: 'client', properties: { x: 3 }, status: { code: 'unset' } });
});

test('a plain call has no `this`, and a receiver that is not an object stays what it is', async () => {
  const bare = [
    traced('sync', function (this: unknown) {
      return this;
    }),
    traced('async', async function (this: unknown) {
      return this;
    }),
    traced('generator', function* (this: unknown) {
      yield this;
    }),
    traced('async generator', async function* (this: unknown) {
      yield this;
    }),
  ];
  const given = async (receiver: unknown): Promise<unknown[]> => {
    const all: unknown[] = [];
    for (const fn of bare) {
      const result: unknown = receiver === undefined ? fn() : fn.call(receiver);
      if (typeof (result as Generator | undefined)?.next !== 'function') all.push(await result);
      else for await (const one of result as AsyncGenerator) all.push(one);
    }
    return all;
  };
  const span = recorder().root('root');
  for (const call of [given, (receiver: unknown) => span.run(() => given(receiver))]) {
    expect(await call(undefined)).toEqual([undefined, undefined, undefined, undefined]);
    expect(await call('text')).toEqual(['text', 'text', 'text', 'text']);
    expect(await call(7)).toEqual([7, 7, 7, 7]);
  }
  span.end();
});

test('what a function has of its own its wrapper has too', async () => {
  expect(await promisify(traced(execFile))(process.execPath, ['-p', '1 + 1'])).toEqual({ stdout: '2\n', stderr: '' });
  const mark = Symbol('mark');
  const kinds = [() => {}, async () => {}, function* () {}, async function* () {}];
  for (const fn of kinds) {
    const own = Object.assign(fn, { displayName: 'shown', [mark]: 1 });
    Object.defineProperty(own, 'hidden', { get: () => 7, configurable: true });
    const wrapped = traced('work', own);
    expect(Reflect.ownKeys(wrapped)).toEqual(expect.arrayContaining(['displayName', 'hidden', mark]));
    expect([wrapped.displayName, wrapped[mark]]).toEqual(['shown', 1]);
    expect(Object.getOwnPropertyDescriptor(wrapped, 'hidden')).toMatchObject({ enumerable: false, set: undefined });
  }
});

test('`new` of a wrapper is `new` of its function', () => {
  const seen: unknown[] = [];
  const Base = function (this: { x?: number }, x: number): void {
    seen.push(new.target);
    this.x = x;
  } as unknown as { new (x: number): { x: number } };
  const Wrapped = traced('Base', Base as never) as typeof Base;
  const asAsync = traced({ name: 'Base', async: true }, Base as never) as typeof Base;
  class Derived extends Wrapped {}
  const make = (): object[] => [new Wrapped(1), new Derived(2), new asAsync(3)];
  for (const made of [make(), recorder().root('root').run(make)]) {
    expect(made.map((one) => (one as { x: number }).x)).toEqual([1, 2, 3]);
    expect(made.map((one) => one instanceof Base)).toEqual([true, true, true]);
    expect(made[1]).toBeInstanceOf(Derived);
  }
  expect(seen).toEqual([Base, Derived, Base, Base, Derived, Base]);
  for (const fn of [() => {}, async () => {}, function* () {}]) {
    expect(() => new (traced('none', fn) as unknown as new () => object)()).toThrow(TypeError);
  }
});

test('name, length, this, default parameters and extra arguments', () => {
  const bare = function bareFunction(this: unknown, _a: number, _b = 2, ..._rest: number[]): unknown[] {
    // biome-ignore lint/complexity/noArguments: all of them.
    return [this, ...arguments];
  };
  for (const wrapped of [traced(bare), traced('other', bare), traced({}, bare)]) {
    expect([wrapped.name, wrapped.length]).toEqual(['bareFunction', 1]);
    const self = {};
    const all = recorder()
      .root('root')
      .run(() => wrapped.call(self, 1, 2, 3, 4));
    expect(all).toEqual([self, 1, 2, 3, 4]);
    expect(all[0]).toBe(self);
  }
});

test('throws and rejections pass unchanged and are recorded', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const error = new RangeError('r');
  const thrower = (): never => {
    throw error;
  };
  await span.run(async () => {
    expect(() => traced('sync', thrower)()).toThrow(error);
    await expect(traced('async', async () => thrower())()).rejects.toBe(error);
    expect(() => trace('inline', thrower)).toThrow(error);
    await expect(trace('inline async', async () => thrower())).rejects.toBe(error);
    await expect(trace('undefined', async () => Promise.reject(undefined))).rejects.toBe(undefined);
    LocalSpan.start('after').end();
  });
  span.end();
  await collector.flush();
  expect(memory.find('after')?.parentSpanId).toBe(memory.find('root')?.spanId);
  for (const name of ['async', 'inline async']) {
    expect(memory.find(name)?.status, name).toEqual({ code: 'error', message: 'r' });
    expect(memory.find(name)?.events[0].name).toBe('exception');
  }
  for (const name of ['sync', 'inline']) {
    expect(memory.find(name)?.properties, name).toEqual({ error: true });
    expect(memory.find(name)?.events[0].properties).toMatchObject({ 'exception.message': 'r' });
  }
  expect(memory.find('undefined')?.status.code).toBe('error');
});

test('a plain function that gives a promise: local span, or a span with `async`', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const later = (): Promise<number> => new Promise((resolve) => setTimeout(resolve, 2, 5));
  await span.run(async () => {
    const promise = traced('local', later)();
    LocalSpan.start('after the call').end();
    expect(await promise).toBe(5);
    expect(await traced({ name: 'spanning', async: true }, later)()).toBe(5);
    expect(traced({ name: 'not async at all', async: true }, () => 6)()).toBe(6);
  });
  span.end();
  await collector.flush();
  const named = (name: string) => memory.find(name) as SpanRecord;
  expect(named('spanning').durationNs).toBeGreaterThan(1e6);
  expect(named('local').endUnixNs).toBeLessThanOrEqual(named('after the call').startUnixNs);
  expect(memory.find('not async at all')).toBeDefined();
});

test('properties come before the body, only when recording, and a callback that throws costs nothing but itself', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const order: string[] = [];
  const properties = (x: { n: number }) => {
    order.push('properties');
    return { n: x.n };
  };
  const body = (x: { n: number }): number => {
    order.push('body');
    return ++x.n;
  };
  const sync = traced({ name: 'sync', properties }, body);
  const later = traced({ name: 'later', properties }, async (x: { n: number }) => body(x));
  sync({ n: 1 });
  await later({ n: 1 });
  expect(order).toEqual(['body', 'body']);
  order.length = 0;
  const bad = {
    properties: () => {
      throw new Error('p');
    },
  };
  await span.run(async () => {
    sync({ n: 1 });
    await later({ n: 2 });
    expect(traced({ name: 'bad', ...bad }, () => 5)()).toBe(5);
    expect(await traced({ name: 'bad async', ...bad }, async () => 6)()).toBe(6);
  });
  span.end();
  await collector.flush();
  expect(order).toEqual(['properties', 'body', 'properties', 'body']);
  expect(memory.find('sync')?.properties).toEqual({ n: 1 });
  expect(memory.find('later')?.properties).toEqual({ n: 2 });
  expect(memory.find('bad')?.properties).toEqual({});
});

test('trace() inline gives what the function gives, and the context is there inside', async () => {
  const { root, tree } = recorder();
  const span = root('root');
  await span.run(async () => {
    expect(trace('sync', () => LocalSpan.start('a').end())).toBeUndefined();
    const inside = await trace('async', async () => {
      await null;
      LocalSpan.start('b').end();
      return Span.current()?.name;
    });
    expect(inside).toBe('async');
  });
  expect(await trace('no parent', async () => 7)).toBe(7);
  span.end();
  expect(await tree()).toBe('root\n  sync\n    a\n  async\n    b');
});
