// On LMDB an older cell never replaces a newer one, in whatever order cells come, from one table or two.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { LmdbTable } from '../../src/table/lmdb/lmdb-table.js';
import { storeFolder } from '../support/store-folder.js';

const folder = storeFolder('spanline-times-');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SCHEMA = { families: ['A', 'B'] };
let stores = 0;
const newStore = () => join(folder, `store-${++stores}`);

const write = fc.record({
  row: fc.constantFrom('r1', 'r2'),
  family: fc.constantFrom('A', 'B'),
  timestampMs: fc.integer({ min: 0, max: 6 }),
});
const batches = fc.array(fc.record({ table: fc.nat(1), writes: fc.array(write, { minLength: 1, maxLength: 6 }) }), {
  minLength: 1,
  maxLength: 12,
});

const cellsOf = async (table: LmdbTable) => {
  const found = new Map<string, number>();
  for await (const rows of table.readRows({})) {
    for (const { key, cells } of rows) for (const { family, value } of cells) found.set(key + family, value[0]);
  }
  return found;
};

test('the newest cell wins', async () => {
  await fc.assert(
    fc.asyncProperty(batches, async (all) => {
      const path = newStore();
      const tables = [await LmdbTable.open(path, SCHEMA), await LmdbTable.open(path, SCHEMA)];
      const model = new Map<string, { value: number; time: number }>();
      let value = 0;
      for (const { table, writes } of all) {
        const rows = writes.map(({ row, family, timestampMs }) => {
          const name = row + family;
          const old = model.get(name);
          value = (value + 1) % 256;
          if (old === undefined || timestampMs >= old.time) model.set(name, { value, time: timestampMs });
          const set = { type: 'set', family, qualifier: 'q', value: Uint8Array.of(value), timestampMs } as const;
          return { key: row, mutations: [set] };
        });
        await tables[table].mutateRows(rows);
      }
      expect(await cellsOf(tables[0])).toEqual(new Map(Array.from(model, ([name, { value }]) => [name, value])));
      for (const table of tables) await table.close();
    }),
    { numRuns: samples(10, 30, 300) },
  );
});
