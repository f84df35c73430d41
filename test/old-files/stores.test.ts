// Perf and Gold stores of older versions give the series and digests that were put into them, and take more.
import { expect, onTestFinished, test } from 'vitest';
import {
  GOLD_SCHEMA,
  GoldStore,
  openTable,
  PERF_SCHEMA,
  type PerfSeries,
  PerfStore,
  type TableSchema,
  type WideColumnTable,
} from '../../src/tracedb/index.js';
import { OLD_BAD, OLD_COMMITS, OLD_DIGESTS, OLD_GOOD, OLD_SERIES, OLD_TIME_MS } from './support/old-stores.js';
import { unpack } from './support/unpack.js';

const open = async (directory: string, schema: TableSchema): Promise<WideColumnTable> => {
  const table = await openTable(directory, schema);
  onTestFinished(() => table.close());
  return table;
};

const seriesOf = async (perf: PerfStore, query: string): Promise<PerfSeries[]> => {
  const all: PerfSeries[] = [];
  for await (const batch of perf.querySeries(query)) all.push(...batch);
  return all;
};

test('a Perf store', async () => {
  const perf = await PerfStore.open(await open(unpack('perf'), PERF_SCHEMA));
  expect(perf.config).toMatchObject({ tileSize: 2, shards: 2 });
  const commits = await perf.commits.list({});
  expect(commits.map(({ hash, timestampMs }) => ({ hash, timestampMs }))).toEqual(OLD_COMMITS);
  const found = await seriesOf(perf, '');
  expect(found).toHaveLength(OLD_SERIES.length);
  for (const { params, values } of OLD_SERIES) {
    const [series, ...others] = await seriesOf(perf, `test=${params.test}&unit=${params.unit}`);
    expect(others).toEqual([]);
    expect(series.params).toEqual(params);
    const byCommit = series.commits.map(({ number }, i): [number, number] => [number, series.values[i]]);
    const expected = values.flatMap((value, commit) => (value === undefined ? [] : [[commit, value]]));
    expect(byCommit.filter(([, value]) => !Number.isNaN(value))).toEqual(expected);
  }
  expect(await perf.source(1, OLD_SERIES[0].params)).toBe('run-1.json');
  expect(await perf.count(0)).toBe(3);

  const [next] = await perf.commits.add([{ hash: 'dddd', timestampMs: OLD_TIME_MS }]);
  expect(next).toBe(3);
  const point = { params: OLD_SERIES[1].params, value: 9 };
  await perf.writeTraces(next, [point], { source: 'run-3.json', timestampMs: OLD_TIME_MS });
  const [decode] = await seriesOf(perf, 'test=decode&unit=ns');
  expect(decode.values.at(-1)).toBe(9);
});

test('a Gold store', async () => {
  const gold = await GoldStore.open(await open(unpack('gold'), GOLD_SCHEMA));
  const { commits, traces } = await gold.getTile(9);
  const found = traces.flatMap(({ params, digests }) =>
    digests.flatMap((digest, i) => (digest === '' ? [] : [{ commit: commits[i], params, digest }])),
  );
  const inOrder = <T extends { readonly commit: number; readonly params: object }>(entries: readonly T[]): T[] =>
    [...entries].sort((a, b) => (a.commit + JSON.stringify(a.params) < b.commit + JSON.stringify(b.params) ? -1 : 1));
  expect(inOrder(found)).toEqual(inOrder(OLD_DIGESTS));
  const known = { status: 'positive', by: 'ada', note: 'as drawn' };
  expect(await gold.expectations.get('circle', OLD_GOOD)).toMatchObject(known);
  expect((await gold.ignores.list()).map(({ query, note, by }) => ({ query, note, by }))).toMatchObject([
    { query: 'gpu=adreno', note: 'none yet' },
  ]);
  const [blame] = await gold.blame(9);
  expect(blame.suspects).toEqual([{ commit: 8, traces: 1 }]);

  await gold.put(9, [{ params: OLD_DIGESTS[1].params, digest: OLD_BAD }], OLD_TIME_MS);
  const square = (await gold.getTile(9)).traces.find(({ params }) => params.name === 'square');
  expect(square?.digests.filter((digest) => digest !== '')).toEqual([OLD_GOOD, OLD_BAD]);
});
