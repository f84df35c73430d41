// A store that another process is just making and filling is never taken for a damaged one, at whatever moment it is looked at.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { root } from '../../../../test/support/child.js';
import { checkDataFile } from '../../src/table/lmdb/data-file.js';
import { bundleProgram, startProgram } from '../support/child.js';

const LOOKS = 1000;
const STORES = 20;

const made: string[] = [];
afterAll(() => Promise.all(made.map((dir) => rm(dir, { recursive: true, force: true }))));

test('looked at all the time', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'spanline-young-'));
  made.push(dir);
  const store = join(dir, 'store');
  const child = await bundleProgram(join(root, 'packages/tracedb/test/table/children/lmdb-fresh-stores.ts'));
  const writer = startProgram(child, [store]);
  for (let looks = 0; looks < LOOKS || writer.lines.length < STORES; looks += 4) {
    // Several at once: a look is slow beside a write.
    await Promise.all([1, 2, 3, 4].map(() => checkDataFile(store)));
  }
  expect(await writer.finish()).toEqual({ code: 0, signal: null });
});
