// RegressionSearch answers what findRegressions answers, searches equal values once, lets others run between two series, and stops when asked.
import { expect, test } from 'vitest';
import { findRegressions, RegressionSearch, type Series } from '../../src/detect/regressions.js';
import { loadStatistics } from '../../src/detect/statistics.js';
import { noise, seeded } from './seeded.js';

const statistics = await loadStatistics();

const seriesOf = (key: string, levels: readonly number[], unit = 'ms'): Series => {
  const random = seeded(key.length + levels.length);
  const values = levels.flatMap((level) => Array.from({ length: 60 }, () => level + noise(random)));
  const commits = values.map((_, i) => ({ number: i, hash: `hash${i}`, timestampMs: 1e12 + i }));
  return { key, unit, commits, values };
};

const MANY = ['a', 'bb', 'ccc', 'dddd'].map((key, i) => seriesOf(key, i % 2 === 0 ? [100, 120] : [100, 100, 90]));

test('the answer is that of findRegressions, the first time and from what is kept', async () => {
  const search = new RegressionSearch();
  const expected = findRegressions(MANY, {}, statistics);
  expect(expected.length).toBeGreaterThan(2);
  expect(await search.find(MANY, {}, statistics)).toEqual(expected);
  expect(await search.find(MANY, {}, statistics)).toEqual(expected);
  expect(search.searched).toBe(MANY.length);
});

test('equal values under another name, unit and commits have changes of that name, unit and commits', async () => {
  const search = new RegressionSearch();
  const [one] = MANY;
  await search.find([one], {}, statistics);
  const commits = one.commits.map(({ number, ...rest }) => ({ ...rest, number: number + 1000 }));
  const other: Series = { ...one, key: 'other', unit: 'ops/sec', commits };
  expect(await search.find([other], {}, statistics)).toEqual(findRegressions([other], {}, statistics));
  expect(search.searched).toBe(1);
});

test('what is searched in another way is searched again', async () => {
  const search = new RegressionSearch();
  const [one] = MANY;
  for (const options of [{}, { minEffect: 0.5 }, { minSize: 8 }, { falsePositiveRate: 0.01 }]) {
    expect(await search.find([one], options, statistics)).toEqual(findRegressions([one], options, statistics));
  }
  expect(search.searched).toBe(4);
});

test('the event loop turns while many series are searched', async () => {
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const many = Array.from({ length: 20 }, (_, i) => seriesOf('x'.repeat(i + 1), [100, 100, 100]));
  await new RegressionSearch().find(many, {}, statistics);
  isOver = true;
  // A series takes some milliseconds and a slice 1.5: a machine would have to be ten times as fast to turn twice only.
  expect(turns).toBeGreaterThan(2);
});

test('a signal ends the search between two series', async () => {
  const reason = new Error('gone');
  const search = new RegressionSearch();
  await expect(search.find(MANY, {}, statistics, AbortSignal.abort(reason))).rejects.toBe(reason);
  expect(search.searched).toBe(0);
});

test('wrong options and series are refused as findRegressions refuses them', async () => {
  const search = new RegressionSearch();
  const code = 'ERR_SPANLINE_INVALID_INPUT';
  await expect(search.find(MANY, { falsePositiveRate: 2 }, statistics)).rejects.toMatchObject({ code });
  await expect(search.find([{ ...MANY[0], values: [1] }], {}, statistics)).rejects.toMatchObject({ code });
});
