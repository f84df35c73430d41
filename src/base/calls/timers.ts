// Node's timers and clocks as they were when the library was loaded, and waits made of them: fakes of those of a program must not stop its traces, nor
// make a `flush` wait for a time that never comes. From the module, not the globals: where a test runs in a browser's environment those have no `unref`.
// Nothing else in the library may read the globals (test/base/calls/timers.test.ts). A wait must leave neither a timer nor a listener behind.
//
// Then long work in parts: in slices between which everything else runs, in sorting steps, with a bounded number of calls at a time. It must never
// read the clock for every span: a look costs as much as encoding a small one.
import { defaultMaxListeners, getMaxListeners, setMaxListeners } from 'node:events';
import { clearImmediate, clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } from 'node:timers';
import { attempt } from './attempt.js';

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

// Calls that share a signal are no leak, which Node warns of from eleven listeners on: each takes its own away when it ends.
const MAX_LISTENERS = 10_000;

const NOTHING = (): void => {};

/** Call `listener` when `signal` fires; gives what takes it away again. */
export const onAbort = (signal: AbortSignal | undefined, listener: () => void): (() => void) => {
  if (signal === undefined) return NOTHING;
  // One that is not Node's throws, and does not warn.
  attempt(() => {
    if (getMaxListeners(signal) === defaultMaxListeners) setMaxListeners(MAX_LISTENERS, signal);
  });
  signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
};

/** Resolves after `ms`; rejects with the signal's reason when it fires before that. The pause keeps the process alive. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = (): void => {
      timers.clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = timers.setTimeout(() => {
      unlink();
      resolve();
    }, timerMs(ms));
    const unlink = onAbort(signal, stop);
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

/** What `work` comes to; rejects with the signal's reason when it fires before that. */
export const unlessAborted = <T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> => {
  if (signal === undefined) return work;
  // What was given up may still fail, with nobody to hear it.
  work.catch(() => undefined);
  return new Promise((resolve, reject) => {
    const end = (): void => reject(signal.reason);
    if (signal.aborted) end();
    work.then(resolve, reject).finally(onAbort(signal, end));
  });
};

/** Whether `value` can be waited for. */
export const isThenable = (value: unknown): value is PromiseLike<unknown> => {
  // Without a closure: it is asked of each call that is traced.
  try {
    return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function';
  } catch {
    return false;
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

/** Below the 2 ms that exporting may hold the loop: the last step of a slice begins before its end. */
const SLICE_MS = 1.5;
/** Work between two looks at the clock: 16 spans of ordinary size, or one of 16 KiB. */
const LOOK_EVERY = 16;
const BYTES_PER_UNIT = 1024;

/** One stretch of work cut into slices. Make one for each report. */
export class Slices {
  #end = timers.monotonicMs() + SLICE_MS;
  #units = 0;

  /** Count one step, and the bytes it wrote. True when it is time for {@link Slices.next}. */
  isOver(bytes = 0): boolean {
    this.#units += 1 + bytes / BYTES_PER_UNIT;
    if (this.#units < LOOK_EVERY) return false;
    this.#units = 0;
    return this.isPast;
  }

  /** True when it is time for {@link Slices.next}: a look at the clock. */
  get isPast(): boolean {
    return timers.monotonicMs() >= this.#end;
  }

  /** Lets the event loop go round once and begins the next slice. */
  async next(): Promise<void> {
    await new Promise<void>((resolve) => timers.setImmediate(resolve));
    this.#units = 0;
    this.#end = timers.monotonicMs() + SLICE_MS;
  }
}

/** Calls `step` for 0 to `count` - 1 in slices. `step` may return the bytes it wrote. Rejects with the signal's reason. */
export const inSlices = async (
  count: number,
  step: (index: number) => number | undefined,
  signal?: AbortSignal,
): Promise<void> => {
  const slices = new Slices();
  for (let i = 0; i < count; i++) {
    if (!slices.isOver(step(i))) continue;
    await slices.next();
    signal?.throwIfAborted();
  }
};

/** Sorted at once, and merged between two steps. */
const STEP = 512;

/** Merge two runs of `order` that follow one another into `to`. */
const merge = function* (
  keys: ArrayLike<number>,
  order: Int32Array,
  to: Int32Array,
  [from, middle, end]: readonly [number, number, number],
): Generator<undefined> {
  let [left, right] = [from, middle];
  for (let at = from; at < end; at++) {
    const isLeft = right >= end || (left < middle && keys[order[left]] <= keys[order[right]]);
    to[at] = isLeft ? order[left++] : order[right++];
    if (at % STEP === 0) yield;
  }
};

/** The places of `keys` from the least key to the greatest; equal ones as they stand. */
export const orderInSteps = function* (keys: ArrayLike<number>): Generator<undefined, Int32Array> {
  const { length } = keys;
  let order = new Int32Array(length);
  for (let from = 0; from < length; from += STEP) {
    const end = Math.min(from + STEP, length);
    for (let at = from; at < end; at++) order[at] = at;
    order.subarray(from, end).sort((a, b) => keys[a] - keys[b] || a - b);
    yield;
  }
  let to = new Int32Array(length > STEP ? length : 0);
  for (let width = STEP; width < length; width *= 2) {
    for (let from = 0; from < length; from += width * 2)
      yield* merge(keys, order, to, [from, Math.min(from + width, length), Math.min(from + width * 2, length)]);
    [order, to] = [to, order];
  }
  return order;
};

/** Runs `work` for every item, at most `limit` at a time; rejects with the first error once all that had started are over. */
export const inParallel = async <T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const iterator = items[Symbol.iterator]();
  const failures: unknown[] = [];
  const worker = async (): Promise<void> => {
    while (failures.length === 0) {
      const next = iterator.next();
      if (next.done === true) return;
      try {
        await work(next.value);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: limit }, worker));
  if (failures.length > 0) throw failures[0];
};

/** The parts of `list`, each of `size` or, the last one, fewer. */
export const chunks = function* <T>(list: readonly T[], size: number): Generator<readonly T[]> {
  for (let from = 0; from < list.length; from += size) yield list.slice(from, from + size);
};
