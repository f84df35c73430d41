// A traced generator is one span over its whole life, whoever resumes it; its protocol stays what it was to the letter.
import { describe, expect, test } from 'vitest';
import { LocalSpan, Span, traced } from '../../src/index.js';
import { recorder } from '../support/recorder.js';

const failing = traced('failing', function* () {
  yield 1;
  throw new RangeError('r');
});

test('a span from the call to done, with what it does as children', async () => {
  const { root, memory, collector } = recorder();
  const [span, other] = [root('root'), root('other')];
  const count = traced({ name: 'count', properties: (n: number) => ({ n }) }, function* countTo(n: number) {
    for (let i = 0; i < n; i++) {
      LocalSpan.start(`step ${i}`).end();
      yield i;
    }
    return 'done';
  });
  expect([count.name, count.length]).toEqual(['countTo', 1]);
  const generator = span.run(() => count(2));
  expect(generator.next()).toEqual({ value: 0, done: false });
  other.run(() => {
    expect(generator.next()).toEqual({ value: 1, done: false });
    expect(Span.current()).toBe(other);
    expect(generator.next()).toEqual({ value: 'done', done: true });
  });
  expect(generator.next()).toEqual({ value: undefined, done: true });
  span.end();
  other.end();
  await collector.flush();
  expect(memory.tree()).toBe('root\n  count\n    step 0\n    step 1\nother');
  expect(memory.find('count')?.properties).toEqual({ n: 2 });
});

test('enterOnResume: also one local span for each resumption', async () => {
  const { root, tree } = recorder();
  const span = root('root');
  const walk = traced({ name: 'walk', enterOnResume: true }, function* () {
    LocalSpan.start('a').end();
    yield 1;
    LocalSpan.start('b').end();
  });
  const generator = span.run(() => walk());
  for (let i = 0; i < 4; i++) generator.next();
  span.end();
  expect(await tree()).toBe('root\n  walk\n    walk\n      a\n    walk\n      b');
});

describe('the protocol', () => {
  const echo = function* (): Generator<unknown, unknown, unknown> {
    let got: unknown = 'start';
    try {
      while (true) {
        try {
          got = yield got;
        } catch (error) {
          got = `caught ${error}`;
        }
      }
    } finally {
      yield 'cleanup';
    }
  };
  const play = (make: () => Generator<unknown, unknown, unknown>): unknown[] => {
    const generator = make();
    return [
      generator.next('ignored'),
      generator.next(5),
      generator.throw('x'),
      generator.return(7),
      generator.next(),
      generator.next(),
      generator.return(8),
      generator[Symbol.iterator]() === generator,
      String(generator),
    ];
  };
  test('next, throw, return as with the bare generator', async () => {
    const { root, tree } = recorder();
    const span = root('root');
    expect(span.run(() => play(traced('echo', echo)))).toEqual(play(echo));
    span.end();
    expect(await tree()).toBe('root\n  echo');
  });
});

test('left early, and failed', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  span.run(() => {
    for (const _ of traced('left', function* () {
      yield* [1, 2];
    })())
      break;
    expect(() => [...failing()]).toThrow('r');
    const withDefault = traced('default', function* (_x: number = boom()) {
      yield 1;
    });
    expect(() => withDefault()).toThrow('default value');
  });
  span.end();
  await collector.flush();
  expect(memory.tree()).toBe('root\n  left\n  failing\n  default');
  expect(memory.find('failing')?.status).toEqual({ code: 'error', message: 'r' });
  expect(memory.find('default')?.status).toEqual({ code: 'error', message: 'default value' });
  expect(memory.find('left')?.status.code).toBe('unset');
});

const boom = (): never => {
  throw new Error('default value');
};

test('async generators: the span is the parent across awaits; calls made at once are answered in order', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const rows = traced({ name: 'rows', enterOnResume: true }, async function* (n: number) {
    for (let i = 0; i < n; i++) {
      await null;
      LocalSpan.start(`row ${i}`).end();
      yield i;
    }
  });
  await span.run(async () => {
    const seen: number[] = [];
    for await (const row of rows(2)) seen.push(row);
    expect(seen).toEqual([0, 1]);
    const generator = rows(2);
    expect(await Promise.all([generator.next(), generator.next(), generator.next()])).toEqual([
      { value: 0, done: false },
      { value: 1, done: false },
      { value: undefined, done: true },
    ]);
    for await (const _ of rows(5)) break;
    await expect(rows(1).throw(new RangeError('thrown in'))).rejects.toThrow('thrown in');
    expect(await rows(1).return(undefined)).toEqual({ value: undefined, done: true });
    expect(Span.current()).toBe(span);
  });
  span.end();
  await collector.flush();
  const lives = memory.spans.filter((one) => one.name === 'rows' && one.parentSpanId === memory.find('root')?.spanId);
  expect(lives.map((one) => one.status.code).sort()).toEqual(['error', 'unset', 'unset', 'unset', 'unset']);
  const ids = new Set(lives.map((one) => one.spanId));
  const parents = memory.spans.filter((one) => one.name.startsWith('row ')).map((one) => ids.has(one.parentSpanId));
  expect(parents).toEqual([true, true, true, true, true]);
});

test('without a recording parent the generator is the bare one', () => {
  const bare = function* () {
    yield 1;
  };
  expect(Object.getPrototypeOf(traced(bare)())).toBe(bare.prototype);
});

test('what a traced generator function gives is the same to a program, recording or not', async () => {
  const plain = function* () {
    yield 1;
  };
  const later = async function* () {
    yield 1;
  };
  Object.assign(plain.prototype, { mine: 5 });
  Object.assign(later.prototype, { mine: 5 });
  const { root } = recorder();
  for (const span of [root('root'), Span.noop()]) {
    for (const fn of [plain, later as unknown as typeof plain]) {
      const wrapped = traced(fn);
      const given = span.run(wrapped);
      expect(given instanceof wrapped && given instanceof fn).toBe(true);
      expect((given as { mine?: number }).mine).toBe(5);
      expect(String(given)).toBe(String(fn()));
      expect(Object.getPrototypeOf(given)).toBe(fn.prototype);
      for await (const one of given) expect(one).toBe(1);
    }
  }
});
