// A label runs what it is given, once, with what it was given, and gives back or throws what that gives or throws.
import { expect, test } from 'vitest';
import { DynamicLabel, stats } from '../src/index.js';
import { MAX_DEPTH, MAX_KEYS, recordOf } from '../src/scope.js';
import { NO_SCOPE, register } from '../src/shared-state.js';

const now = (): object => ({ ...recordOf(register.current) });
const query = (value: string): DynamicLabel => new DynamicLabel('query', value);

test('apply gives what the function gives', () => {
  expect(query('q1').apply(() => 42)).toBe(42);
});

test('apply throws what the function throws, and the label is over', () => {
  const error = new Error('mine');
  expect(() =>
    query('q1').apply(() => {
      throw error;
    }),
  ).toThrow(error);
  expect(register.current).toBe(NO_SCOPE);
  expect(register.cell[0]).toBe(0);
});

test('labels add up, and the innermost value of a key wins', () => {
  const outer = new DynamicLabel({ query: 'q1', tenant: 'a' });
  const inner = new DynamicLabel({ query: 'q2', node: 7 });
  const seen = outer.apply(() => [now(), inner.apply(now), now()]);
  expect(seen).toEqual([
    { query: 'q1', tenant: 'a' },
    { query: 'q2', tenant: 'a', node: 7 },
    { query: 'q1', tenant: 'a' },
  ]);
});

test('a label inside another and by itself is not mixed up', () => {
  const outer = query('q1');
  const inner = new DynamicLabel('node', 'n');
  const seen = [1, 2].flatMap(() => [outer.apply(() => inner.apply(now)), inner.apply(now)]);
  expect(seen).toEqual([{ query: 'q1', node: 'n' }, { node: 'n' }, { query: 'q1', node: 'n' }, { node: 'n' }]);
});

test('two labels that enter each other again and again stay two labels', () => {
  const a = new DynamicLabel('a', 1);
  const b = new DynamicLabel('b', 2);
  const climb = (left: number): number =>
    left === 0 ? register.current.depth : a.apply(() => b.apply(() => climb(left - 1)));
  expect(climb(50)).toBe(2);
});

test('nesting is bounded, and what is left out is counted', () => {
  const before = stats().counters.nestingOverCap;
  const climb = (left: number): object =>
    left === 0 ? now() : new DynamicLabel(`k${left}`, left).apply(() => climb(left - 1));
  expect(Object.keys(climb(MAX_DEPTH + 3))).toHaveLength(MAX_DEPTH);
  expect(stats().counters.nestingOverCap - before).toBe(3);
});

test('run gives a promise, also of what is thrown before the first await', async () => {
  expect(await query('q1').run(async () => 1)).toBe(1);
  const thrown = query('q1').run(() => {
    throw new Error('early');
  });
  await expect(thrown).rejects.toThrow('early');
});

test('bind keeps this, arguments and the labels around it', () => {
  const outer = query('q1');
  const seen = function (this: unknown, ...args: number[]): unknown {
    return [this, args, now()];
  };
  const bound = outer.apply(() => new DynamicLabel('node', 'n').bind(seen));
  const self = {};
  expect(bound.call(self, 1, 2)).toEqual([self, [1, 2], { query: 'q1', node: 'n' }]);
  expect(query('other').apply(() => bound.call(self))).toEqual([self, [], { query: 'q1', node: 'n' }]);
});

test('a coroutine runs every stretch in its label and hands on values and errors', async () => {
  const seen: object[] = [];
  const sum = query('q1').coroutine(function* (first: number) {
    seen.push(now());
    const second = (yield Promise.resolve(2)) as number;
    seen.push(now());
    try {
      yield Promise.reject(new Error('inner'));
    } catch (error) {
      seen.push(now());
      return [first + second, (error as Error).message];
    }
    return [];
  });
  expect(await sum(1)).toEqual([3, 'inner']);
  expect(seen).toEqual([{ query: 'q1' }, { query: 'q1' }, { query: 'q1' }]);
  const fails = query('q1').coroutine(function* () {
    yield 1;
    throw new Error('thrown');
  });
  await expect(fails()).rejects.toThrow('thrown');
});

