// 500 random queries select on every tile exactly the traces that a brute-force look at all params selects, on both engines.
import { beforeAll, expect, test } from 'vitest';
import { PERF_SCHEMA, PerfStore } from '../../../src/tracedb/perf/perf-store.js';
import { compileQuery } from '../../../src/tracedb/query/matches.js';
import { parseQuery } from '../../../src/tracedb/query/parse-query.js';
import { rounds } from '../../support/rounds.js';
import { onBothEngines } from '../support/on-both-engines.js';
import { pick, seeded } from '../support/random.js';

const TRACES = 3000;
const TILE_SIZE = 50;
const QUERIES = rounds(500);
const VALUES: Readonly<Record<string, number>> = { arch: 3, config: 10, os: 5, test: 300, bot: 80, unit: 2 };
const KEYS = Object.keys(VALUES);

const random = seeded(7);
const makeParams = (): Record<string, string> => {
  const params: Record<string, string> = { test: `t${Math.floor(random() * 300)}` };
  // Not every trace has every key.
  for (const key of KEYS)
    if (random() < 0.8) params[key] = `${key[0]}${Math.floor(random() * (VALUES[key] as number))}`;
  return params;
};

/** A value, sometimes one that no trace has. */
const value = (key: string): string => `${key[0]}${Math.floor(random() * ((VALUES[key] as number) + 1))}`;

const FORMS: readonly ((key: string) => string)[] = [
  (key) => `${key}=${value(key)}`,
  (key) => `${key}=${value(key)}&${key}=${value(key)}&${key}=${value(key)}`,
  (key) => `${key}=*`,
  (key) => `${key}=~${Math.floor(random() * 10)}$`,
  (key) => `${key}=!${value(key)}`,
  (key) => `${key}=!~[${Math.floor(random() * 10)}-9]`,
];

const makeQuery = (): string => {
  const keys = [...KEYS, 'nosuchkey'].sort(() => random() - 0.5).slice(0, 1 + Math.floor(random() * 4));
  return keys.map((key) => (key === 'nosuchkey' ? 'nosuchkey=x' : pick(random, FORMS)(key))).join('&');
};

const tiles = new Map([0, 1, 5].map((tile) => [tile, Array.from({ length: TRACES }, makeParams)]));
const queries = Array.from({ length: QUERIES }, () => {
  const keep = random() < 0.9;
  const text = makeQuery();
  return keep ? text : text.replaceAll('&nosuchkey=x', '');
});

onBothEngines('random queries', (engine) => {
  let perf: PerfStore;
  beforeAll(async () => {
    perf = await PerfStore.open(await engine.table(PERF_SCHEMA), { tileSize: TILE_SIZE });
    for (const [tile, traces] of tiles) {
      const points = traces.map((params, i) => ({ params, value: i }));
      await perf.writeTraces(tile * TILE_SIZE + 3, points, { source: `tile-${tile}`, timestampMs: 1 });
    }
  }, 120_000);

  test.each([...tiles.keys()])(
    'tile %i',
    async (tile) => {
      const ops = await perf.orderedParamSet(tile);
      const all = [...new Map((tiles.get(tile) ?? []).map((params) => [ops.encode(params), params]))];
      let selected = 0;
      for (const text of queries) {
        const matches = await compileQuery(parseQuery(text));
        const expected = all.flatMap(([id, params]) => (matches(params) ? [id] : [])).sort();
        const actual: string[] = [];
        for await (const ids of perf.queryIds(tile, text)) actual.push(...ids);
        expect({ text, ids: actual }).toEqual({ text, ids: expected });
        selected += expected.length;
      }
      // Else the queries would prove nothing.
      expect(selected).toBeGreaterThan(QUERIES * 20);
      expect(perf.stats().table.openReads).toBe(0);
      expect(perf.stats().queries).toMatchObject({ open: 0, waiting: 0 });
    },
    300_000,
  );

  test('values come with the traces', async () => {
    const wanted = await compileQuery(parseQuery('config=c3&arch=*'));
    const byParams = new Map<string, number>();
    const sorted = (params: Readonly<Record<string, string>>) => JSON.stringify(Object.entries(params).sort());
    for (const [i, params] of (tiles.get(1) ?? []).entries()) if (wanted(params)) byParams.set(sorted(params), i);
    let count = 0;
    for await (const traces of perf.query(1, 'config=c3&arch=*')) {
      for (const { params, values } of traces) {
        expect(values[3]).toBe(byParams.get(sorted(params)));
        expect(values.filter((one) => !Number.isNaN(one))).toHaveLength(1);
        count++;
      }
    }
    expect(count).toBe(byParams.size);
  }, 60_000);
});
