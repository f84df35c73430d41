// span.run makes a span the local parent of everything inside, across awaits and callbacks, and gives what the function
// gives: value, throw, promise, thenable.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { LocalCollector, LocalSpan, Span, SpanContext, trace } from '../../src/index.js';
import { counted, recorder } from '../support/recorder.js';

test('work has no `this`, as in a plain call, wherever it runs', async () => {
  const seen: unknown[] = [];
  const work = function (this: unknown): void {
    seen.push(this);
  };
  const { root } = recorder();
  for (const span of [root('root'), Span.noop(), root('unsampled', SpanContext.random({ sampled: false }))]) {
    span.run(work);
    // Inside itself there is nothing to enter.
    span.run(() => span.run(work));
    span.run(() => trace('inner', work));
    await span.run(async () => trace('inner', async () => work()));
    LocalCollector.run(work);
    span.runToEnd(work);
  }
  expect(seen).toEqual(Array.from({ length: 18 }, () => undefined));
  const self = {};
  root('bound').bind(work).call(self);
  expect(seen.at(-1)).toBe(self);
});

test('the context follows awaits, timers, microtasks and nested runs', async () => {
  const { root, tree } = recorder();
  const [one, two] = [root('one'), root('two')];
  const work = async (name: string, span: Span): Promise<void> => {
    expect(Span.current()).toBe(span);
    LocalSpan.start(`${name} 1`).end();
    await sleep(1);
    expect(Span.current()).toBe(span);
    LocalSpan.start(`${name} 2`).end();
    await Promise.all([null, new Promise((resolve) => setImmediate(resolve))]);
    const inner = Span.startWithLocalParent(`${name} inner`);
    await inner.run(async () => {
      await sleep(1);
      LocalSpan.start(`${name} 3`).end();
    });
    inner.end();
    expect(Span.current()).toBe(span);
    LocalSpan.start(`${name} 4`).end();
  };
  await Promise.all([one.run(() => work('a', one)), two.run(() => work('b', two))]);
  expect(Span.current()).toBeUndefined();
  one.end();
  two.end();
  const part = (n: string) => `\n  ${n} 1\n  ${n} 2\n  ${n} inner\n    ${n} 3\n  ${n} 4`;
  expect(await tree()).toBe(`one${part('a')}\ntwo${part('b')}`);
});

test('what the function gives is what run gives', async () => {
  const { root } = recorder();
  const span = root('root');
  const error = new Error('x');
  const thrower = (): never => {
    throw error;
  };
  expect(span.run(() => 5)).toBe(5);
  expect(() => span.run(thrower)).toThrow(error);
  expect(await span.run(async () => 6)).toBe(6);
  await expect(span.run(async () => thrower())).rejects.toBe(error);
  expect(Span.current()).toBeUndefined();
});

test('only a plain promise is waited for: thenables and subclasses come back untouched', async () => {
  const { root, tree } = recorder();
  const span = root('root');
  let isStarted = false;
  const lazy = {
    // biome-ignore lint/suspicious/noThenProperty: a thenable is the point.
    then(resolve: (value: number) => void) {
      isStarted = true;
      LocalSpan.start('in then').end();
      resolve(1);
    },
  };
  class Own extends Promise<number> {}
  const own = Own.resolve(2);
  expect(span.run(() => lazy)).toBe(lazy);
  expect(span.run(() => own)).toBe(own);
  expect(isStarted).toBe(false);
  await span.run(async () => expect(await lazy).toBe(1));
  span.end();
  expect(await tree()).toBe('root\n  in then');
});

test('many tasks of one span end in any order', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const delays = [5, 1, 4, 2, 3, 0];
  await Promise.all(
    delays.map((ms) =>
      span.run(async () => {
        LocalSpan.start(`before ${ms}`).end();
        await sleep(ms);
        LocalSpan.start(`after ${ms}`).end();
      }),
    ),
  );
  span.end();
  await collector.flush();
  expect(memory.spans.map((one) => one.name).sort()).toEqual(
    ['root', ...delays.flatMap((ms) => [`before ${ms}`, `after ${ms}`])].sort(),
  );
});

test('a span that ends while its tasks run hands over what they have; the rest follows as late', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  let resume = (): void => {};
  const gate = new Promise<void>((resolve) => {
    resume = resolve;
  });
  const task = span.run(async () => {
    LocalSpan.start('before').end();
    await gate;
    LocalSpan.start('after').end();
  });
  const changes = await counted(async () => {
    span.end();
    await collector.flush();
    expect(memory.tree()).toBe('root\n  before');
    resume();
    await task;
    await collector.flush();
  });
  expect(memory.tree()).toBe('root\n  before\n  after');
  expect(changes).toEqual({ spansLate: 1 });
});

test('run after the end still records, late', async () => {
  const { root, tree } = recorder();
  const span = root('root');
  span.end();
  span.run(() => LocalSpan.start('late').end());
  expect(await tree()).toBe('root\n  late');
});

test('10,000 tasks of one span at one time', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const task = async (): Promise<void> => {
    await null;
    LocalSpan.start('a').end();
  };
  await Promise.all(Array.from({ length: 10_000 }, () => span.run(task)));
  span.end();
  await collector.flush();
  expect(memory.spans.length).toBe(10_001);
});