test('a bound function and a coroutine look like the function they call', () => {
  const handler = (error: unknown, request: unknown, response: unknown, next: unknown): unknown[] => [
    error,
    request,
    response,
    next,
  ];
  const bound = query('q1').bind(handler);
  expect([bound.name, bound.length]).toEqual(['handler', 4]);
  const scan = function* (a: number, b: number): Generator<unknown, number> {
    return (yield a + b) as number;
  };
  const steps = query('q1').coroutine(scan);
  expect([steps.name, steps.length]).toEqual(['scan', 2]);
});

test('a coroutine has the labels around its call, and keeps this', async () => {
  const self = {
    steps: query('q1').coroutine(function* (this: unknown) {
      yield undefined;
      return [this, now()];
    }),
  };
  const seen = await new DynamicLabel('tenant', 'a').run(() => self.steps());
  expect(seen).toEqual([self, { tenant: 'a', query: 'q1' }]);
});

test('fork adds keys', () => {
  expect(query('q1').fork({ node: 'scan' }).apply(now)).toEqual({ query: 'q1', node: 'scan' });
});

test('after its disposal a label runs functions without itself, and that is counted', () => {
  const before = stats().counters.staleLabels;
  const label = query('q1');
  const bound = label.bind(now);
  label[Symbol.dispose]();
  label[Symbol.dispose]();
  const outer = new DynamicLabel('tenant', 'a');
  expect(outer.apply(() => label.apply(now))).toEqual({ tenant: 'a' });
  expect(bound()).toEqual({});
  expect(stats().counters.staleLabels - before).toBe(2);
});

test('a label disposed of in its own call runs to the end of it', () => {
  const label = query('q1');
  const seen = label.apply(() => {
    label[Symbol.dispose]();
    return now();
  });
  expect(seen).toEqual({ query: 'q1' });
  expect(register.current).toBe(NO_SCOPE);
});

test('hostile text is bounded and stays text', () => {
  const before = stats().counters;
  const quotes = `"'\n\r\0\u2028</script>\ud800`;
  const labels = { [quotes]: quotes, long: 'x'.repeat(1 << 20), ['k'.repeat(1 << 20)]: 1, __proto__: 'p' };
  Object.defineProperty(labels, '__proto__', { value: 'p', enumerable: true });
  const record = new DynamicLabel(labels).apply(() => recordOf(register.current));
  const clean = quotes.replace('\ud800', '\ufffd');
  expect(record[clean]).toBe(clean);
  expect((record.long as string).length).toBe(1024);
  expect(Object.keys(record).map((key) => key.length)).toEqual([clean.length, 4, 128, 9]);
  expect(Object.entries(record).at(-1)).toEqual(['__proto__', 'p']);
  expect(stats().counters.labelTextCut - before.labelTextCut).toBe(2);
});

test('a text that was cut keeps none of the rest alive', () => {
  const heap = (): number => {
    globalThis.gc?.();
    return process.memoryUsage().heapUsed;
  };
  const before = heap();
  const labels = Array.from({ length: 64 }, (_, i) => query(`${i} ${Buffer.alloc(1 << 20, 'x').toString()}`));
  expect(heap() - before).toBeLessThan(16 << 20);
  expect(labels).toHaveLength(64);
});

test('anything else as a value becomes text, and surplus keys are counted', () => {
  const odd = {
    toString: () => {
      throw new Error('no');
    },
  };
  const record = (value: unknown): object =>
    new DynamicLabel('k', value as string).apply(() => ({ ...recordOf(register.current) }));
  expect([odd, undefined, Number.NaN, 7n, Symbol('s')].map(record)).toEqual([
    { k: 'object' },
    { k: 'undefined' },
    { k: 'NaN' },
    { k: '7' },
    { k: 'Symbol(s)' },
  ]);
  const before = stats().counters.labelKeysOverCap;
  const many = Object.fromEntries(Array.from({ length: MAX_KEYS + 5 }, (_, i) => [`k${i}`, i]));
  expect(Object.keys(new DynamicLabel(many).apply(now))).toHaveLength(MAX_KEYS);
  expect(stats().counters.labelKeysOverCap - before).toBe(5);
});
