// Instruments count exactly, whatever is in their attributes: sets are interned within a bound, and each reader has its own differences.
import { expect, onTestFinished, test, vi } from 'vitest';
import { timers } from '../../src/base/calls/timers.js';
import { AttributeSets, OVERFLOW } from '../../src/metrics/attribute-sets.js';
import { ticks } from '../../src/metrics/exemplars.js';
import { Counter, Gauge, Histogram, UpDownCounter } from '../../src/metrics/instruments.js';
import { Instruments, type Metric, Reader } from '../../src/metrics/reader.js';

const named = (name: string, keys: readonly string[] = []) => ({ name, unit: '1', description: '', keys });

/** `name{attributes} value [buckets]`, a line a point. */
const linesOf = (metrics: readonly Metric[]): string[] =>
  metrics.flatMap(({ instrument, points }) =>
    [...points].map(({ attributes, value, buckets }) => {
      const set = attributes.map((pair) => pair.join('=')).join(',');
      return `${instrument.name}{${set}} ${value}${buckets === undefined ? '' : ` [${[...buckets].join(' ')}]`}`;
    }),
  );

test('a set has one number, by the values of its keys and their types', () => {
  const sets = new AttributeSets(['a', 'b']);
  const values = [
    ['x', 1],
    ['x', '1'],
    ['x', undefined],
    [undefined, 'x'],
    ['x', true],
  ];
  const numbers = values.map((one) => sets.numberOf(one));
  expect(new Set(numbers).size).toBe(values.length);
  expect(values.map((one) => sets.numberOf(one))).toEqual(numbers);
  expect([...values].reverse().map((one) => sets.numberOf([...one]))).toEqual([...numbers].reverse());
  expect(sets.attributesOf(numbers[2])).toEqual([['a', 'x']]);
});

test('beyond the bound everything is in the overflow set, and what was there before stays', () => {
  const requests = new Counter({ ...named('requests', ['user']), maxSets: 3 });
  const instruments = new Instruments();
  instruments.add(requests);
  for (let i = 0; i < 1000; i++) requests.add(1, [`user ${i}`]);
  requests.add(1, ['user 0']);
  expect(linesOf(new Reader(instruments, 'cumulative').read())).toEqual([
    'requests{otel.metric.overflow=true} 998',
    'requests{user=user 0} 2',
    'requests{user=user 1} 1',
  ]);
  expect(requests.sets.overflows).toBe(998);
});

test('a million sets take the place of 2,000', () => {
  const sizes = new Histogram({ ...named('sizes', ['user', 'route']), boundaries: [1] });
  for (let i = 0; i < 1_000_000; i++) sizes.record(1, [i, `/users/${i % 7}`]);
  expect(sizes.sets.size).toBe(2000);
  expect(sizes.cells.length).toBe(2048 * 3);
  expect(sizes.sets.overflows).toBe(1_000_000 - 1999);
  expect(sizes.sets.numberOf([999_999, '/users/0'])).toBe(OVERFLOW);
});

test('a value is in the bucket whose boundary is not below it', () => {
  const sizes = new Histogram({ ...named('sizes'), boundaries: [1, 5, 10] });
  const instruments = new Instruments();
  instruments.add(sizes);
  for (const value of [0, 1, 1.01, 5, 10, 10.5, 1e9]) sizes.record(value);
  for (const value of [Number.NaN, -1, Number.POSITIVE_INFINITY]) sizes.record(value);
  const sum = 0 + 1 + 1.01 + 5 + 10 + 10.5 + 1e9;
  expect(linesOf(new Reader(instruments, 'cumulative').read())).toEqual([`sizes{} ${sum} [2 2 1 2]`]);
  expect(sizes.refused).toBe(3);
});

test('a difference begins where the last delivered one ended; sums that shrink, and gauges, have none', () => {
  const instruments = new Instruments();
  const requests = instruments.add(new Counter(named('requests', ['route'])));
  const active = instruments.add(new UpDownCounter(named('active')));
  const heap = instruments.add(new Gauge(named('heap')));
  const sizes = instruments.add(new Histogram({ ...named('sizes'), boundaries: [1] }));
  instruments.onRead(() => heap.set(7));
  instruments.onRead(() => {
    throw new Error('an observer that fails');
  });
  const [differences, sums] = [new Reader(instruments, 'delta'), new Reader(instruments, 'cumulative')];
  const [first, second, lasting] = [['requests{route=/a} 2'], ['requests{route=/b} 5'], ['active{} 3', 'heap{} 7']];

  requests.add(2, ['/a']);
  active.set(3);
  sizes.record(1);
  expect(linesOf(differences.read())).toEqual([...first, ...lasting, 'sizes{} 1 [1 0]']);
  // It was not delivered: nothing of it may be missing from the next.
  requests.add(5, ['/b']);
  expect(linesOf(differences.read())).toEqual([...first, ...second, ...lasting, 'sizes{} 1 [1 0]']);
  differences.delivered();
  expect(linesOf(differences.read())).toEqual(lasting);
  sizes.record(4);
  active.set(0);
  expect(linesOf(differences.read())).toEqual(['active{} 0', 'heap{} 7', 'sizes{} 4 [0 1]']);
  expect(linesOf(sums.read())).toEqual([...first, ...second, 'active{} 0', 'heap{} 7', 'sizes{} 5 [1 1]']);
});

