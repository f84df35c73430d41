// A wrong option of the recorder is named with its place, and nothing is done with the others.
import { expect, test } from 'vitest';
import { type FlightRecorderOptions, resolveRecorder } from '../../src/flight-recorder/recorder-options.js';

test.each<[unknown, string]>([
  [null, 'Option "flightRecorder" must be an object, not null.'],
  [[], 'Option "flightRecorder" must be an object'],
  [{ maxAge: 1 }, 'Unknown option "flightRecorder.maxAge". Known: minAgeMs, maxBytes, file, triggers, lane'],
  [{ maxBytes: 1000 }, 'Option "flightRecorder.maxBytes"'],
  [{ lane: 'yes' }, 'Option "flightRecorder.lane"'],
  [{ file: '' }, 'Option "flightRecorder.file" must be a path that is not empty.'],
  [{ file: '/dev/null/x' }, 'Option "flightRecorder.file": ENOTDIR'],
  [{ triggers: [] }, 'Option "flightRecorder.triggers" must be an object'],
  [{ triggers: { slow: 1 } }, 'Unknown option "flightRecorder.triggers.slow". Known: slowMs, '],
  [{ triggers: { slowMs: 0 } }, 'Option "flightRecorder.triggers.slowMs"'],
  [{ triggers: { signal: 'USR2' } }, 'Option "flightRecorder.triggers.signal" must be the name of a signal'],
])('%j', (options, message) => {
  expect(() => resolveRecorder(options as FlightRecorderOptions)).toThrow(
    expect.objectContaining({ code: 'ERR_SPANLINE_OPTION', message: expect.stringContaining(message) }),
  );
});
