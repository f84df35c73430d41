// Bounds the number of reads that the queries on one table hold open. A merge waits for all its streams, so a query must get all its slots at
// once: two that each held a half would wait for each other for ever.
import type { WideColumnTable } from '../table/wide-column-table.js';
import { invalidInput } from '../tracedb-error.js';

/** Streams open at a time on one table, below the hundred that a gRPC channel carries. */
export const MAX_OPEN_LEAVES = 64;

interface Waiting {
  readonly slots: number;
  readonly start: () => void;
}

/** The slots of one table. */
export class ReadSlots {
  #free = MAX_OPEN_LEAVES;
  readonly #queue: Waiting[] = [];
  #waited = 0;

  /** Wait for `slots` in the order of asking; call the result to give them back. */
  async take(slots: number, signal: AbortSignal): Promise<() => void> {
    if (slots > MAX_OPEN_LEAVES) {
      throw invalidInput(
        `a query needs ${slots} streams at once, and ${MAX_OPEN_LEAVES} is the limit; use fewer shards`,
      );
    }
    if (this.#queue.length > 0 || this.#free < slots) {
      this.#waited++;
      await this.#wait(slots, signal);
    } else {
      this.#free -= slots;
    }
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#free += slots;
      this.#startNext();
    };
  }

  stats(): { readonly open: number; readonly waiting: number; readonly waited: number } {
    return { open: MAX_OPEN_LEAVES - this.#free, waiting: this.#queue.length, waited: this.#waited };
  }

  #wait(slots: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        slots,
        start: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      const leave = (): void => {
        const at = this.#queue.indexOf(waiting);
        if (at !== -1) this.#queue.splice(at, 1);
        reject(signal.reason as Error);
        // The one behind may need less.
        this.#startNext();
      };
      signal.addEventListener('abort', leave, { once: true });
      if (signal.aborted) {
        leave();
        return;
      }
      this.#queue.push(waiting);
    });
  }

  #startNext(): void {
    for (let next = this.#queue[0]; next !== undefined && next.slots <= this.#free; next = this.#queue[0]) {
      this.#queue.shift();
      this.#free -= next.slots;
      next.start();
    }
  }
}

const slotsOfTables = new WeakMap<WideColumnTable, ReadSlots>();

/** The slots that all queries on `table` share. */
export const readSlotsOf = (table: WideColumnTable): ReadSlots => {
  let slots = slotsOfTables.get(table);
  if (slots === undefined) {
    slots = new ReadSlots();
    slotsOfTables.set(table, slots);
  }
  return slots;
};
