// While another process is stuck in the middle of a write, a write here waits no longer than its deadline or its signal allows and is
// then not made later; reads are not held up; and when the other is killed, its half-made write is gone and writing goes on.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { root } from '../../../../test/support/child.js';
import { openTable } from '../../src/table/open-table.js';
import type { RowMutation } from '../../src/table/wide-column-table.js';
import { bundleProgram, startProgram } from '../support/child.js';

const made: string[] = [];
afterAll(() => Promise.all(made.map((dir) => rm(dir, { recursive: true, force: true }))));

const row = (key: string, text: string): RowMutation => ({
  key,
  mutations: [{ type: 'set', family: 'V', qualifier: 'v', value: Buffer.from(text), timestampMs: 1 }],
});

test('a writer that is stuck, and then killed', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'spanline-stuck-'));
  made.push(directory);
  const table = await openTable(directory, { families: ['V'] });
  await table.mutateRows([row('a', 'before'), row('b', 'before')]);
  const child = startProgram(
    await bundleProgram(join(root, 'packages/tracedb/test/table/children/lmdb-stuck-writer.ts')),
    [directory],
  );
  await child.line((line) => line === 'inside');

  const abort = new AbortController();
  const late = table.mutateRows([row('late', 'no')], { deadlineMs: 50 });
  const aborted = table.incrementCell('aborted', 'V', 'n', 1, { signal: abort.signal });
  const patient = table.mutateRows([row('patient', 'yes')]);
  await expect(late).rejects.toMatchObject({ code: 'ERR_SPANLINE_DEADLINE' });
  abort.abort();
  await expect(aborted).rejects.toMatchObject({ code: 'ERR_SPANLINE_ABORTED' });
  const text = async (key: string) => Buffer.from((await table.readRow(key))?.cells[0]?.value ?? []).toString();
  expect([await text('a'), await text('b')]).toEqual(['before', 'before']);

  child.process.kill('SIGKILL');
  expect((await child.ended).signal).toBe('SIGKILL');
  await patient;
  const rows: string[] = [];
  for await (const keys of table.readKeys({ prefix: '' })) rows.push(...keys);
  expect(rows).toEqual(['a', 'b', 'patient']);
  expect([await text('a'), await text('b')]).toEqual(['before', 'before']);
  await table.close();
});
