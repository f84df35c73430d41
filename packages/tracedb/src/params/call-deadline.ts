// The deadline and the signal of a call that makes several calls of the table. It must be taken once per call of the user: a
// deadline that starts anew with every retry is none.
import { sleep, throwIfAborted, timers } from 'spanline/internal/base';
import type { CallOptions } from '../table/wide-column-table.js';
import { aborted, invalidInput, TraceDbError } from '../tracedb-error.js';

const DEFAULT_DEADLINE_MS = 60_000;

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
