// Random queries select on every tile exactly the traces that a brute-force look at all params selects, on both engines.
import { beforeAll, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { seeded } from '../../../../test/support/random.js';
import { samples } from '../../../../test/support/samples.js';
import { PERF_SCHEMA, PerfStore } from '../../src/perf/perf-store.js';
import { compileQuery, parseQuery } from '../../src/query/query.js';
import { onBothEngines } from '../support/on-both-engines.js';

const TRACES = 3000;
const TILE_SIZE = 50;
/** On each of three tiles: a fault that one query in fifteen meets escapes 75 queries once in 170 times, and 30 once in eight. */
const QUERIES = samples(10, 25, 2000);
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

/** A condition on `key`, sometimes for a value that no trace has. */
const anyCondition = (key: string): fc.Arbitrary<string> => {
  const value = fc.nat(VALUES[key] as number).map((n) => `${key[0]}${n}`);
  return fc.oneof(
    value.map((one) => `${key}=${one}`),
    fc.array(value, { minLength: 3, maxLength: 3 }).map((some) => some.map((one) => `${key}=${one}`).join('&')),
    fc.constant(`${key}=*`),
    fc.nat(9).map((digit) => `${key}=~${digit}$`),
    value.map((one) => `${key}=!${one}`),
    fc.nat(9).map((digit) => `${key}=!~[${digit}-9]`),
  );
};

const anyQuery = fc
  .tuple(
    fc.shuffledSubarray(KEYS, { minLength: 1, maxLength: 4 }),
    fc.oneof({ weight: 9, arbitrary: fc.constant('') }, { weight: 1, arbitrary: fc.constant('&nosuchkey=x') }),
  )
  .chain(([keys, more]) => fc.tuple(...keys.map(anyCondition)).map((conditions) => conditions.join('&') + more));

const tiles = new Map([0, 1, 5].map((tile) => [tile, Array.from({ length: TRACES }, makeParams)]));

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
      await fc.assert(
        fc.asyncProperty(anyQuery, async (text) => {
          const matches = await compileQuery(parseQuery(text));
          const expected = all.flatMap(([id, params]) => (matches(params) ? [id] : [])).sort();
          const actual: string[] = [];
          for await (const ids of perf.queryIds(tile, text)) actual.push(...ids);
          expect(actual).toEqual(expected);
          selected += expected.length;
        }),
        { numRuns: QUERIES },
      );
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
