// Bounds how many queries are answered at a time. Others wait their turn, in the order they came, so many and so long; what is beyond is told
// to come again.
import { timers } from 'spanline/internal/base';
import { tryLater } from './http-error.js';

/** Bounds of a queue. */
export interface QueryLimits {
  readonly maxQueries: number;
  readonly maxWaitingQueries: number;
  readonly queryWaitMs: number;
}

/** One for a server. */
export class QueryQueue {
  readonly #limits: QueryLimits;
  #running = 0;
  readonly #waiters = new Set<() => void>();
  /** Queries that were refused for now. */
  refused = 0;

  constructor(limits: QueryLimits) {
    this.#limits = limits;
  }

  /** Queries that wait now. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /** Take a place, which must be given back. Rejects when there is none in time, or none is wanted any more. */
  async take(signal: AbortSignal): Promise<void> {
    const { maxQueries, maxWaitingQueries } = this.#limits;
    if (this.#running < maxQueries) {
      this.#running++;
      return;
    }
    if (this.#waiters.size >= maxWaitingQueries || !(await this.#turn(signal))) {
      this.refused++;
      throw tryLater(429, `${maxQueries} queries are being answered, and others wait: ask again later`);
    }
  }

  give(): void {
    const [next] = this.#waiters;
    // The place is handed on, not given back, when someone waits.
    if (next === undefined) this.#running--;
    else next();
  }

  /** False when it took too long. */
  #turn(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (hasPlace: boolean): void => {
        this.#waiters.delete(go);
        timers.clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        resolve(hasPlace);
      };
      const go = (): void => end(true);
      const giveUp = (): void => end(false);
      const timer = timers.setTimeout(giveUp, this.#limits.queryWaitMs);
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiters.add(go);
    });
  }
}
