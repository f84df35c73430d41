// `spanline snapshot` of a process that is blocked in native code gives up in time, and names what is left to do.
import { once } from 'node:events';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildFirst, scratch, spanline } from '../support/spanline.js';
import { shopProcesses } from './support/shop-processes.js';

buildFirst();

const dir = scratch();
const { running } = shopProcesses(dir);

test('a process that is blocked in native code does not hold the command up, which names the way that is left', async () => {
  const files = join(dir, 'blocked');
  mkdirSync(files);
  const { pid, child } = await running({ flightRecorder: { file: files, maxBytes: 1 << 20 } }, 'block');
  const outcome = await spanline(['snapshot', pid, '-o', join(dir, 'blocked.flight'), '--timeout', '1']);
  expect(outcome).toMatchObject({
    code: 3,
    stdout: '',
    stderr: expect.stringContaining('spanline snapshot recover DIR'),
  });
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(readdirSync(files).length).toBeGreaterThan(0);
});
