// A process that opens a store may hide the newest commit from all others, by a defect of the engine. Here another process does by hand
// what such an opening does at the wrong moment; nothing that was acknowledged may be lost.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { LmdbTable } from '../../../src/table/lmdb/lmdb-table.js';
import { storeFolder } from '../../support/store-folder.js';
import { keys, set } from '../conformance/suite.js';

const folder = storeFolder('spanline-hidden-');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SCHEMA = { families: ['V'] };
const NEWEST = 8;

/** In a process of its own: closing a descriptor of the lock file here would give up the engine's locks. */
const hide = (location: string, commits: number): void => {
  const code = `const fs = require('node:fs'); const fd = fs.openSync(process.argv[1], 'r+'); const b = Buffer.alloc(8);
    fs.readSync(fd, b, 0, 8, ${NEWEST}); b.writeBigUInt64LE(b.readBigUInt64LE(0) - ${commits}n, 0); fs.writeSync(fd, b, 0, 8, ${NEWEST});`;
  expect(spawnSync(process.execPath, ['-e', code, join(location, 'lock.mdb')], { encoding: 'utf8' }).stderr).toBe('');
};

const write = (table: LmdbTable, key: string) => table.mutateRows([{ key, mutations: [set('a', 'value', 1)] }]);

test.each([1, 2, 7])('a write after %i commits were hidden keeps them', async (commits) => {
  const table = await LmdbTable.open(join(folder, `write-${commits}`), SCHEMA);
  for (let i = 0; i < 10; i++) await write(table, `row-${i}`);
  hide(table.location, commits);
  await Promise.all(['x', 'y', 'z'].map((key) => write(table, key)));
  expect(await table.incrementCell('count', 'V', 'n', 5)).toBe(5);
  expect(await keys(table)).toEqual(['count', ...Array.from({ length: 10 }, (_, i) => `row-${i}`), 'x', 'y', 'z']);
  await table.close();
});

test('what is read after an opening is the newest commit', async () => {
  const location = join(folder, 'read');
  const table = await LmdbTable.open(location, SCHEMA);
  for (let i = 0; i < 5; i++) await write(table, `row-${i}`);
  hide(location, 1);
  const again = await LmdbTable.open(location, SCHEMA);
  expect((await keys(again)).length).toBe(5);
  await again.close();
  await table.close();
  const lock = readFileSync(join(location, 'lock.mdb'));
  expect(lock.readUInt32LE(0)).toBe(0xbeefc0de);
});
