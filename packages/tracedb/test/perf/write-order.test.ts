// A write goes param set, sources, values, index. Whoever dies in between leaves a store that reads well: at worst with traces that no
// query finds until their index is written anew.
import { expect, test } from 'vitest';
import { PERF_SCHEMA, PerfStore } from '../../src/perf/perf-store.js';
import { onBothEngines } from '../support/on-both-engines.js';
import { dump } from './support/dump.js';
import { dyingAfter, recordingWrites } from './support/dying-table.js';

const points = [
  { params: { arch: 'x86', test: 'draw' }, value: 1 },
  { params: { arch: 'arm', test: 'draw' }, value: 2 },
];
const from = { source: 'run.json', timestampMs: 1000 };

const kind = (key: string): string => (/^\d/.test(key) ? 'trace' : (key[0] as string));
const kindsOf = (calls: readonly string[][]): string[] => calls.map((keys) => [...new Set(keys.map(kind))].join(''));

onBothEngines('a write', (engine) => {
  test('comes in this order, and writes what it knows to be there no second time', async () => {
    const { table, calls } = recordingWrites(await engine.table(PERF_SCHEMA));
    const perf = await PerfStore.open(table);
    calls.length = 0;
    expect(await perf.writeTraces(0, points, from)).toEqual({ points: 2, missing: 0, indexed: 2 });
    expect(kindsOf(calls)).toEqual(['&', '@', 'trace', 'j']);
    calls.length = 0;
    expect(await perf.writeTraces(1, points, { ...from, timestampMs: 2000 })).toMatchObject({ indexed: 0 });
    expect(kindsOf(calls)).toEqual(['trace']);
    calls.length = 0;
    // Another tile, another source, one known and one new trace.
    await perf.writeTraces(300, points.slice(0, 1), { source: 'run-2.json', timestampMs: 3000 });
    expect(kindsOf(calls)).toEqual(['&', '@', 'trace', 'j']);
  });

  test('that dies between values and index leaves traces that no query finds, until the index is written', async () => {
    const table = await engine.table(PERF_SCHEMA);
    // What the store is, sources, param set, values: four writes, and dead before the index.
    const dying = await PerfStore.open(dyingAfter(table, 4));
    await expect(dying.writeTraces(0, points, from)).rejects.toThrow('died');
    const perf = await PerfStore.open(table);
    const found = async (query: string) => {
      const keys: string[] = [];
      for await (const traces of perf.query(0, query))
        for (const { params } of traces) keys.push(params.arch as string);
      return keys.sort();
    };
    expect(await perf.countIndices(0)).toBe(0);
    expect(await found('arch=x86')).toEqual([]);
    expect(await perf.count(0, 'arch=x86')).toBe(0);
    // By their params they are there, and among all.
    expect((await perf.readTraces(0, [{ arch: 'x86', test: 'draw' }])).map(({ values }) => values[0])).toEqual([1]);
    expect(await found('')).toEqual(['arm', 'x86']);

    const progress: number[] = [];
    expect(await perf.writeIndices(0, { onProgress: (rows) => progress.push(rows) })).toBe(4);
    expect(progress).toEqual([4]);
    expect(await perf.countIndices(0)).toBe(4);
    expect(await found('arch=x86')).toEqual(['x86']);
    // The store is the same as one that was written without an accident.
    const whole = await engine.table(PERF_SCHEMA);
    await (await PerfStore.open(whole)).writeTraces(0, points, from);
    expect(await dump(table)).toEqual(await dump(whole));
    // And writing an index that is whole changes nothing.
    expect(await perf.writeIndices(0)).toBe(4);
    expect(await dump(table)).toEqual(await dump(whole));
    expect(await perf.writeIndices(7)).toBe(0);
  });

  test('that died anywhere is completed by writing the same again', async () => {
    const whole = await engine.table(PERF_SCHEMA);
    await (await PerfStore.open(whole)).writeTraces(0, points, from);
    for (let count = 1; ; count++) {
      const table = await engine.table(PERF_SCHEMA);
      const dying = await PerfStore.open(dyingAfter(table, count));
      const death = await dying.writeTraces(0, points, from).then(
        () => 'none',
        (error: Error) => error.message,
      );
      const perf = await PerfStore.open(table);
      // Half of it reads well.
      for await (const traces of perf.query(0, '')) expect(traces).toHaveLength(2);
      await perf.writeTraces(0, points, from);
      expect(await dump(table)).toEqual(await dump(whole));
      if (death === 'none') {
        expect(count).toBe(5);
        break;
      }
      expect(death).toBe('died');
    }
  });
});
