// A process that goes on while its files are read moves rows from one to the other meanwhile: what had ended before is there all the same, once.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { loadFastCall } from '../../src/clock/binding.js';
import { recoverSnapshot } from '../../src/flight-recorder/index.js';
import { fakeTimers } from '../support/fake-timers.js';
import { flight, namesOf } from './support/flight.js';

const directory = mkdtempSync(join(tmpdir(), 'spanline-living-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** What goes on around the reading of each file; the mapped one is read when no other one is being read. */
const around: { before?: (file: string) => unknown; after?: () => void } = {};
vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>();
  const others: Promise<unknown>[] = [];
  const read = async (path: string): Promise<Buffer> => {
    around.before?.(basename(path));
    const bytes = await real.readFile(path);
    around.after?.();
    return bytes;
  };
  const readFile = async (path: string): Promise<Buffer> => {
    if (path.endsWith('-tail')) {
      await turn();
      await Promise.all(others.splice(0));
      return read(path);
    }
    const reading = read(path);
    others.push(reading.catch(() => {}));
    return reading;
  };
  return { ...real, readFile };
});
// What the recorder does five times a second is done here when the test says so.
beforeEach(() => fakeTimers('setInterval'));
afterEach(() => {
  delete around.before;
  delete around.after;
});

const hasAddon = loadFastCall().module?.mapFile !== undefined;

test.runIf(hasAddon)('rows that are put into a block between the reading of two files are there once', async () => {
  const place = mkdtempSync(join(directory, 'x'));
  const { root, recorder, collector } = flight({}, { file: place, maxBytes: 1 << 20 });
  const record = (name: string): void => {
    for (let i = 0; i < 500; i++) root(name).end();
  };
  record('in a block');
  collector.observeNow();
  record('in the mapped file');
  around.after = () => {
    collector.observeNow();
    // More than a file takes.
    for (let i = 0; i < 5; i++) record('later');
    collector.observeNow();
  };
  const recovered = await recoverSnapshot(place);
  recorder.stop();
  expect(readdirSync(place).length).toBeGreaterThan(1);
  const names = namesOf(recovered);
  expect(recovered.tornRows).toBe(0);
  for (const name of ['in a block', 'in the mapped file']) {
    expect([name, names.filter((one) => one === name).length]).toEqual([name, 500]);
  }
});

test('a file that the process deletes meanwhile is not an error', async () => {
  const place = mkdtempSync(join(directory, 'x'));
  const { root, recorder, collector } = flight({}, { file: place, maxBytes: 1 << 20 });
  for (let i = 0; i < 3000; i++) {
    root(i < 1500 ? 'old' : 'new').end();
    if (i % 500 === 499) collector.observeNow();
  }
  expect(readdirSync(place).filter((name) => name.endsWith('.rows')).length).toBeGreaterThan(1);
  around.before = (file) => {
    if (file.endsWith('-1.rows')) rmSync(join(place, file));
  };
  expect(new Set(namesOf(await recoverSnapshot(place)))).toContain('new');
  recorder.stop();
});
