// Node's timers and clocks as they were when the library was loaded: fakes of those of a program must not stop its traces, nor make a
// `flush` wait for a time that never comes. From the module, not the globals: where a test runs in a browser's environment those have no `unref`.
// Nothing else in the library may read the globals (test/base/calls/timers.test.ts).
import { clearImmediate, clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } from 'node:timers';

export const timers = {
  setTimeout,
  clearTimeout,
  setInterval,
  clearInterval,
  setImmediate,
  clearImmediate,
  queueMicrotask,
  /** Milliseconds since this thread began, as `performance.now()`. */
  monotonicMs: performance.now.bind(performance),
  /** The same clock from another beginning, in nanoseconds, as `process.hrtime.bigint()`. */
  monotonicNs: process.hrtime.bigint,
  /** Unix milliseconds, as `Date.now()`. */
  wallMs: Date.now,
};
