// Judgements of changes: kept beside the values, the last one counts, of two at once one comes after the other, and damage is an error.
import { expect, test } from 'vitest';
import { FAMILIES, triageKey } from '../../src/perf/keys.js';
import { PERF_SCHEMA, PerfStore } from '../../src/perf/perf-store.js';
import { RegressionTriage } from '../../src/perf/regression-triage.js';
import { setCell } from '../../src/table/cells.js';
import { onBothEngines } from '../support/on-both-engines.js';

const KEY = ',test=draw,unit=ms,';

onBothEngines('triage of changes', (engine) => {
  const opened = async () => {
    const table = await engine.table(PERF_SCHEMA);
    return { table, perf: await PerfStore.open(table), triage: new RegressionTriage(table) };
  };

  test('the last judgement of a change is kept, by commit, and hides no value', async () => {
    const { perf, triage } = await opened();
    await perf.writeTraces(7, [{ params: { test: 'draw', unit: 'ms' }, value: 3 }], { source: 's', timestampMs: 1 });
    await triage.set({ commit: 7, key: KEY, status: 'positive', by: 'ada', note: 'real', time: 1000 });
    await triage.set({ commit: 12, key: KEY, status: 'negative', by: 'bob', time: 2000 });
    // An older clock than that of the first one.
    const last = await triage.set({ commit: 7, key: KEY, status: 'untriaged', by: 'cyd', time: 500 });
    const other = { commit: 12, key: KEY, status: 'negative', by: 'bob', atMs: 2000, note: '' };
    expect(await triage.list()).toEqual([last, other]);
    expect(await triage.list({ from: 8, to: 12 })).toEqual([other]);
    expect(await triage.list({ from: 8, to: 11 })).toEqual([]);
    expect(await perf.count(0)).toBe(1);
    expect(await perf.tiles()).toEqual([0]);
  });

  test('of many at once each is written upon another, and none is lost', async () => {
    const { table, triage } = await opened();
    const people = Array.from({ length: 8 }, (_, i) => `person-${i}`);
    await Promise.all(people.map((by) => triage.set({ commit: 3, key: KEY, status: 'positive', by })));
    const row = await table.readRow(triageKey(3));
    expect(JSON.parse(Buffer.from(row?.cells[0]?.value ?? []).toString())).toMatchObject({ revision: people.length });
  });

  test('what is wrong is refused before anything is written, and damage is said', async () => {
    const { table, triage } = await opened();
    const good = { commit: 3, key: KEY, status: 'positive', by: 'ada' } as const;
    for (const wrong of [
      { commit: -1 },
      { commit: 1.5 },
      { key: '' },
      { by: '' },
      { status: 'fine' },
      { note: 'x'.repeat(1001) },
    ]) {
      await expect((async () => triage.set({ ...good, ...(wrong as object) }))()).rejects.toThrow(/must/);
    }
    expect(await triage.list()).toEqual([]);
    await table.mutateRows([{ key: triageKey(3), mutations: [setCell(FAMILIES.commit, 'x', '{"status":"fine"}')] }]);
    await expect(triage.list()).rejects.toMatchObject({ code: 'ERR_SPANLINE_STORE_CORRUPT' });
  });
});
