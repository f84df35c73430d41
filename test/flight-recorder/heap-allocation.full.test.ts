// A heap that is full leaves a snapshot, though no JavaScript runs any more. All other ways to fill it: heap.full.test.ts; this one runs on each line
// of Node, whose V8 decides.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readSnapshotFile } from '../../src/flight-recorder/index.js';
import { clockInfo } from '../../src/index.js';
import { bundleChild, root as packageRoot, runFile } from '../support/child.js';
import { namesOf } from './support/flight.js';

const directory = mkdtempSync(join(tmpdir(), 'spanline-heap-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test.skipIf(clockInfo().path !== 'fast')('one allocation that is too large leaves all that has ended', async () => {
  const place = mkdtempSync(join(directory, 'x'));
  const { signal, stdout, stderr } = await runFile(
    await bundleChild(join(packageRoot, 'test/flight-recorder/children/heap.ts')),
    {
      env: { FLIGHT_DIR: place, FLIGHT_FILL: 'one allocation' },
      execArgv: ['--max-old-space-size=120', `--diagnostic-dir=${mkdtempSync(join(directory, 'd'))}`],
    },
  );
  expect([signal, stderr]).toEqual(['SIGABRT', expect.stringContaining('JavaScript heap out of memory')]);
  const [file, ...more] = readdirSync(place);
  expect(more).toEqual([]);
  const snapshot = await readSnapshotFile(join(place, file));
  expect(snapshot).toMatchObject({ reason: { kind: 'heap-limit', text: 'the heap was full' }, tornRows: 0 });
  const ended = [...stdout.matchAll(/^(\d+) \d+$/gm)].map(([, n]) => `request ${n}`);
  expect(namesOf(snapshot).filter((name) => name.startsWith('request'))).toEqual(ended);
  expect(ended.length).toBe(100);
});
