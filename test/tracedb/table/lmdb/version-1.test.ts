// A store of version 1, with an entry for each cell, is read as it is and written like any other.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { LmdbTable } from '../../../../src/tracedb/table/lmdb/lmdb-table.js';
import fc from '../../../support/fast-check.js';
import { samples } from '../../../support/samples.js';
import { storeFolder } from '../../support/store-folder.js';
import { apply, aRow, aSelection, expected, type Model, someOptions } from '../conformance/model.js';
import { deleteCell, lines, set, thenDo } from '../conformance/suite.js';
import { rewriteAsVersion1, schemaOf } from './write-version-1.js';

const folder = storeFolder('spanline-version-1-');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SCHEMA = { families: ['S', 'V'] };
let stores = 0;
const newStore = () => LmdbTable.open(join(folder, `store-${++stores}`), SCHEMA);

test('reading leaves the store as it is; the first write makes it one of version 2', async () => {
  const made = await newStore();
  const { location } = made;
  await made.mutateRows([{ key: 'a', mutations: [set('1', 'one', 5), set('2', 'two', 6)] }]);
  await rewriteAsVersion1(made);

  const read = await LmdbTable.open(location, SCHEMA);
  expect(await lines(read)).toEqual(['a V:1=one@5 V:2=two@6']);
  expect(await read.readRow('a', { families: ['V'], qualifiers: ['2'] })).toMatchObject({
    cells: [{ qualifier: '2' }],
  });
  await read.close();
  expect(await schemaOf(location)).toEqual({ version: 1, families: ['S', 'V'] });

  const written = await LmdbTable.open(location, { families: ['S', 'T', 'V'] });
  await written.mutateRows([{ key: 'a', mutations: [set('1', 'older', 4), set('3', 'three', 7)] }]);
  expect(await lines(written)).toEqual(['a V:1=one@5 V:2=two@6 V:3=three@7']);
  await written.close();
  expect(await schemaOf(location)).toEqual({ version: 2, families: ['S', 'T', 'V'], hasOldCells: true });
});

test('conditions, counters and removals see cells of version 1', async () => {
  const made = await newStore();
  const count = Buffer.alloc(8);
  count.writeBigInt64BE(41n);
  await made.mutateRows([
    { key: 'a', mutations: [set('', 'empty', 5), set('n', count, 5), set('x', 'gone', 5)] },
    { key: 'b', mutations: [set('x', 'gone', 5)] },
  ]);
  await rewriteAsVersion1(made);
  const table = await LmdbTable.open(made.location, SCHEMA);
  expect(await table.incrementCell('a', 'V', 'n', 1)).toBe(42);
  const predicate = { family: 'V', qualifier: '', value: Buffer.from('empty') };
  expect(await table.checkAndMutateRow('a', predicate, thenDo(deleteCell('x')))).toBe(true);
  await table.mutateRows([{ key: 'b', mutations: [deleteCell('x')] }]);
  const found = [];
  for await (const rows of table.readRows({ prefix: '' })) {
    for (const { key, cells } of rows) for (const { qualifier } of cells) found.push(`${key}:${qualifier}`);
  }
  expect(found).toEqual(['a:', 'a:n']);
  await table.close();
});

test('whatever is written before and after, reads give what a plain map would', async () => {
  const isShort = ({ key }: { key: string }) => key.length < 2000;
  const calls = fc.array(fc.array(aRow.filter(isShort), { minLength: 1, maxLength: 4 }), { maxLength: 4 });
  const reads = fc.array(fc.tuple(aSelection, someOptions), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(calls, calls, reads, async (before, after, asked) => {
      const plain: Model = new Map();
      let table = await newStore();
      const write = async (all: typeof before) => {
        for (const rows of all) {
          await table.mutateRows(rows);
          for (const row of rows) apply(plain, row);
        }
      };
      await write(before);
      await rewriteAsVersion1(table);
      table = await LmdbTable.open(table.location, SCHEMA);
      const second = await LmdbTable.open(table.location, SCHEMA);
      expect(await lines(second)).toEqual(expected(plain, { prefix: '' }, {}));
      await write(after);
      for (const one of [table, second]) {
        expect(await lines(one)).toEqual(expected(plain, { prefix: '' }, {}));
        for (const [selection, options] of asked) {
          expect(await lines(one, selection, options)).toEqual(expected(plain, selection, options));
        }
      }
      await table.close();
      await second.close();
    }),
    { numRuns: samples(15, 60, 600) },
  );
});
