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

test.each([
  ['slow', 'is none of'],
  ['slow=fast', 'is none of'],
  ['slow=0.5x', 'is none of'],
  ['error=1', 'is none of'],
  ['stall=3x', 'is none of'],
  ['nothing', 'is none of'],
  ['constructor', 'is none of'],
  ['signal=2', 'must be the name of a signal of this system, such as SIGUSR2'],
  ['signal=SIGFOO', 'must be the name of a signal of this system, such as SIGUSR2'],
  ['signal=SIGKILL', 'cannot be SIGKILL, for no process can listen to it: take another one, such as SIGUSR2'],
])('the trigger %s is warned of and left out', (word, why) => {
  const env = {
    SPANLINE_FLIGHT_RECORDER: 'on',
    SPANLINE_FLIGHT_DIRECTORY: 'snapshots',
    SPANLINE_FLIGHT_TRIGGERS: `crash,${word}`,
  };
  const { flightRecorder, warnings } = read(env);
  expect(flightRecorder).toEqual({ triggers: { directory: 'snapshots', crash: true } });
  expect(warnings).toEqual([expect.stringContaining(`SPANLINE_FLIGHT_TRIGGERS: ${word} ${why}`)]);
});

test.each(['crash', 'heap', 'signal=SIGUSR2', 'stall=200ms'])(
  'the trigger %s, which only writes files, is left out where they have no place',
  (word) => {
    const env = { SPANLINE_FLIGHT_RECORDER: 'on', SPANLINE_FLIGHT_TRIGGERS: `${word},slow=3x` };
    const { flightRecorder, warnings } = read(env);
    expect(flightRecorder).toEqual({ triggers: { timesUsual: 3 } });
    expect(warnings).toEqual([
      `SPANLINE_FLIGHT_TRIGGERS: ${word} needs SPANLINE_FLIGHT_DIRECTORY, where its files go; it is left out.`,
    ]);
  },
);
