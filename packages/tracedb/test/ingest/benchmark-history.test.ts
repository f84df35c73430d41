// Histories of benchmark runs, as github-action-benchmark's data.js and as JSON lines: both give the same series, in the order the
// runs were measured, without running a script.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { declaredDirection, directionOf, unitOfParams } from '../../src/detect/direction.js';
import { readIngestFile, validateIngestFile } from '../../src/ingest/read-file.js';
import { commitsIn, commitsOf, fileWith, pointLines } from './support/ingest-files.js';

const HISTORY = fileURLToPath(new URL('../../../../examples/data/otel-js-benchmarks.jsonl.gz', import.meta.url));

const bench = (name: string, value: unknown, unit = 'ops/sec') => ({
  name,
  value,
  range: '±0.17%',
  unit,
  extra: '97 samples',
});

const entry = (id: string, date: unknown, benches: unknown[], more: object = {}) => ({
  commit: {
    author: { email: 'a@example.com', name: 'A', username: 'a' },
    id,
    message: 'Merge',
    timestamp: '2023-10-01T22:00:15+02:00',
    url: `https://example.com/commit/${id}`,
  },
  date,
  tool: 'benchmarkjs',
  benches,
  ...more,
});

const script = (entries: object, end = ''): string =>
  `window.BENCHMARK_DATA = ${JSON.stringify({ lastUpdate: 1, repoUrl: 'https://example.com', entries }, null, 2)}${end}`;

const line = (more: object = {}): string =>
  JSON.stringify({ group: 'G', commit: 'c1', date: 1000, tool: 't', benches: [bench('a', 1)], ...more });

describe('data.js of github-action-benchmark', () => {
  it('gives a commit for every run, with suite, test, unit and tool as params', async () => {
    const run = entry('c1', 1696190499861, [bench('create spans (10 attributes)', 774752)]);
    const [commit] = await commitsOf(script({ Benchmark: [run] }));
    expect(commit).toEqual({
      commit: 'c1',
      timestampMs: Date.parse('2023-10-01T20:00:15Z'),
      measuredMs: 1696190499861,
      source: 'results.json#Benchmark@c1/1696190499861',
      links: { commit: 'https://example.com/commit/c1' },
      points: [
        {
          params: { suite: 'Benchmark', test: 'create_spans__10_attributes_', unit: 'ops_sec', tool: 'benchmarkjs' },
          value: 774752,
          original: { suite: 'Benchmark', test: 'create spans (10 attributes)', unit: 'ops/sec', tool: 'benchmarkjs' },
        },
      ],
    });
  });

  /** Tool and unit of a run, and what the series says of the direction, by param or by its unit as it is kept. */
  it.each([
    // The tool says it, whatever the unit looks like.
    ['customBiggerIsBetter', 'MB', 'up', 'up'],
    ['customBiggerIsBetter', '%', 'up', 'up'],
    ['customBiggerIsBetter', 's', 'up', 'up'],
    ['customSmallerIsBetter', 'median ms', 'down', 'down'],
    ['customSmallerIsBetter', 'ops/s', 'down', 'down'],
    // The unit says it, and no param is needed.
    ['customSmallerIsBetter', 'ms', undefined, 'down'],
    ['benchmarkjs', 'ops/sec', undefined, 'up'],
    ['go', 'MB/s', undefined, 'up'],
    // A unit that nobody knows, of a tool that measures one thing.
    ['pytest', 'rounds per fortnight', 'up', 'up'],
    ['cargo', 'cycles', 'down', 'down'],
    ['go', 'widgets', undefined, 'unknown'],
    // What cleaning would make one unit is told apart before.
    ['t', 'µs', 'down', 'down'],
    ['t', '%', 'down', 'down'],
    ['t', '/s', undefined, 'unknown'],
    ['t', '#', undefined, 'unknown'],
    ['t', '°', undefined, 'unknown'],
  ])('of %s in %j: the param is %s, better is %s', async (tool, unit, param, direction) => {
    const [commit] = await commitsOf(script({ S: [entry('c1', 1, [bench('a', 1, unit)], { tool })] }));
    const { params } = commit.points[0];
    expect(params.improvement_direction).toBe(param);
    expect(directionOf(unitOfParams(params), {}, declaredDirection(params))).toBe(direction);
    const [ofLine] = await commitsOf(line({ group: 'S', tool, benches: [bench('a', 1, unit)] }));
    expect(ofLine.points[0].params).toEqual(params);
  });

  it('hands out the runs of all suites in the order they were measured', async () => {
    const suites = {
      A: [entry('c1', 10, [bench('a', 1)]), entry('c2', 30, [bench('a', 2)])],
      B: [entry('c1', 20, [bench('b', 3)]), entry('c2', 30, [bench('b', 4)])],
    };
    const commits = await commitsOf(script(suites));
    expect(commits.map(({ source }) => source)).toEqual([
      'results.json#A@c1/10',
      'results.json#B@c1/20',
      'results.json#A@c2/30',
      'results.json#B@c2/30',
    ]);
  });

  it('takes the unit only, where figures follow it', async () => {
    const benches = [bench('BenchmarkGet', 13274, 'ns/op\t   2.41 MB/s\t     634 B/op'), bench('none', 1, '')];
    const [commit] = await commitsOf(script({ Go: [entry('c1', 1, benches)] }));
    expect(pointLines(commit)).toEqual([
      'suite=Go,test=BenchmarkGet,tool=benchmarkjs,unit=ns_op = 13274',
      'suite=Go,test=none,tool=benchmarkjs = 1',
    ]);
  });

  it.each<[string, (text: string) => string]>([
    ['a semicolon at the end', (text) => `${text};\n`],
    ['no assignment', (text) => text.slice(text.indexOf('{'))],
    ['other spacing', (text) => text.replace('window.BENCHMARK_DATA = ', '\n window . BENCHMARK_DATA=\r\n')],
    ['CRLF', (text) => text.replaceAll('\n', '\r\n')],
    ['a byte order mark', (text) => `\ufeff${text}`],
  ])('is read with %s', async (_what, change) => {
    const text = script({ S: [entry('c1', 1, [bench('a', 1)])] });
    expect(await commitsOf(change(text))).toEqual(await commitsOf(text));
  });

  it('holds no run at first', async () => {
    expect(await commitsOf(script({}))).toEqual([]);
  });

  it.each<[string, string, string]>([
    ['code', 'window.BENCHMARK_DATA = (() => ({ entries: {} }))()', 'is not JSON'],
    ['code after the data', script({}, '; alert(1)'), 'is not JSON'],
    ['NaN, which JSON has as null', script({ S: [entry('c', 1, [bench('a', null)])] }), '/entries/S/0/benches/0/value'],
    ['a date that is a text', script({ S: [entry('c', '2023', [])] }), '/entries/S/0/date must be integer, got "2023"'],
    ['a date before 1970', script({ S: [entry('c', -1, [])] }), '/entries/S/0/date must be >= 0, got -1'],
    [
      'no commit id',
      script({ S: [entry('', 1, [])] }),
      '/entries/S/0/commit/id must NOT have fewer than 1 characters, got ""',
    ],
    ['a suite that is not a list', script({ 'a/b~c': {} }), '/entries/a~1b~0c must be array, got an object'],
    ...[
      'yesterday',
      '2023-10-01',
      '1',
      '1969-12-31T23:00:00Z',
      '9999-12-31T23:59:59-02:00',
      '2023-13-01T00:00:00Z',
    ].map((timestamp): [string, string, string] => [
      `the time ${timestamp}`,
      script({ S: [{ ...entry('c', 1, []), commit: { id: 'c', timestamp } }] }),
      `/entries/S/0/commit/timestamp must be a time such as 2023-10-01T22:00:15+02:00, got "${timestamp}"`,
    ]),
    [
      'two names that cleaning makes one',
      script({ S: [entry('c', 1, [bench('f(1)', 1), bench('f[1]', 2)])] }),
      '/entries/S/0/benches/1 has "test" "f[1]", which cleaning makes the same as "f(1)" before',
    ],
  ])('is refused with %s', async (_what, content, reason) => {
    await expect(commitsOf(content)).rejects.toThrow(`results.json: ${reason}`);
  });

  it('is told to name its commits itself', async () => {
    await expect(commitsOf(script({}), { commit: 'c1' })).rejects.toThrow('names its commits itself; do not give one');
  });
});

