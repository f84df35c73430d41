// The history of a series goes over tiles and has the commits that measured it; two commits are compared series by series.
import { beforeAll, describe, expect, test } from 'vitest';
import { cleaningRule } from '../../src/params/param-text.js';
import { compareCommits, readSeries } from '../../src/perf/histories.js';
import { PERF_SCHEMA, PerfStore } from '../../src/perf/perf-store.js';
import { onBothEngines, onLmdb } from '../support/on-both-engines.js';

const TILE_SIZE = 4;

onBothEngines('histories', (engine) => {
  let perf: PerfStore;
  beforeAll(async () => {
    perf = await PerfStore.open(await engine.table(PERF_SCHEMA), { tileSize: TILE_SIZE });
    await perf.commits.add(Array.from({ length: 12 }, (_, i) => ({ hash: `c${i}`, timestampMs: 1000 * i })));
    const b = { test: 'b', unit: 'ms' };
    const a = { unit: 'ms', test: 'a' };
    // 'a' at every commit but 5; 'b' at 7 and 8 only, either side of a border between tiles.
    await perf.write(
      Array.from({ length: 12 }, (_, commit) => ({
        commit,
        source: 's',
        timestampMs: 1,
        points: [
          { params: a, value: commit === 5 ? Number.NaN : commit },
          { params: b, value: commit === 7 || commit === 8 ? 100 + commit : Number.NaN },
        ],
      })),
    );
  });

  const found = async (query: string, options = {}) =>
    (await readSeries(perf, query, options)).map(
      ({ key, commits, values }) => `${key} ${commits.map(({ hash }, i) => `${hash}=${values[i]}`).join(' ')}`,
    );

  test('go over tiles, oldest first, and leave out what is missing', async () => {
    expect(await found('')).toEqual([
      ',test=a,unit=ms, c0=0 c1=1 c2=2 c3=3 c4=4 c6=6 c7=7 c8=8 c9=9 c10=10 c11=11',
      ',test=b,unit=ms, c7=107 c8=108',
    ]);
    const [, b] = await readSeries(perf, '');
    expect(b).toEqual({
      key: ',test=b,unit=ms,',
      params: { test: 'b', unit: 'ms' },
      commits: [
        { hash: 'c7', number: 7, timestampMs: 7000 },
        { hash: 'c8', number: 8, timestampMs: 8000 },
      ],
      values: [107, 108],
    });
  });

  test.each([
    [{ from: 7 }, [',test=a,unit=ms, c7=7 c8=8 c9=9 c10=10 c11=11', ',test=b,unit=ms, c7=107 c8=108']],
    [{ to: 3 }, [',test=a,unit=ms, c0=0 c1=1 c2=2 c3=3']],
    [{ from: 4, to: 4 }, [',test=a,unit=ms, c4=4']],
    [{ from: 3, to: 8 }, [',test=a,unit=ms, c3=3 c4=4 c6=6 c7=7 c8=8', ',test=b,unit=ms, c7=107 c8=108']],
    [{ from: 5, to: 5 }, []],
    [{ from: 12 }, []],
    [{ from: 8, to: 7 }, []],
  ])('between commits: %j', async (range, expected) => {
    expect(await found('', range)).toEqual(expected);
  });

  test('of a query, and of no more series than asked for', async () => {
    expect(await found('test=b')).toHaveLength(1);
    expect(await found('test=nosuch')).toEqual([]);
    expect(await found('', { maxSeries: 2 })).toHaveLength(2);
    await expect(found('', { maxSeries: 1 })).rejects.toMatchObject({
      code: 'ERR_SPANLINE_TABLE_LIMIT',
      message: expect.stringContaining('more than 1 series'),
    });
  });
});

onLmdb('two commits', (engine) => {
  let perf: PerfStore;
  beforeAll(async () => {
    // Units such as ops/s need a rule of their own; whoever reads need not know it.
    const table = await engine.table(PERF_SCHEMA);
    const writer = await PerfStore.open(table, { tileSize: TILE_SIZE, rule: cleaningRule('A-Za-z0-9._/-') });
    const values: readonly (readonly [test: string, unit: string | undefined, before: number, after: number])[] = [
      ['slower', 'ms', 100, 120],
      ['faster', 'ms', 100, 80],
      ['more', 'ops/s', 100, 120],
      ['less', 'ops/s', 100, 90],
      ['noise', 'ms', 100, 104],
      ['at-the-limit', 'ms', 100, 105],
      ['unknown', 'foo', 100, 200],
      ['unitless', undefined, 100, 200],
      ['still-nothing', 'ms', 0, 0],
      ['from-nothing', 'ms', 0, 5],
      ['below-zero', 'ms', -10, -5],
      ['gone', 'ms', 1, Number.NaN],
      ['new', 'ms', Number.NaN, 1],
    ];
    for (const [commit, which] of [
      [2, 2],
      [9, 3],
    ] as const) {
      const points = values.map((row) => ({
        params: { test: row[0], ...(row[1] && { unit: row[1] }) },
        value: row[which] as number,
      }));
      await writer.writeTraces(commit, points, { source: 's', timestampMs: 1 });
    }
    perf = await PerfStore.open(table);
  });

  const verdicts = async (before: number, after: number, options = {}) =>
    Object.fromEntries(
      (await compareCommits(perf, before, after, '', options)).map(({ params, verdict }) => [params.test, verdict]),
    );

  test('in different tiles, judged by the unit', async () => {
    expect(await verdicts(2, 9)).toEqual({
      slower: 'worse',
      faster: 'better',
      more: 'better',
      less: 'worse',
      noise: 'same',
      'at-the-limit': 'worse',
      unknown: 'changed',
      unitless: 'changed',
      'still-nothing': 'same',
      'from-nothing': 'worse',
      'below-zero': 'worse',
    });
  });

  test('the other way round', async () => {
    expect(await verdicts(9, 2)).toMatchObject({ slower: 'better', less: 'better', 'from-nothing': 'better' });
  });

  test('the largest change first, with its figures', async () => {
    const compared = await compareCommits(perf, 2, 9, '');
    const sizes = compared.map(({ change }) => Math.abs(change));
    expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
    expect(compared[0]).toMatchObject({ key: ',test=from-nothing,unit=ms,', before: 0, after: 5, change: Infinity });
    expect(compared.find(({ params }) => params.test === 'less')).toEqual({
      key: ',test=less,unit=ops/s,',
      params: { test: 'less', unit: 'ops/s' },
      unit: 'ops/s',
      before: 100,
      after: 90,
      change: -0.1,
      verdict: 'worse',
    });
    expect(compared.find(({ params }) => params.test === 'below-zero')).toMatchObject({ change: 0.5 });
    expect(compared.find(({ params }) => params.test === 'still-nothing')).toMatchObject({ change: 0 });
  });

  describe('with options', () => {
    test('the smallest change that counts', async () => {
      expect(await verdicts(2, 9, { minEffect: 0.15 })).toMatchObject({ less: 'same', slower: 'worse' });
      expect(await verdicts(2, 9, { minEffect: 0 })).toMatchObject({ noise: 'worse' });
    });

    test('directions of units', async () => {
      expect(await verdicts(2, 9, { directions: { foo: 'up', ms: 'up' } })).toMatchObject({
        unknown: 'better',
        slower: 'better',
      });
    });

    test('a query', async () => {
      expect(await compareCommits(perf, 2, 9, 'test=slower')).toHaveLength(1);
      expect(await compareCommits(perf, 2, 3, '')).toEqual([]);
    });
  });
});
