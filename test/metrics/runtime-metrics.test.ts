// What the process says of itself: how late the event loop was, without the time between two looks at it, and nothing where nobody has looked yet.
import type { IntervalHistogram } from 'node:perf_hooks';
import { expect, onTestFinished, test } from 'vitest';
import { Instruments, Reader } from '../../src/metrics/reader.js';
import { measureRuntime } from '../../src/metrics/runtime-metrics.js';

const delays = (reader: Reader): Record<string, number> =>
  Object.fromEntries(
    reader
      .read()
      .filter(({ instrument }) => instrument.name.startsWith('nodejs.eventloop.delay.'))
      .map(({ instrument, points }) => [instrument.name.replace('nodejs.eventloop.delay.', ''), [...points][0].value]),
  );

test('the delay is what a look is late, and is counted anew by each reading', () => {
  const seen = { count: 0, resets: 0, isOn: false, resolution: 0 };
  const monitor = ({ resolution = 0 } = {}): IntervalHistogram => {
    seen.resolution = resolution * 1e6;
    return {
      ...{ min: seen.resolution - 1e6, max: seen.resolution + 300e6, mean: seen.resolution + 2e6, stddev: 4e6 },
      get count() {
        return seen.count;
      },
      percentile: (share: number) => seen.resolution + share * 1e6,
      reset: () => seen.resets++,
      enable: () => {
        seen.isOn = true;
        return true;
      },
      disable: () => {
        seen.isOn = false;
        return true;
      },
    } as unknown as IntervalHistogram;
  };
  const instruments = new Instruments();
  const stop = measureRuntime(instruments, monitor);
  onTestFinished(stop);
  const reader = new Reader(instruments, 'cumulative');
  expect(delays(reader)).toEqual({});
  seen.count = 3;
  expect(delays(reader)).toEqual({ min: 0, max: 0.3, mean: 0.002, stddev: 0.004, p50: 0.05, p90: 0.09, p99: 0.099 });
  expect([seen.isOn, seen.resets]).toEqual([true, 1]);
  stop();
  expect(seen.isOn).toBe(false);
});
