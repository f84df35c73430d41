// The AbortSignal and the deadline of one call as one thing to ask. It must be disposed of, or its timer and listener stay.
import { abortedBy, onAbort, sleep, timers } from 'spanline/internal/base';
import { aborted, invalidInput, TraceDbError } from '../tracedb-error.js';
import type { CallOptions } from './wide-column-table.js';

/** The deadline of a call that names none, in milliseconds. */
export const DEFAULT_DEADLINE_MS = 60_000;

const MAX_TIMER_MS = 2 ** 31 - 1;

/** Watches the signal and the deadline of one call. */
export class CallGuard {
  /** Why the call must stop; undefined while it may go on. */
  stopped: TraceDbError | undefined;
  #onStop: ((error: TraceDbError) => void) | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #unlink: () => void = () => {};
  readonly #abort = (): void => this.#stop(abortedBy(this.#signal, this.what, aborted));

  /** @param what The call, for the error's message: `reading DIR`. */
  constructor(
    readonly what: string,
    { signal, deadlineMs = DEFAULT_DEADLINE_MS }: CallOptions = {},
  ) {
    if (typeof deadlineMs !== 'number' || !(deadlineMs > 0)) {
      throw invalidInput(`deadlineMs must be a number above 0, not ${String(deadlineMs)}`);
    }
    this.#signal = signal;
    if (signal?.aborted) {
      this.#abort();
      return;
    }
    this.#unlink = onAbort(signal, this.#abort);
    if (deadlineMs <= MAX_TIMER_MS) {
      this.#timer = timers
        .setTimeout(
          () =>
            this.#stop(
              new TraceDbError('ERR_SPANLINE_DEADLINE', `${what} took longer than its deadline of ${deadlineMs} ms`),
            ),
          deadlineMs,
        )
        .unref();
    }
  }

  /** Throws when the call must stop. */
  check(): void {
    if (this.stopped !== undefined) throw this.stopped;
  }

  /** Call `listener` when the call must stop, at once when it must already. One listener a guard. */
  whenStopped(listener: (error: TraceDbError) => void): void {
    if (this.stopped !== undefined) listener(this.stopped);
    else this.#onStop = listener;
  }

  /** Wait so many milliseconds; rejects when the call must stop. */
  sleep(ms: number): Promise<void> {
    const pause = new AbortController();
    this.whenStopped((error) => pause.abort(error));
    return sleep(ms, pause.signal);
  }

  dispose(): void {
    timers.clearTimeout(this.#timer);
    this.#unlink();
    this.#onStop = undefined;
  }

  #stop(error: TraceDbError): void {
    if (this.stopped !== undefined) return;
    this.stopped = error;
    timers.clearTimeout(this.#timer);
    this.#unlink();
    this.#onStop?.(error);
  }
}
