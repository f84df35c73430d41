// The Perf JSON format, version 1: each measurement becomes the point its keys say, and whatever is not of the format is refused with
// file, place and reason.
import { describe, expect, it } from 'vitest';
import { commitsOf, pointLines } from './support/ingest-files.js';

const GIT_HASH = 'cd5793038d2cbd1ccd1ad0b2a6c4b5e0a8b2d663';

const perfFile = (results: unknown, more: object = {}): object => ({
  version: 1,
  git_hash: GIT_HASH,
  key: { arch: 'x86', config: '8888' },
  results,
  ...more,
});

const single = (measurement: unknown, key: object = { test: 'draw' }): object => perfFile([{ key, measurement }]);

describe('a file in the Perf JSON format', () => {
  it('gives one commit with a point for every measurement', async () => {
    const links = { details: 'https://example.com/run' };
    const results = [
      { key: { test: 'one', units: 's' }, measurement: 123.4 },
      {
        key: { test: 'circle', units: 'ms' },
        measurements: {
          stat: [
            { value: 'min', measurement: 1.2 },
            { value: 'max', measurement: 2.4, links: { trace: 'https://example.com/trace' } },
          ],
          error: [{ value: 'sd', measurement: 0 }],
        },
      },
    ];
    const [commit, ...others] = await commitsOf(perfFile(results, { links }), { measuredMs: 1700000000000 });
    expect(others).toEqual([]);
    expect(commit).toMatchObject({ commit: GIT_HASH, measuredMs: 1700000000000, source: 'results.json', links });
    expect(commit.timestampMs).toBeUndefined();
    expect(pointLines(commit)).toEqual([
      'arch=x86,config=8888,test=one,units=s = 123.4',
      'arch=x86,config=8888,stat=min,test=circle,units=ms = 1.2',
      'arch=x86,config=8888,stat=max,test=circle,units=ms = 2.4',
      'arch=x86,config=8888,error=sd,test=circle,units=ms = 0',
    ]);
    expect(commit.points[2].links).toEqual({ trace: 'https://example.com/trace' });
  });

  it('lets a result override the keys of the file, and a measurement those of the result', async () => {
    const results = [
      { key: { config: 'gpu', test: 'a' }, measurement: 1 },
      { key: { stat: 'none', test: 'b' }, measurements: { stat: [{ value: 'min', measurement: 2 }] } },
    ];
    const [commit] = await commitsOf(perfFile(results));
    expect(pointLines(commit)).toEqual(['arch=x86,config=gpu,test=a = 1', 'arch=x86,config=8888,stat=min,test=b = 2']);
  });

  it('cleans params and keeps the originals', async () => {
    const [{ points }] = await commitsOf(perfFile([{ key: { 'test name': 'draw (10 %)' }, measurement: 1 }]));
    expect(points[0].params).toEqual({ arch: 'x86', config: '8888', test_name: 'draw__10___' });
    expect(points[0].original).toEqual({ arch: 'x86', config: '8888', 'test name': 'draw (10 %)' });
  });

  it('takes 1e32 for a missing value, as a double and as a float32', async () => {
    const results = [
      { key: { test: 'double' }, measurement: 1e32 },
      { key: { test: 'float' }, measurement: Math.fround(1e32) },
      { key: { test: 'near' }, measurement: 1.1e32 },
    ];
    const [commit] = await commitsOf(perfFile(results));
    expect(pointLines(commit)).toEqual(['arch=x86,config=8888,test=near = 1.1e+32']);
  });

  it('takes the last measurement of a series, also when it is missing', async () => {
    const again = (test: string, ...values: number[]) => values.map((measurement) => ({ key: { test }, measurement }));
    const [commit] = await commitsOf(perfFile([...again('a', 1, 2), ...again('b', 3, 1e32), ...again('c', 1e32, 4)]));
    expect(pointLines(commit)).toEqual(['arch=x86,config=8888,test=a = 2', 'arch=x86,config=8888,test=c = 4']);
  });

  it('refuses two series that cleaning makes one', async () => {
    const results = [
      { key: { test: 'a b' }, measurement: 1 },
      { key: { test: 'a_b' }, measurement: 2 },
    ];
    await expect(commitsOf(perfFile(results))).rejects.toThrow(
      'results.json: /results/1 has "test" "a_b", which cleaning makes the same as "a b" before; rename one',
    );
  });

  it('measures at the time the file was written unless told', async () => {
    const before = Date.now() - 5000;
    const [{ measuredMs }] = await commitsOf(single(1));
    expect(Number.isInteger(measuredMs)).toBe(true);
    expect(measuredMs).toBeGreaterThan(before);
  });

  it.each<[string, unknown, string]>([
    ['a text for a number', single('x'), '/results/0/measurement must be number, got "x"'],
    ['null for a number', single(null), '/results/0/measurement must be number, got null'],
    ['no measurement', perfFile([{ key: { test: 'a' } }]), '/results/0 has neither measurement nor measurements'],
    ['both', perfFile([{ key: {}, measurement: 1, measurements: {} }]), '/results/0 has both measurement and'],
    ['no key', perfFile([{ measurement: 1 }]), '/results/0 lacks the property "key"'],
    ['a number as param', single(1, { bits: 64 }), '/results/0/key/bits must be string, got 64'],
    [
      'a misspelled property',
      perfFile([{ key: {}, measurment: 1 }]),
      '/results/0 has the unknown property "measurment"',
    ],
    ['another version', perfFile([], { version: 2 }), '/version must be 1, got 2'],
    ['a version as text', perfFile([], { version: '1' }), '/version must be 1, got "1"'],
    ['no results', { version: 1, git_hash: GIT_HASH }, 'lacks the property "results"'],
    ['no hash', { version: 1, results: [] }, 'lacks the property "git_hash"'],
    ['a hash with a space', perfFile([], { git_hash: 'HEAD ~1' }), '/git_hash must be the id of a commit'],
    ['a change under review', perfFile([], { issue: '1234' }), '/issue names a change under review ("1234")'],
    ['a value too large', single(1e39), '/results/0 has the value 1e+39, which no float32 can hold'],
    ['results that are an object', perfFile({ a: 1 }), '/results must be array, got an object'],
    [
      'no params at all',
      { version: 1, git_hash: 'a', results: [{ key: {}, measurement: 1 }] },
      '/results/0 has params',
    ],
  ])('refuses %s', async (_what, content, reason) => {
    const refused = commitsOf(content);
    await expect(refused).rejects.toMatchObject({ name: 'TraceDbError', code: 'ERR_SPANLINE_INVALID_INPUT' });
    await expect(refused).rejects.toThrow(`results.json: ${reason}`);
  });

  it.each(['1e999', '-1e999', 'NaN', 'Infinity'])('refuses the value %s', async (text) => {
    const content = JSON.stringify(single(12345)).replace('12345', text);
    await expect(commitsOf(content)).rejects.toThrow(/^results\.json: (is not JSON|\/results\/0\/measurement must be)/);
  });

  it('refuses another commit than the one given', async () => {
    await expect(commitsOf(single(1), { commit: 'f00' })).rejects.toThrow('but the commit given is "f00"');
    await expect(commitsOf(single(1), { commit: GIT_HASH })).resolves.toHaveLength(1);
  });
});
