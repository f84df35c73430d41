// The clock without the addon. performance.now() is CLOCK_MONOTONIC with real nanosecond digits, and cheaper than
// process.hrtime.bigint(), which makes a BigInt a reading (npm run bench -- clock).
import type { ClockAnchor } from './clock-types.js';

// As they were when the library was loaded: a test that fakes the timers of a program must not stop its traces.
const nowMs = performance.now.bind(performance);
const wallMs = Date.now;

/** Nanoseconds since this thread began. */
export const jsNow = (): number => nowMs() * 1e6;

// Date.now() has whole milliseconds; performance.timeOrigin carries the digits below, until the wall clock is stepped.
const MAX_APART_MS = 2;

export const jsAnchor = (): ClockAnchor => {
  // One reading for both: whatever comes between two would be an error of every timestamp.
  const sinceOrigin = nowMs();
  const coarse = wallMs();
  const fine = performance.timeOrigin + sinceOrigin;
  const sec = Math.floor(fine / 1000);
  const steppedMs = Math.abs(fine - coarse) > MAX_APART_MS ? coarse - Math.floor(fine) : 0;
  const ms = fine - sec * 1000 + steppedMs;
  const carry = Math.floor(ms / 1000);
  return {
    ticks: sinceOrigin * 1e6,
    unixSec: sec + carry,
    unixNano: Math.floor((ms - carry * 1000) * 1e6),
    nsPerTick: 1,
  };
};
