// Series over a range of commits, over all tiles: by number, hash or date, or the newest ones. Every way to read must give the same.
import { beforeAll, expect, test } from 'vitest';
import type { Params } from '../../src/params/param-text.js';
import type { CommitRange } from '../../src/perf/commit-log.js';
import { readSeries } from '../../src/perf/histories.js';
import { PERF_SCHEMA, PerfStore } from '../../src/perf/perf-store.js';
import type { PerfSeries } from '../../src/perf/series-reader.js';
import { onBothEngines } from '../support/on-both-engines.js';

const COMMITS = 35;
const day = (i: number) => new Date(Date.UTC(2026, 0, 1 + i));

onBothEngines('commits over several tiles', (engine) => {
  let perf: PerfStore;
  beforeAll(async () => {
    perf = await PerfStore.open(await engine.table(PERF_SCHEMA), { tileSize: 8, shards: 2 });
    // The last two were added without a time, and one in the middle is older than its neighbours.
    const infos = Array.from({ length: COMMITS }, (_, i) => ({
      hash: `c${String(i).padStart(2, '0')}`,
      timestampMs: i >= 33 ? undefined : day(i === 20 ? 2 : i).getTime(),
    }));
    const numbers = await perf.commits.add(infos);
    await perf.write(
      numbers.map((commit) => ({
        commit,
        source: 's',
        timestampMs: 1,
        points: [
          { params: { test: 'all' } as Params, value: commit },
          // In later tiles its id is another one, and in some there is none.
          ...(commit % 16 > 8 ? [{ params: { test: 'some', arch: `a${commit % 2}` }, value: -commit }] : []),
        ],
      })),
    );
  });

  const listed = async (range: CommitRange) => (await perf.commits.list(range)).map(({ number }) => number);
  const all = Array.from({ length: COMMITS }, (_, i) => i);
  const between = (from: number, to: number) => all.filter((i) => i >= from && i <= to);

  test.each<[CommitRange, number[]]>([
    [{}, all],
    [{ from: 7, to: 9 }, [7, 8, 9]],
    [{ from: -3, to: Number.POSITIVE_INFINITY }, all],
    [{ from: 'c07', to: 'c24' }, between(7, 24)],
    [{ last: 10 }, between(25, 34)],
    [{ last: 1000 }, all],
    [{ to: 'c09', last: 4 }, between(6, 9)],
    [{ from: day(30) }, [30, 31, 32]],
    [{ from: day(1), to: day(3) }, [1, 2, 3, 20]],
    [{ to: day(0) }, [0]],
    [{ from: day(1), to: 'c05' }, between(1, 5)],
    [{ from: day(1), last: 2 }, [31, 32]],
    [{ from: 40 }, []],
    [{ from: 9, to: 3 }, []],
  ])('%j', async (range, expected) => {
    expect(await listed(range)).toEqual(expected);
    const series = await readSeries(perf, '', range);
    const numbers = ({ commits }: PerfSeries) => commits.map(({ number }) => number);
    expect(series.filter(({ key }) => key === ',test=all,').flatMap(numbers)).toEqual(expected);
    for (const one of series.filter(({ params }) => params.arch !== undefined)) {
      const odd = Number(one.params.arch?.slice(1));
      expect(numbers(one)).toEqual(expected.filter((i) => i % 16 > 8 && i % 2 === odd));
      expect(one.values).toEqual(numbers(one).map((i) => -i));
    }
    const streamed: PerfSeries[] = [];
    for await (const batch of perf.querySeries('', range)) streamed.push(...batch);
    expect(streamed).toEqual(series);
    expect(series.map(({ key }) => key)).toEqual(series.map(({ key }) => key).sort());
  });

  test.each<[unknown, string]>([
    [{ last: 0 }, 'last must be'],
    [{ last: 1.5 }, 'last must be'],
    [{ from: 9, to: 'c03' }, 'commit 9 comes after c03'],
    [{ from: day(5), to: day(1) }, 'comes after'],
    [{ from: new Date(Number.NaN) }, 'from must be'],
    [{ to: 2.5 }, 'to must be'],
    [{ from: null }, 'from must be'],
  ])('%j is refused', async (range, message) => {
    const refused = { code: 'ERR_SPANLINE_INVALID_INPUT', message: expect.stringContaining(message) };
    await expect(perf.commits.list(range as CommitRange)).rejects.toMatchObject(refused);
    await expect(readSeries(perf, '', range as CommitRange)).rejects.toMatchObject(refused);
  });

  test('a bound on series is met before their values are read', async () => {
    const before = perf.stats().table.rowsRead;
    await expect(readSeries(perf, '', { maxSeries: 2 })).rejects.toMatchObject({ code: 'ERR_SPANLINE_TABLE_LIMIT' });
    expect(perf.stats().table.rowsRead - before).toBeLessThan(80);
    expect(await readSeries(perf, '', { maxSeries: 3 })).toHaveLength(3);
  });
});
