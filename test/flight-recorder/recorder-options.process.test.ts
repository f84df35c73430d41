// A wrong option of the recorder is named with its place, and nothing is done with the others.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type FlightRecorderOptions, resolveRecorder } from '../../src/flight-recorder/recorder-options.js';
import { whyNoSignal } from '../../src/flight-recorder/trigger-options.js';

const directory = mkdtempSync(join(tmpdir(), 'spanline-options-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const PLACE = { directory };

const refusal = (message: string): Error =>
  expect.objectContaining({ code: 'ERR_SPANLINE_OPTION', message: expect.stringContaining(message) });

test.each<[unknown, string]>([
  [null, 'Option "flightRecorder" must be an object, not null.'],
  [[], 'Option "flightRecorder" must be an object'],
  [{ maxAge: 1 }, 'Unknown option "flightRecorder.maxAge". Known: minAgeMs, maxBytes, file, triggers, timeline'],
  [{ maxBytes: 1000 }, 'Option "flightRecorder.maxBytes"'],
  [{ timeline: 'yes' }, 'Option "flightRecorder.timeline"'],
  [{ file: '' }, 'Option "flightRecorder.file" must be a path that is not empty.'],
  [{ file: '/dev/null/x' }, 'Option "flightRecorder.file": ENOTDIR'],
  [{ file: '/proc/x' }, 'Option "flightRecorder.file": ENOENT'],
  [{ triggers: { directory: '/proc/x' } }, 'Option "flightRecorder.triggers.directory": ENOENT'],
  [{ triggers: [] }, 'Option "flightRecorder.triggers" must be an object'],
  [{ triggers: { slow: 1 } }, 'Unknown option "flightRecorder.triggers.slow". Known: slowMs, '],
  [{ triggers: { slowMs: 0 } }, 'Option "flightRecorder.triggers.slowMs"'],
  [
    { timeline: false, rootTimes: true },
    'Option "flightRecorder.rootTimes" needs the event-loop timeline: leave out "timeline: false".',
  ],
  [
    { timeline: false, triggers: { ...PLACE, stallMs: 100 } },
    'Option "flightRecorder.triggers.stallMs" needs the event-loop timeline: leave out "timeline: false".',
  ],
  [{ triggers: { crash: true } }, 'Option "flightRecorder.triggers.crash" needs a place for its files: set "'],
  [{ triggers: { heapLimit: true } }, 'Option "flightRecorder.triggers.heapLimit" needs a place for its files'],
  [{ triggers: { stallMs: 5 } }, 'Option "flightRecorder.triggers.stallMs" needs a place for its files'],
  [{ triggers: { signal: 'SIGUSR2' } }, 'Option "flightRecorder.triggers.signal" needs a place for its files'],
])('%j', (options, message) => {
  expect(() => resolveRecorder(options as FlightRecorderOptions)).toThrow(refusal(message));
});

test.each([
  ['USR2', 'must be the name of a signal of this system, such as SIGUSR2.'],
  ['SIGFOO', 'must be the name of a signal of this system, such as SIGUSR2.'],
  [9, 'must be the name of a signal of this system, such as SIGUSR2.'],
  ['SIGKILL', 'cannot be SIGKILL, for no process can listen to it: take another one, such as SIGUSR2.'],
  ['SIGSTOP', 'cannot be SIGSTOP, for no process can listen to it: '],
  ['SIGUSR1', 'cannot be SIGUSR1, for it opens the inspector of Node: '],
  ['SIGSEGV', 'cannot be SIGSEGV, for no JavaScript may run after it: '],
  ['SIGTSTP', 'cannot be SIGTSTP, for it stops a process, which would go on if somebody listened: '],
  ['SIGPROF', 'cannot be SIGPROF, for CPU profiles need it: '],
])('a snapshot cannot be asked for by %s', (signal, message) => {
  const triggers = { ...PLACE, signal: signal as NodeJS.Signals };
  expect(() => resolveRecorder({ triggers })).toThrow(refusal(`Option "flightRecorder.triggers.signal" ${message}`));
});

test('every other signal of the system can be listened to', () => {
  const isFree = (name: string): boolean => whyNoSignal(name) === undefined;
  const names = Object.keys(constants.signals).filter(isFree) as NodeJS.Signals[];
  expect(names.length).toBeGreaterThan(15);
  for (const name of names) {
    const listener = (): void => {};
    process.on(name, listener);
    process.off(name, listener);
  }
});

test.each([
  [{ file: 'x' }, 'Option "flightRecorder.file" is for the main thread'],
  [{ rootTimes: true }, 'Option "flightRecorder.rootTimes" needs the event-loop timeline: a worker has none'],
  [
    { triggers: { ...PLACE, stallMs: 5 } },
    'Option "flightRecorder.triggers.stallMs" needs the event-loop timeline: a worker has none',
  ],
  [
    { triggers: { ...PLACE, signal: 'SIGTERM' as const } },
    'Option "flightRecorder.triggers.signal" is for the main thread',
  ],
])('in a worker %j is refused', (options, message) => {
  expect(() => resolveRecorder(options, false)).toThrow(refusal(message));
});

test('a worker has no timeline, for it would look as if it always waited', () => {
  expect(resolveRecorder({}, false).timeline).toBe(false);
  expect(resolveRecorder({}, true).timeline).toBe(true);
});

test('a directory is made last: of options that are refused nothing stays', () => {
  const place = join(directory, 'made');
  expect(() => resolveRecorder({ triggers: { directory: place }, file: '' })).toThrow(refusal('"flightRecorder.file"'));
  expect(existsSync(place)).toBe(false);
  resolveRecorder({ triggers: { directory: place } });
  expect(existsSync(place)).toBe(true);
});

test.skipIf(process.getuid?.() === 0)('a directory that may not be written to is refused', () => {
  const place = join(directory, 'closed');
  mkdirSync(place, { mode: 0o500 });
  const message = '; name a directory that may be written to.';
  expect(() => resolveRecorder({ triggers: { directory: place } })).toThrow(refusal(message));
});
