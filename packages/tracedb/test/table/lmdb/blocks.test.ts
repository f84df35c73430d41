// Rows with more cells than one entry holds: cells are found, replaced and removed one by one and in bulk, in any order.
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import fc from '../../../../../test/support/fast-check.js';
import { samples } from '../../../../../test/support/samples.js';
import { LmdbTable } from '../../../src/table/lmdb/lmdb-table.js';
import { storeFolder } from '../../support/store-folder.js';
import { deleteCell, keys, set, thenDo } from '../conformance/suite.js';

const folder = storeFolder('spanline-blocks-');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SCHEMA = { families: ['S', 'V'] };
let stores = 0;
const newStore = () => LmdbTable.open(join(folder, `store-${++stores}`), SCHEMA);
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

const read = async (table: LmdbTable, key: string, options = {}) => {
  const row = await table.readRow(key, { families: ['V'], ...options });
  return (row?.cells ?? []).map(({ qualifier, value, timestampMs }) => `${qualifier}=${value.length}@${timestampMs}`);
};

const change = fc.record({
  isRemoval: fc.nat(9).map((n) => n === 0),
  column: fc.nat(400),
  bytes: fc.oneof({ weight: 9, arbitrary: fc.nat(40) }, { weight: 1, arbitrary: fc.integer({ min: 0, max: 5000 }) }),
  timestampMs: fc.nat(4),
});

test('thousands of changes to one row, in calls of one or many', async () => {
  const calls = fc.array(fc.array(change, { minLength: 1, maxLength: 300 }), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(calls, async (all) => {
      const table = await newStore();
      const plain = new Map<string, { bytes: number; timestampMs: number }>();
      for (const some of all) {
        const mutations = some.map(({ isRemoval, column, bytes, timestampMs }) =>
          isRemoval ? deleteCell(`${column}`) : set(`${column}`, Buffer.alloc(bytes), timestampMs),
        );
        await table.mutateRows([{ key: 'row', mutations }]);
        for (const { isRemoval, column, bytes, timestampMs } of some) {
          const name = `${column}`;
          if (isRemoval) plain.delete(name);
          else if ((plain.get(name)?.timestampMs ?? -1) <= timestampMs) plain.set(name, { bytes, timestampMs });
        }
      }
      const text = (name: string) => `${name}=${plain.get(name)?.bytes}@${plain.get(name)?.timestampMs}`;
      expect(await read(table, 'row')).toEqual([...plain.keys()].sort(byBytes).map(text));
      for (let column = 0; column <= 401; column += 7) {
        const name = `${column}`;
        const wanted = plain.has(name) ? [text(name)] : [];
        expect(await read(table, 'row', { qualifiers: [name] })).toEqual(wanted);
        const exists = await table.checkAndMutateRow(
          'row',
          { family: 'V', qualifier: name },
          thenDo(set('x', '', 0, 'S')),
        );
        expect(exists).toBe(plain.has(name));
      }
      await table.mutateRows([
        { key: 'row', mutations: [deleteCell('x', 'S'), ...[...plain.keys()].map((name) => deleteCell(name))] },
      ]);
      expect(await keys(table)).toEqual([]);
      await table.close();
    }),
    { numRuns: samples(4, 25, 250) },
  );
}, 120_000);

test('columns that come one by one, upwards or downwards, end up in full entries', async () => {
  const columns = Array.from({ length: 3000 }, (_, i) => `column-${String(i).padStart(5, '0')}`);
  for (const order of [columns, columns.toReversed()]) {
    const table = await newStore();
    for (let i = 0; i < order.length; i += 50) {
      const mutations = order.slice(i, i + 50).map((name) => set(name, 'a value of some length', i));
      await table.mutateRows([{ key: 'row', mutations }]);
    }
    expect((await read(table, 'row')).length).toBe(3000);
    await table.close();
    // 44 bytes a cell, of which the file has room for twice as many at least.
    expect(statSync(join(table.location, 'data.mdb')).size).toBeLessThan(3000 * 44 * 4);
  }
});

const CELLS = samples(20_000, 100_000);

test('many thousand cells of one row in one call', async () => {
  const table = await newStore();
  const names = Array.from({ length: CELLS }, (_, i) => `${(i * 7919) % 100_003}`);
  await table.mutateRows([{ key: 'row', mutations: names.map((name) => set(name, 'v')) }]);
  expect((await read(table, 'row')).length).toBe(CELLS);
  await table.close();
}, 60_000);

test('damaged bytes in a block are an error, not wrong cells', async () => {
  const { BlockCursor } = await import('../../../src/table/lmdb/cell-block.js');
  const walk = (bytes: number[]) => {
    for (const cursor = new BlockCursor(Buffer.from(bytes), bytes.length); cursor.next(); );
  };
  const cell = [1, 0x61, 0, 0, 0, 0, 0, 5, 2, 0x76, 0x76];
  walk([0xff, ...cell, ...cell]);
  for (const bad of [
    cell.slice(0, -1),
    cell.slice(0, 4),
    [0x80],
    [0xff, 0xff, 0xff, 0xff, 0xff],
    [...cell.slice(0, 8), 0xff],
  ]) {
    expect(() => walk([0xff, ...bad])).toThrow(expect.objectContaining({ code: 'ERR_SPANLINE_STORE_CORRUPT' }));
  }
});
