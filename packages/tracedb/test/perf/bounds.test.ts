// What a Perf store remembers is bounded and counted; what it forgot is only written or read once more.
import { expect, test } from 'vitest';
import { PERF_SCHEMA, PerfStore } from '../../src/perf/perf-store.js';
import { onLmdb } from '../support/on-both-engines.js';
import { dump } from './support/dump.js';

const points = (count: number) => Array.from({ length: count }, (_, i) => ({ params: { test: `t${i}` }, value: i }));

onLmdb('a Perf store', (engine) => {
  test('remembers so many traces as indexed, and writes the index of others again', async () => {
    const table = await engine.table(PERF_SCHEMA);
    const perf = await PerfStore.open(table, { cachedTraces: 100 });
    for (let round = 0; round < 3; round++) {
      await perf.writeTraces(round, points(1000), { source: 's', timestampMs: 1 });
      const { indexedCached, indexedEvicted } = perf.stats().writer;
      expect(indexedCached).toBeLessThanOrEqual(100);
      // The few it still remembers of the round before are not written again.
      const remembered = 1000 * (round + 1) - indexedCached - indexedEvicted;
      expect(remembered >= 0 && remembered <= 100 * round).toBe(true);
    }
    // All three times the index of (nearly) all was written; it is the same.
    expect(await perf.countIndices(0)).toBe(1000);
    const roomy = await PerfStore.open(await engine.table(PERF_SCHEMA));
    for (let round = 0; round < 3; round++) {
      const { indexed } = await roomy.writeTraces(round, points(1000), { source: 's', timestampMs: 1 });
      expect(indexed).toBe(round === 0 ? 1000 : 0);
    }
    expect(roomy.stats().writer).toEqual({
      indexedCached: 1000,
      indexedEvicted: 0,
      sourcesCached: 1,
      sourcesEvicted: 0,
    });
    expect(await dump(table)).toEqual(await dump(roomy.table));
  });

  test.each([0, 1, -5, 2.5, Number.NaN])('refuses to remember %d traces', async (cachedTraces) => {
    const opened = PerfStore.open(await engine.table(PERF_SCHEMA), { cachedTraces });
    await expect(opened).rejects.toMatchObject({ code: 'ERR_SPANLINE_INVALID_INPUT' });
  });

  test('remembers so many sources, and the param sets of so many tiles', async () => {
    const perf = await PerfStore.open(await engine.table(PERF_SCHEMA), { tileSize: 1 });
    const commits = Array.from({ length: 12_000 }, (_, i) => ({
      commit: i % 40,
      source: `run-${i}`,
      timestampMs: 1,
      points: points(1),
    }));
    await perf.write(commits);
    const { writer, ops, queries, table } = perf.stats();
    expect(writer.sourcesCached).toBeLessThanOrEqual(10_000);
    expect(writer.sourcesCached + writer.sourcesEvicted).toBe(12_000);
    expect(ops).toMatchObject({ tiles: 16, evicted: 24, updates: 40, conflicts: 0, gaveUp: 0 });
    expect(queries).toEqual({ open: 0, waiting: 0, waited: 0 });
    expect(table).toMatchObject({ openReads: 0, rowsRefused: 0 });
    expect(await perf.source(39, { test: 't0' })).toBe('run-11999');
  });

  test('counts the queries that wait for others', async () => {
    const perf = await PerfStore.open(await engine.table(PERF_SCHEMA));
    await perf.writeTraces(0, points(60), { source: 's', timestampMs: 1 });
    // Each has 60 of the 64 streams that are open at a time.
    const counts = await Promise.all([1, 2, 3].map(() => perf.count(0, 'test=*')));
    expect(counts).toEqual([60, 60, 60]);
    expect(perf.stats().queries).toEqual({ open: 0, waiting: 0, waited: 2 });
  });
});