describe('JSON lines', () => {
  it('give the series that data.js gives', async () => {
    const [fromLine] = await commitsOf(line({ timestamp: '2023-10-01 22:00:15 +0200' }));
    const run = entry('c1', 1000, [bench('a', 1)], { tool: 't' });
    const [{ links, ...fromScript }] = await commitsOf(script({ G: [run] }));
    expect(fromLine).toEqual(fromScript);
    expect(links).toBeDefined();
  });

  it('may be blank, end in CRLF, begin with a byte order mark, and lack the last line end', async () => {
    const commits = await commitsOf(`\ufeff\n${line()}\r\n\r\n${line({ commit: 'c2' })}`);
    expect(commits.map(({ commit }) => commit)).toEqual(['c1', 'c2']);
  });

  it('name the line in errors, and hand out nothing before it', async () => {
    const path = fileWith(`${line()}\n\n${line({ benches: [bench('a', 'x')] })}\n${line()}`);
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { commit } of readIngestFile(path, { name: 'results.json' })) seen.push(commit);
    })();
    await expect(reading).rejects.toThrow('results.json:3: /benches/0/value must be number, got "x"');
    expect(seen).toEqual([]);
  });

  it('are read from the real history, compressed or not', async () => {
    expect(await validateIngestFile(HISTORY)).toEqual({ format: 'json-lines', commits: 1322, points: 9477 });
    const packed = await commitsIn(HISTORY);
    expect(packed.reduce((sum, { points }) => sum + points.length, 0)).toBe(9477);
    const series = new Set(packed.flatMap(({ points }) => points.map(({ params }) => JSON.stringify(params))));
    expect(series.size).toBe(25);
    expect(await commitsIn(fileWith(gunzipSync(readFileSync(HISTORY))))).toEqual(packed);
  });
});
