// Any number of writers may extend one param set row: nothing anyone added is lost, no index ever changes its meaning, and the
// clocks of the writers do not matter.
import { expect, test } from 'vitest';
import { samples } from '../../../../test/support/samples.js';
import { OpsRow, type OpsRowOptions, OpsRows } from '../../src/params/ops-rows.js';
import type { OrderedParamSet } from '../../src/params/ordered-param-set.js';
import type { Params } from '../../src/params/param-text.js';
import type { WideColumnTable } from '../../src/table/wide-column-table.js';
import { onBothEngines } from '../support/on-both-engines.js';

const AT: OpsRowOptions = { key: '@2147483647', family: 'D', opsColumn: 'OPS', hashColumn: 'H' };
const SCHEMA = { families: ['D'] };
const ROUNDS = samples(8, 10, 25);
const row = (table: WideColumnTable, options: Partial<OpsRowOptions> = {}): OpsRow =>
  new OpsRow(table, { ...AT, ...options });

const code = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no error',
    (error) => error.code ?? String(error),
  );

/** `table`, but `before` runs ahead of every conditional write: another writer that is always faster. */
const interrupted = (table: WideColumnTable, before: () => Promise<unknown>): WideColumnTable =>
  new Proxy(table, {
    get(target, name) {
      if (name !== 'checkAndMutateRow') return Reflect.get(target, name).bind?.(target) ?? Reflect.get(target, name);
      return async (...args: Parameters<WideColumnTable['checkAndMutateRow']>) => {
        await before();
        return target.checkAndMutateRow(...args);
      };
    },
  });

