// Of one crash there is one file; one that ends the process while the file of another is being written has its own.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { readSnapshotFile, type SnapshotReason } from '../../src/flight-recorder/index.js';
import { resolveRecorder } from '../../src/flight-recorder/recorder-options.js';
import { Triggers } from '../../src/flight-recorder/triggers.js';
import { flight } from './support/flight.js';

const directory = mkdtempSync(join(tmpdir(), 'spanline-crash-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const crash = (text: string): SnapshotReason => ({ kind: 'uncaught-exception', text, traceId: '' });

/** What triggers write that are not started: they hear of nothing but what `see` tells them, in one turn of the event loop. */
const filesOf = async (see: (triggers: Triggers) => void): Promise<string[]> => {
  const place = mkdtempSync(join(directory, 'x'));
  const { root, recorder } = flight();
  root('one').end();
  const { triggers: options } = resolveRecorder({ triggers: { directory: place, crash: true } });
  const triggers = new Triggers(options, (reason) => recorder.snapshot(reason));
  see(triggers);
  await vi.waitUntil(() => !readdirSync(place).some((name) => name.endsWith('.tmp')), { timeout: 30_000 });
  recorder.stop();
  const read = await Promise.all(readdirSync(place).map((name) => readSnapshotFile(join(place, name))));
  return read.map(({ reason }) => `${reason.kind}: ${reason.text}`).sort();
};

test('a second one that nobody takes', async () => {
  const files = await filesOf((triggers) => {
    triggers.crashed(crash('taken'), false);
    triggers.crashed(crash('not taken'), true);
  });
  expect(files).toEqual(['uncaught-exception: not taken', 'uncaught-exception: taken']);
});

test('a second one for which the application exits', async () => {
  const files = await filesOf((triggers) => {
    triggers.crashed(crash('taken'), false);
    triggers.crashed(crash('exits'), false);
    triggers.exiting(1);
  });
  expect(files).toEqual(['uncaught-exception: exits', 'uncaught-exception: taken']);
});

test('the same one, whose listener throws it again or exits', async () => {
  for (const end of [
    (triggers: Triggers) => triggers.crashed(crash('one'), true),
    (triggers: Triggers) => triggers.exiting(1),
  ]) {
    const files = await filesOf((triggers) => {
      triggers.crashed(crash('one'), false);
      end(triggers);
    });
    expect(files).toEqual(['uncaught-exception: one']);
  }
});
