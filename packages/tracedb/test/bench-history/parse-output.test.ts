// The figures in what benchmarks print: between other lines, of several tools, and of several runs, without losing one.
import { describe, expect, test } from 'vitest';
import { figuresOfRuns, unitFactor } from '../../src/bench-history/figure.js';
import { findBenchOutput, parseBenchOutput } from '../../src/bench-history/parse-output.js';

const list = (...names: string[]): { name: string; value: number; unit: string }[] =>
  names.map((name, i) => ({ name, value: i + 1, unit: 'ms' }));
const json = (...names: string[]): string => JSON.stringify(list(...names));

const autocannon = (title: string): string =>
  JSON.stringify({
    title,
    requests: { average: 1000 },
    latency: { p50: 1, p99: 2 },
    errors: 0,
    timeouts: 0,
    non2xx: 0,
  });

const namesIn = (output: string): string[] => [
  ...new Set(findBenchOutput(output)?.figures.map(({ bench }) => bench) ?? []),
];

const LOG = '{"level":30,"msg":"server [closed","list":[1]}';

describe('the documents of an output', () => {
  test.each<[string, string, string[]]>([
    ['two lists', `${json('a')}\n${json('b', 'c')}\n`, ['a', 'b', 'c']],
    ['two of autocannon', `${autocannon('one')}\n${autocannon('two')}\n`, ['one', 'two']],
    ['of two tools', `${autocannon('one')}\nbye\n${json('a')}`, ['one', 'a']],
    ['a log behind', `${json('a')}\n${LOG}\n`, ['a']],
    ['a log before', `${LOG}\n${LOG}\n${json('a')}\n`, ['a']],
    ['a log before several lines', `${LOG}\n${JSON.stringify(list('a'), null, 2)}\n${LOG}`, ['a']],
    [
      'rows that are not indented',
      `> x@1 bench\n> node b.js\n\n[\n${json('a', 'b').slice(1, -1).replace('},', '},\n')}\n]\n`,
      ['a', 'b'],
    ],
    ['a byte order mark', `\ufeff${json('a')}\n`, ['a']],
    ['a byte order mark before a log', `\ufeff${LOG}\r\n${json('a')}\r\n`, ['a']],
    ['brackets in words', `[12:00 started\n[INFO] {"a"\n${json('a "[{', 'b')}\n] done`, ['a "[{', 'b']],
    ['a backslash before a quote', `x\n${json('a\\\\', 'b"')}`, ['a\\\\', 'b"']],
    ['a log before a table', `${LOG}\n│ (index) │ Task name │ Latency med (ns) │\n│ 0 │ 'a' │ '5' │\n`, ['a']],
  ])('%s', (_, output, names) => {
    expect(namesIn(output)).toEqual(names);
  });

  // Each version has its own names for a median, and all samples where it has not been told otherwise.
  const [samples, sorted] = [Array.from({ length: 100 }, (_, i) => (i + 1) / 1e3), { min: 1e-3, max: 0.1 }];
  const common = { ...sorted, mean: 0.06, hz: 16, period: 0.06, samples, totalTime: 5, runtime: 'node' };
  const times = { ...sorted, mean: 0.06, p50: 0.05, samples };
  test.each<[string, object, number]>([
    ['2.9, which has no median', common, 60_000],
    ['3.1', { ...common, latency: times, throughput: { ...times, mean: 16 } }, 50_000],
    ['5.1', { aborted: false, ...common, latency: times, throughput: { ...times, mean: 16 } }, 50_000],
    ['6', { state: 'completed', latency: { ...times, samples: undefined }, throughput: { mean: 16 } }, 50_000],
  ])('tasks of tinybench %s, as the documentation has them printed', (_, result, value) => {
    const found = findBenchOutput(`> node bench.mjs\n${JSON.stringify([{ name: 'sum', ...result }])}\n`);
    expect(found).toMatchObject({
      tool: 'tinybench',
      figures: [{ bench: 'sum', metric: 'latency', unit: 'ns', value }],
    });
  });

  test('tools of one output are all named', () => {
    expect(parseBenchOutput(`${autocannon('one')}\n${json('a')}`).tool).toBe('autocannon+custom');
  });

  test('two figures of one name are an error wherever they stand', () => {
    expect(() => parseBenchOutput(`${json('a')}\n${json('a')}`)).toThrow('two figures are named "a value"');
  });

  test.each(['', 'nothing', LOG, '[', '{"a"', `${'[\n'.repeat(1000)}`])('nothing in %j', (output) => {
    expect(findBenchOutput(output)).toBeUndefined();
  });
});

describe('the figures of several runs', () => {
  const figure = (bench: string, value: number, unit: string) => ({ bench, metric: 'value', unit, value, samples: [] });

  test('are in the unit of the first, whatever the tool scales to', () => {
    const runs = [[figure('a', 985, 'us')], [figure('a', 1.02, 'ms')], [figure('a', 1e6, 'ns')]];
    expect(figuresOfRuns(runs)).toEqual([{ ...figure('a', 1000, 'us'), samples: [985, 1000, 1020] }]);
  });

  test('are all there, also those that only later runs have', () => {
    const runs = [[figure('a', 1, 'ms')], [figure('a', 3, 'ms'), figure('late', 5, 'ms')]];
    expect(figuresOfRuns(runs).map(({ bench, value, samples }) => [bench, value, samples])).toEqual([
      ['a', 2, [1, 3]],
      ['late', 5, [5]],
    ]);
  });

  test('in units that nobody can convert are an error that names both', () => {
    const runs = [[figure('a', 1, 'ms')], [figure('a', 3, 'ops/s')]];
    expect(() => figuresOfRuns(runs)).toThrow('a value is in ms in one run and in ops/s in another');
    expect(unitFactor('a', 'MB', 'MB')).toBe(1);
  });
});
