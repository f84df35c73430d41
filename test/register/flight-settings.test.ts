// What the environment asks of the flight recorder, and what is said of values that cannot be meant.
import { expect, test } from 'vitest';
import { readSettings } from '../../src/register/settings.js';

const read = (env: NodeJS.ProcessEnv) => {
  const warnings: string[] = [];
  const { flightRecorder } = readSettings(env, (message) => warnings.push(message));
  return { flightRecorder, warnings };
};

test.each([
  [{}, undefined],
  [{ SPANLINE_FLIGHT_RECORDER: 'off' }, undefined],
  [{ SPANLINE_FLIGHT_TRIGGERS: 'error' }, undefined],
  [{ SPANLINE_FLIGHT_RECORDER: 'on' }, {}],
  [{ SPANLINE_FLIGHT_RECORDER: '60s,64MiB' }, { minAgeMs: 60_000, maxBytes: 64 * 2 ** 20 }],
  [{ SPANLINE_FLIGHT_RECORDER: '1.5m' }, { minAgeMs: 90_000 }],
  [{ SPANLINE_FLIGHT_RECORDER: 'on', SPANLINE_FLIGHT_ROOT_TIMES: 'true' }, { rootTimes: true }],
  [
    {
      SPANLINE_FLIGHT_RECORDER: '1GiB',
      SPANLINE_FLIGHT_FILE: '/var/flight',
      SPANLINE_FLIGHT_DIRECTORY: '/var/snapshots',
      SPANLINE_FLIGHT_TRIGGERS: 'slow=500ms,slow=3x,stall=0.2s,error,crash,heap,signal=SIGUSR2',
    },
    {
      maxBytes: 2 ** 30,
      file: '/var/flight',
      triggers: {
        directory: '/var/snapshots',
        slowMs: 500,
        timesUsual: 3,
        stallMs: 200,
        error: true,
        crash: true,
        heapLimit: true,
        signal: 'SIGUSR2',
      },
    },
  ],
])('%j', (env, expected) => {
  expect(read(env)).toEqual({ flightRecorder: expected, warnings: [] });
});

test.each(['60', '64MB', '10KiB', 'yes'])(
  'SPANLINE_FLIGHT_RECORDER=%s is warned of, and the defaults are used',
  (value) => {
    const { flightRecorder, warnings } = read({ SPANLINE_FLIGHT_RECORDER: value });
    expect(flightRecorder).toEqual({});
    expect(warnings).toEqual([expect.stringContaining(`SPANLINE_FLIGHT_RECORDER: ${value} is neither`)]);
  },
);

test.each(['slow', 'slow=fast', 'slow=0.5x', 'signal=2', 'error=1', 'stall=3x', 'nothing'])(
  'the trigger %s is warned of and left out',
  (word) => {
    const env = { SPANLINE_FLIGHT_RECORDER: 'on', SPANLINE_FLIGHT_TRIGGERS: `crash,${word}` };
    const { flightRecorder, warnings } = read(env);
    expect(flightRecorder).toEqual({ triggers: { crash: true } });
    expect(warnings).toEqual([expect.stringContaining(`SPANLINE_FLIGHT_TRIGGERS: ${word} is none of`)]);
  },
);
