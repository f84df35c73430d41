// How long to wait before the next attempt. Chance is part of it: callers that failed at the same moment must not all come back at the next.

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
