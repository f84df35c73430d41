// A store grows far beyond the memory map it was opened with while scans are held open, here and in another process: they go on
// with what they began with, and later ones see everything.
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { root } from '../../../../test/support/child.js';
import { openTable } from '../../src/table/open-table.js';
import type { Row, RowMutation } from '../../src/table/wide-column-table.js';
import { bundleProgram, startProgram } from '../support/child.js';

const FIRST_ROWS = 2000;
const BATCHES = 24;
const BATCH_ROWS = 500;
const VALUE_BYTES = 4000;
const MIN_FILE_BYTES = 40_000_000;

const made: string[] = [];
afterAll(() => Promise.all(made.map((dir) => rm(dir, { recursive: true, force: true }))));

const rowsOf = (batch: string, count: number, value: Uint8Array): RowMutation[] =>
  Array.from({ length: count }, (_, i) => ({
    // Among the first rows, so that the scans that are open walk where pages are split.
    key: `r${String(i).padStart(5, '0')}-${batch}`,
    mutations: [{ type: 'set', family: 'V', qualifier: 'v', value, timestampMs: 1 }],
  }));

test('the map grows under open scans', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'spanline-growth-'));
  made.push(directory);
  const table = await openTable(directory, { families: ['V'] });
  await table.mutateRows(rowsOf('first', FIRST_ROWS, Buffer.alloc(20, 1)));
  const buffered = table.readRows({ prefix: '' });
  const seen: Row[] = [...((await buffered.next()).value ?? [])];
  const program = await bundleProgram(join(root, 'packages/tracedb/test/table/children/lmdb-held-scan.ts'));
  const child = startProgram(program, [directory]);
  await child.line((line) => line === 'open');

  for (let batch = 0; batch < BATCHES; batch++) {
    await table.mutateRows(rowsOf(`b${batch}`, BATCH_ROWS, Buffer.alloc(VALUE_BYTES, batch)));
  }
  expect((await stat(join(directory, 'data.mdb'))).size).toBeGreaterThan(MIN_FILE_BYTES);

  for await (const rows of buffered) seen.push(...rows);
  expect(seen.map(({ key }) => key)).toEqual(rowsOf('first', FIRST_ROWS, Buffer.alloc(0)).map(({ key }) => key));
  expect(seen.every(({ cells }) => cells.length === 1 && cells[0]?.value.every((byte) => byte === 1))).toBe(true);

  const all = FIRST_ROWS + BATCHES * BATCH_ROWS;
  let now = 0;
  for await (const rows of table.readRows({ prefix: '' })) {
    now += rows.length;
    for (const { key, cells } of rows) {
      const batch = key.split('-')[1] as string;
      const [cell] = cells;
      const [length, byte] = batch === 'first' ? [20, 1] : [VALUE_BYTES, Number(batch.slice(1))];
      if (cell?.value.length !== length || cell.value[length - 1] !== byte)
        throw new Error(`row ${key} is not as written`);
    }
  }
  expect(now).toBe(all);
  expect(table.stats().openReads).toBe(0);

  child.process.stdin?.write('go on\n');
  expect({ ...(await child.ended), stderr: child.stderr() }).toEqual({ code: 0, signal: null, stderr: '' });
  expect(JSON.parse(child.lines.at(-1) ?? '')).toEqual({ before: FIRST_ROWS, after: all });
  await table.close();
});
