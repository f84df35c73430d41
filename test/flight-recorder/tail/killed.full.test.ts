// Who had the event loop of a process that was killed for standing still is in its files, and who waited.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { loadFastCall } from '../../../src/clock/binding.js';
import { breakdownIndexOf, recoverSnapshot, type Snapshot, stalls } from '../../../src/flight-recorder/index.js';
import { bundleChild, root as packageRoot } from '../../support/child.js';

const directory = mkdtempSync(join(tmpdir(), 'spanline-killed-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const hasAddon = loadFastCall().module?.mapFile !== undefined;

test.runIf(hasAddon)('who had the event loop of a process that was killed for standing still is there', async () => {
  const place = mkdtempSync(join(directory, 'x'));
  const script = await bundleChild(join(packageRoot, 'test/flight-recorder/children/stuck.ts'));
  const child = spawn(process.execPath, [script], {
    env: { ...process.env, FLIGHT_DIR: place },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  // Until somebody has looked and that is written, which takes a thread of its own and a second of the loop's: waited for and not timed.
  const longestUs = ({ timeline }: Snapshot): number =>
    Math.max(0, ...timeline.filter(({ kind }) => kind === 'busy').map(({ startUs, endUs }) => endUs - startUs));
  await vi.waitUntil(async () => longestUs(await recoverSnapshot(place)) > 1_500_000, {
    timeout: 50_000,
    interval: 200,
  });
  child.kill('SIGKILL');
  await once(child, 'close');
  const recovered = await recoverSnapshot(place);
  expect(
    [...recovered.traces()]
      .flatMap(({ spans }) => spans.filter(({ isOpen }) => isOpen).map(({ record }) => record.name))
      .sort(),
  ).toEqual(['GET /stuck', 'GET /waits']);
  const busy = recovered.timeline.filter(({ kind }) => kind === 'busy');
  // One stretch, however often it was written while it went on.
  expect(busy.filter((row, i) => i > 0 && row.startUs < busy[i - 1].endUs - 1000)).toEqual([]);
  const { startUs, endUs, parts } = busy[busy.length - 1];
  expect(endUs - startUs).toBeGreaterThan(900_000);
  const [{ name, frames }] = [...parts].sort((a, b) => b.endUs - b.startUs - (a.endUs - a.startUs));
  expect([name, frames[0]]).toEqual(['GET /stuck', expect.stringContaining('spinForEver')]);
  // And who waited for it.
  const [worst] = stalls(breakdownIndexOf(recovered));
  expect(worst.waiters.map((waiter) => waiter.name)).toContain('GET /waits');
});
