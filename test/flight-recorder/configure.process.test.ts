// `configure` changes everything that it is asked to or, where one thing is wrong, nothing: also where that is seen only when files are opened.
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { snapshot } from '../../src/flight-recorder/index.js';
import { configure, defaultCollector, flush, Span, setReporter, stats } from '../../src/index.js';
import { namesOf } from './support/flight.js';

const directory = mkdtempSync(join(tmpdir(), 'spanline-configure-'));
// A recorder sees what waits for a report, also of the file that this worker ran before.
beforeAll(async () => {
  setReporter({ name: 'nowhere', report() {} });
  await flush();
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));
afterEach(() => configure({ flightRecorder: false }));

/** A directory that there is, in which no file can have a name: its path would be too long. */
const endless = (): string => {
  let path = join(directory, 'endless');
  while (path.length < 3900) path = join(path, 'x'.repeat(100));
  path = join(path, 'x'.repeat(4080 - path.length));
  mkdirSync(path, { recursive: true });
  return path;
};

const listeners = (): number =>
  ['SIGUSR2', 'exit', 'uncaughtExceptionMonitor'].reduce((sum, event) => sum + process.listenerCount(event), 0);

test.each([
  ['files that cannot be opened', { flightRecorder: { file: endless() } }, '"flightRecorder.file": ENAMETOOLONG'],
  ['an option of the collector', { flightRecorder: { minAgeMs: 5 }, reportIntervalMs: 0 }, '"reportIntervalMs"'],
  ['a switch', { flightRecorder: { minAgeMs: 5 }, disabled: 'no' as unknown as boolean }, '"disabled"'],
  ['an option of the recorder', { flightRecorder: { minAgeMs: 0 } }, '"flightRecorder.minAgeMs"'],
])('with %s wrong nothing changes', (_, wrong, message) => {
  const before = listeners();
  const place = join(directory, 'before');
  configure({ serviceName: 'before', flightRecorder: { file: place, triggers: { directory, crash: true } } });
  Span.root('one').end();
  const own = [defaultCollector().life.resource, listeners(), readdirSync(place)];
  const both = { ...wrong, serviceName: 'after' };
  expect(() => configure(both)).toThrow(
    expect.objectContaining({ code: 'ERR_SPANLINE_OPTION', message: expect.stringContaining(message) }),
  );
  expect([defaultCollector().life.resource, listeners(), readdirSync(place)]).toEqual(own);
  Span.root('two').end();
  expect(namesOf(snapshot())).toEqual(['one', 'two']);
  configure({ flightRecorder: false });
  expect(listeners()).toBe(before);
  expect(stats().flightRecorder).toBeUndefined();
});

test('of a recorder that another takes the place of nothing is left', () => {
  const before = listeners();
  const triggers = { directory, crash: true, signal: 'SIGUSR2' as const };
  configure({ flightRecorder: { triggers } });
  Span.root('one').end();
  configure({ flightRecorder: { triggers } });
  Span.root('two').end();
  // What waits for its report is seen by both.
  expect(namesOf(snapshot())).toEqual(['one', 'two']);
  configure({ flightRecorder: false });
  expect(listeners()).toBe(before);
  expect(Span.root('three').isRecording).toBe(true);
  expect(stats().flightRecorder).toBeUndefined();
});