test('what is recorded between a reading and its delivery is part of the next difference', () => {
  const instruments = new Instruments();
  const requests = instruments.add(new Counter(named('requests')));
  const reader = new Reader(instruments, 'delta');
  requests.add(1);
  reader.read();
  requests.add(10);
  reader.delivered();
  const [metric] = reader.read();
  expect(linesOf([metric])).toEqual(['requests{} 10']);
  expect(metric.isDelta).toBe(true);
});

test('no difference ends before it begins, also where the clock is put back', () => {
  const clock = vi.spyOn(timers, 'wallMs');
  onTestFinished(() => clock.mockRestore());
  clock.mockReturnValue(10_000);
  const instruments = new Instruments();
  const requests = instruments.add(new Counter(named('requests')));
  const reader = new Reader(instruments, 'delta');
  const spans = [11_000, 3000, 4000].map((ms) => {
    clock.mockReturnValue(ms);
    requests.add(1);
    const [{ startMs }] = reader.read();
    reader.delivered();
    return [startMs, reader.readMs];
  });
  expect(spans).toEqual([
    [10_000, 11_000],
    [3000, 3000],
    [3000, 4000],
  ]);
});

/** A span of the trace `n`, as instruments see it. */
const spanOf = (n: number) => ({
  writeSampledIds(words: Int32Array, at: number): boolean {
    if (n === 0) return false;
    words.set([0, 0, 0, n, 0, -n], at);
    return true;
  },
});

/** `bucket: value of trace`, a line an exemplar of the first set. */
const exemplarsOf = (reader: Reader): string[] =>
  reader.read().flatMap(({ points }) => {
    const [{ buckets, exemplarOf }] = points;
    return [...(buckets ?? [])].flatMap((_, i) => {
      const exemplar = exemplarOf(i);
      return exemplar === undefined ? [] : [`${i}: ${exemplar.value} of ${exemplar.traceId} ${exemplar.spanId}`];
    });
  });

test('a bucket names the last measurement in it that has a sampled trace', () => {
  let ms = 1000;
  const clocks = [vi.spyOn(timers, 'wallMs').mockImplementation(() => ms), vi.spyOn(ticks, 'now')];
  clocks[1].mockImplementation(() => ms * ticks.perMs());
  onTestFinished(() => clocks.forEach((clock) => void clock.mockRestore()));
  const instruments = new Instruments();
  const sizes = instruments.add(new Histogram({ ...named('sizes', ['user']), boundaries: [1, 5], hasExemplars: true }));
  const none = instruments.add(new Histogram({ ...named('none'), boundaries: [1] }));
  none.record(1, [], spanOf(9));
  const [differences, sums] = [new Reader(instruments, 'delta'), new Reader(instruments, 'cumulative')];
  sizes.record(0.5, ['a'], spanOf(1));
  sizes.record(0.7, ['a'], spanOf(2));
  sizes.record(0.9, ['a'], spanOf(0));
  sizes.record(0.9, ['a']);
  sizes.record(7, ['a'], spanOf(3));
  // More sets than there was room for at first.
  for (let i = 0; i < 100; i++) sizes.record(2, [i], spanOf(4));
  const id = (word: number): string => `${'0'.repeat(24)}0000000${word} 00000000fffffff${(16 - word).toString(16)}`;
  const both = [`0: 0.7 of ${id(2)}`, `2: 7 of ${id(3)}`];
  expect(exemplarsOf(sums)).toEqual(both);
  expect(exemplarsOf(differences)).toEqual(both);
  ms = 2000;
  differences.read();
  differences.delivered();
  ms = 3000;
  sizes.record(3, ['a'], spanOf(5));
  expect(exemplarsOf(differences)).toEqual([`1: 3 of ${id(5)}`]);
  expect(exemplarsOf(sums)).toEqual([both[0], `1: 3 of ${id(5)}`, both[1]]);
});

test('of long values the beginning is kept, and counted by', () => {
  const instruments = new Instruments();
  const requests = instruments.add(new Counter(named('requests', ['user', 'route'])));
  for (const end of ['a', 'b']) requests.add(1, ['x'.repeat(100_000) + end, '/']);
  requests.add(1, ['x'.repeat(1024), '/']);
  requests.add(5, ['x', '/']);
  expect(linesOf(new Reader(instruments, 'cumulative').read())).toEqual([
    `requests{user=${'x'.repeat(1024)},route=/} 3`,
    'requests{user=x,route=/} 5',
  ]);
});
