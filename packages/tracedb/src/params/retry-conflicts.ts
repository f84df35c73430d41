// The loop of an optimistic update: read, write on condition that nobody wrote in between, and once more when somebody did. It must
// end: after a bounded number of attempts, at the deadline, or when the caller aborts.
import { type Backoff, backoffMs as waitMs } from 'spanline/internal/base';
import { TraceDbError } from '../tracedb-error.js';
import type { CallDeadline } from './call-deadline.js';

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
