// The clock without the addon keeps running in a program whose timers are faked, and follows a step of the wall clock.
import { afterEach, expect, test, vi } from 'vitest';
import { jsAnchor, jsNow } from '../../src/clock/clock.js';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const unixMs = ({ unixSec, unixNano }: { unixSec: number; unixNano: number }): number =>
  unixSec * 1000 + unixNano / 1e6;

test('faked timers of the program do not stop it', () => {
  const before = Date.now();
  vi.useFakeTimers({ now: 0, toFake: ['performance', 'Date'] });
  const first = jsNow();
  for (let i = 0; i < 1000; i++) jsNow();
  expect(jsNow()).toBeGreaterThan(first);
  expect(unixMs(jsAnchor())).toBeGreaterThan(before - 2);
});

/** The module as it is loaded in a program with this clock. */
const loadWith = async (stubs: () => void): Promise<typeof import('../../src/clock/clock.js')> => {
  vi.resetModules();
  stubs();
  return import('../../src/clock/clock.js');
};

test.each([3600_000, -3600_000, 1234])('a step of the wall clock by %i ms is followed', async (step) => {
  const real = Date.now;
  const { jsAnchor: anchor } = await loadWith(() => vi.spyOn(Date, 'now').mockImplementation(() => real() + step));
  const found = anchor();
  expect(Math.abs(unixMs(found) - (real() + step))).toBeLessThan(50);
  expect(found.unixNano).toBeGreaterThanOrEqual(0);
  expect(found.unixNano).toBeLessThan(1e9);
});

test('ticks and wall clock of an anchor are one reading', async () => {
  let ms = 1000;
  const { jsAnchor: anchor } = await loadWith(() => {
    // Preempted for 5 ms at every reading.
    vi.spyOn(performance, 'now').mockImplementation(() => (ms += 5));
    vi.spyOn(Date, 'now').mockImplementation(() => Math.floor(performance.timeOrigin + ms));
  });
  const found = anchor();
  expect(unixMs(found) - performance.timeOrigin - found.ticks / 1e6).toBeCloseTo(0, 2);
});
