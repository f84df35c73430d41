// A store that another process is just making and filling is never taken for a damaged one, at whatever moment it is looked at.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { checkDataFile } from '../../../src/tracedb/table/lmdb/data-file.js';
import { root } from '../../support/child.js';
import { bundleProgram, startProgram } from '../support/child.js';

const made: string[] = [];
afterAll(() => Promise.all(made.map((dir) => rm(dir, { recursive: true, force: true }))));

test('looked at all the time', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'spanline-young-'));
  made.push(dir);
  const store = join(dir, 'store');
  const child = await bundleProgram(join(root, 'test/tracedb/table/children/lmdb-fresh-stores.ts'));
  const writer = startProgram(child, [store, '20']);
  let isOver = false;
  void writer.ended.then(() => {
    isOver = true;
  });
  let looks = 0;
  while (!isOver) {
    // Several at once: a look is slow beside a write.
    await Promise.all([1, 2, 3, 4].map(() => checkDataFile(store)));
    looks += 4;
  }
  expect(await writer.ended).toEqual({ code: 0, signal: null });
  expect(looks).toBeGreaterThan(100);
});