onBothEngines('the param set row', (engine) => {
  test('adds what is missing, and answers from memory when nothing is', async () => {
    const table = await engine.table(SCHEMA);
    const ops = row(table);
    const first = await ops.update([{ b: '1', a: 'x' }, { a: 'y' }]);
    expect(first.toParamSet().toJSON()).toEqual({ a: ['x', 'y'], b: ['1'] });
    const before = table.stats();
    expect(await ops.update([{ a: 'x', b: '1' }])).toBe(first);
    expect(table.stats()).toEqual(before);
    expect(ops.stats()).toEqual({ hits: 1, reads: 1, updates: 1, conflicts: 0, retries: 0, gaveUp: 0 });
    expect((await row(table).read()).hash).toBe(first.hash);
  });

  test('takes a generator once, also when it must try again', async () => {
    const table = await engine.table(SCHEMA);
    const other = row(table);
    let interruptions = 0;
    const slow = row(
      interrupted(table, async () => interruptions++ < 3 && other.update([{ other: `${interruptions}` }])),
    );
    const params = function* (): Generator<Params> {
      yield { mine: '1' };
      yield { mine: '2' };
    };
    const ops = await slow.update(params());
    expect(ops.toParamSet().toJSON()).toEqual({ mine: ['1', '2'], other: ['1', '2', '3'] });
    expect(slow.stats()).toMatchObject({ updates: 1, conflicts: 3, retries: 3 });
  });

  test('a writer whose cache is old does not overwrite what it has not seen', async () => {
    const table = await engine.table(SCHEMA);
    const [one, two] = [row(table), row(table)];
    await one.update([{ a: '1' }]);
    await two.update([{ a: '2' }]);
    const ids = (await two.read()).encode({ a: '2' });
    const merged = await one.update([{ a: '3' }]);
    expect(merged.toParamSet().toJSON()).toEqual({ a: ['1', '2', '3'] });
    expect(merged.encode({ a: '2' })).toBe(ids);
    expect(one.stats()).toMatchObject({ updates: 2, conflicts: 1 });
  });

  test('clocks that go wrong, ahead or behind, lose nothing', async () => {
    const table = await engine.table(SCHEMA);
    const now = 1_700_000_000_000;
    const clocks = [now, now - 3_600_000, now + 3_600_000, 0, now - 1, now];
    for (const [i, clock] of clocks.entries()) {
      await row(table, { timestampMs: () => clock }).update([{ writer: String(i) }]);
    }
    expect((await row(table).read()).values('writer')).toEqual(['0', '1', '2', '3', '4', '5']);
  });

  test(`16 writers for ${ROUNDS} rounds keep every value, and every id given out on the way stays`, async () => {
    const table = await engine.table(SCHEMA);
    const given: [ops: OrderedParamSet, params: Params, id: string][] = [];
    const writers = Array.from({ length: 16 }, (_, writer) => ({
      writer,
      ops: row(table, { timestampMs: () => 1_700_000_000_000 + (writer % 3) * 60_000 }),
    }));
    await Promise.all(
      writers.map(async ({ writer, ops }) => {
        for (let round = 0; round < ROUNDS; round++) {
          const params = { round: String(round), [`writer${writer}`]: String(round) };
          const set = await ops.update([params]);
          given.push([set, params, set.encode(params)]);
        }
      }),
    );
    const last = await row(table).read();
    expect(last.toParamSet().size).toBe(ROUNDS + 16 * ROUNDS);
    for (const [, params, id] of given) expect(last.encode(params)).toBe(id);
    const sum = writers.map(({ ops }) => ops.stats());
    expect(sum.reduce((total, { conflicts }) => total + conflicts, 0)).toBeGreaterThan(0);
    expect(sum.every(({ gaveUp }) => gaveUp === 0)).toBe(true);
  });

  test('many updates of one object at once cost few writes and no conflict', async () => {
    const table = await engine.table(SCHEMA);
    const ops = row(table);
    await Promise.all(Array.from({ length: 50 }, (_, i) => ops.update([{ a: String(i % 5) }])));
    expect(ops.stats()).toMatchObject({ reads: 1, updates: 5, conflicts: 0 });
  });

  test('gives up after the bound when others are always faster', async () => {
    const table = await engine.table(SCHEMA);
    const other = row(table);
    let n = 0;
    const slow = row(
      interrupted(table, () => other.update([{ other: String(n++) }])),
      { maxAttempts: 4, backoffMs: 0 },
    );
    expect(await code(slow.update([{ mine: '1' }]))).toBe('ERR_SPANLINE_CONFLICT');
    expect(slow.stats()).toMatchObject({ updates: 0, conflicts: 4, retries: 3, gaveUp: 1 });
    // And it works again when they are gone.
    const free = row(table);
    expect((await free.update([{ mine: '1' }])).values('other')).toHaveLength(4);
  });

  test('refuses a row that holds something else', async () => {
    const table = await engine.table(SCHEMA);
    const ops = await row(table).update([{ a: '1' }]);
    const set = (qualifier: string, value: Uint8Array) =>
      table.mutateRows([
        {
          key: AT.key,
          mutations: [{ type: 'set', family: 'D', qualifier, value, timestampMs: Date.now() + 1000 }],
        },
      ]);
    await set('H', Buffer.from('0'.repeat(32)));
    expect(await code(row(table).read())).toBe('ERR_SPANLINE_STORE_CORRUPT');
    await set('H', Buffer.from(ops.hash));
    expect(await code(row(table).read())).toBe('no error');
    await set('OPS', Buffer.from('nonsense'));
    expect(await code(row(table).read())).toBe('ERR_SPANLINE_STORE_CORRUPT');
    await table.mutateRows([{ key: AT.key, mutations: [{ type: 'delete-cell', family: 'D', qualifier: 'OPS' }] }]);
    expect(await code(row(table).update([{ b: '1' }]))).toBe('ERR_SPANLINE_STORE_CORRUPT');
  });

  test('an abort and a deadline end an update that would go on trying', async () => {
    const table = await engine.table(SCHEMA);
    const other = row(table);
    const abort = new AbortController();
    let n = 0;
    const slow = row(
      interrupted(table, async () => {
        await other.update([{ other: String(n++) }]);
        if (n === 5) abort.abort();
      }),
      { maxAttempts: 1000, backoffMs: 0 },
    );
    expect(await code(slow.update([{ a: '1' }], { signal: abort.signal }))).toBe('ERR_SPANLINE_ABORTED');
    expect(await code(slow.update([{ a: '1' }], { deadlineMs: 30 }))).toBe('ERR_SPANLINE_DEADLINE');
    // The object lives on.
    expect((await slow.read()).values('other').length).toBeGreaterThan(4);
  });

  test('rows of tiles: each its own set, the tile used longest ago is forgotten, the counts stay', async () => {
    const table = await engine.table(SCHEMA);
    const rows = new OpsRows(table, (tile) => ({ ...AT, key: `@${tile}` }), 2);
    await rows.at(1).update([{ a: '1' }]);
    await rows.at(2).update([{ a: '2' }]);
    await rows.at(1).update([{ a: '1' }]);
    await rows.at(3).update([{ a: '3' }]);
    expect(rows.at(1).cached?.values('a')).toEqual(['1']);
    expect(rows.at(2).cached).toBeUndefined();
    expect(rows.stats()).toMatchObject({ updates: 3, reads: 3, hits: 1, tiles: 2, evicted: 2 });
  });
});

test('bounds that make no sense are refused', () => {
  const table = {} as WideColumnTable;
  for (const options of [{ maxAttempts: 0 }, { maxAttempts: 1.5 }, { backoffMs: -1 }, { backoffMs: Number.NaN }]) {
    expect(() => row(table, options)).toThrow(/must be a/);
  }
});
