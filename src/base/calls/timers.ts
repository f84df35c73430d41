// Node's timers and clocks as they were when the library was loaded, and waits made of them: fakes of those of a program must not stop its traces, nor
// make a `flush` wait for a time that never comes. From the module, not the globals: where a test runs in a browser's environment those have no `unref`.
// Nothing else in the library may read the globals (test/base/calls/timers.test.ts). A wait must leave neither a timer nor a listener behind.
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

const LONGEST_MS = 2 ** 31 - 1;

/** `ms` within what `setTimeout` can wait. */
export const timerMs = (ms: number): number => Math.min(Math.max(ms, 0), LONGEST_MS);

/** Resolves after `ms`; rejects with the signal's reason when it fires before that. The pause keeps the process alive. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = (): void => {
      timers.clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = timers.setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, timerMs(ms));
    signal?.addEventListener('abort', stop, { once: true });
  });

/** Resolves when `work` has settled, at the latest after `ms`; rejects only as the work does. The wait keeps the process alive. */
export const within = async (ms: number, work: Promise<unknown>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<void>((resolve) => {
    timer = timers.setTimeout(resolve, timerMs(ms));
  });
  try {
    await Promise.race([work, timedOut]);
  } finally {
    timers.clearTimeout(timer);
  }
};

/** Exponential growth of the waits between attempts. */
export interface Backoff {
  /** Milliseconds after the first failure. */
  readonly firstMs: number;
  /** The longest wait. */
  readonly maxMs: number;
  /** The share of a wait that is left to chance, 0 to 1. Default 0.5: at least half of it is waited. */
  readonly jitter?: number;
}

/** Milliseconds to wait after the `failures`-th failure in a row, counted from 1. */
export const backoffMs = (failures: number, { firstMs, maxMs, jitter = 0.5 }: Backoff): number =>
  Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 1000)) * (1 - jitter * Math.random());
