// A call that makes several calls of the table: its deadline and signal, and the loop of an optimistic update, which reads, writes on condition that
// nobody wrote in between, and does so once more when somebody did. The deadline must be taken once per call of the user: one that starts anew with
// every retry is none. The loop must end: after a bounded number of attempts, at the deadline, or when the caller aborts.
import { type Backoff, sleep, throwIfAborted, timers, backoffMs as waitMs } from 'spanline/internal/base';
import { DEFAULT_DEADLINE_MS } from '../table/call-guard.js';
import type { CallOptions } from '../table/wide-column-table.js';
import { aborted, invalidInput, TraceDbError } from '../tracedb-error.js';

/** What is left of the time of one call. */
export class CallDeadline {
  readonly signal: AbortSignal | undefined;
  readonly #endsAt: number;
  readonly #deadlineMs: number;
  readonly #what: string;

  /** `what` names the call in the errors. */
  constructor(what: string, { signal, deadlineMs = DEFAULT_DEADLINE_MS }: CallOptions = {}) {
    if (typeof deadlineMs !== 'number' || !(deadlineMs > 0)) {
      throw invalidInput(`deadlineMs of ${what} must be a number above 0, not ${deadlineMs}`);
    }
    this.#what = what;
    this.signal = signal;
    this.#deadlineMs = deadlineMs;
    this.#endsAt = timers.monotonicMs() + deadlineMs;
  }

  /** Options of the next call of the table; throws when the time is over or the caller has aborted. */
  next(): CallOptions {
    this.check();
    const deadlineMs = Math.max(1, Math.ceil(this.#endsAt - timers.monotonicMs()));
    return this.signal === undefined ? { deadlineMs } : { signal: this.signal, deadlineMs };
  }

  /** Throws `ERR_SPANLINE_ABORTED` or `ERR_SPANLINE_DEADLINE` when the call must not go on. */
  check(): void {
    throwIfAborted(this.signal, this.#what, aborted);
    if (timers.monotonicMs() >= this.#endsAt) {
      throw new TraceDbError(
        'ERR_SPANLINE_DEADLINE',
        `${this.#what} took longer than ${this.#deadlineMs} ms; pass a longer deadlineMs`,
      );
    }
  }

  /** Wait `ms`, but no longer than the deadline or the signal allow; throws as `check` does. */
  async sleep(ms: number): Promise<void> {
    this.check();
    const left = Math.max(0, this.#endsAt - timers.monotonicMs());
    // What ended it too early is told by the check.
    await sleep(Math.min(ms, left), this.signal).catch(() => undefined);
    this.check();
  }
}

/** How long to try. */
export interface RetryBounds {
  /** How often a conditional write is tried before `ERR_SPANLINE_CONFLICT`. Default 64. */
  readonly maxAttempts: number;
  /** Upper bound of the first wait after a refusal, in milliseconds; it doubles, up to 512 times it. Default 1. */
  readonly backoffMs: number;
}

export const DEFAULT_RETRY_BOUNDS: RetryBounds = { maxAttempts: 64, backoffMs: 1 };

const MAX_BACKOFF_FACTOR = 512;

/**
 * What `attempt` gives; it gives undefined when its conditional write was refused, and is called again. `what` is changed, for
 * the error `ERR_SPANLINE_CONFLICT` after the last attempt.
 */
export const retryConflicts = async <T>(
  what: string,
  attempt: (number: number) => Promise<T | undefined>,
  deadline: CallDeadline,
  { maxAttempts, backoffMs }: RetryBounds = DEFAULT_RETRY_BOUNDS,
): Promise<T> => {
  const waits: Backoff = { firstMs: backoffMs, maxMs: backoffMs * MAX_BACKOFF_FACTOR, jitter: 1 };
  for (let number = 1; number <= maxAttempts; number++) {
    // One refusal is a coincidence; from the second on there is a crowd, which a random wait spreads.
    if (number > 2) await deadline.sleep(waitMs(number - 2, waits));
    const result = await attempt(number);
    if (result !== undefined) return result;
  }
  throw new TraceDbError(
    'ERR_SPANLINE_CONFLICT',
    `${what} was changed by others in each of ${maxAttempts} attempts; write again later, or with fewer writers`,
  );
};
