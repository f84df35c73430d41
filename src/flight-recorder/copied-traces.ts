// Traces of rows that are in no store: a table of their own for the rows of one block, which is made anew for the next.
import { TraceBit, type TraceKey, TraceTable } from '../rows/trace-table.js';

export class CopiedTraces {
  readonly #numbers = new Map<unknown, number>();
  table = new TraceTable();

  /** The number of a trace here; `of` distinguishes it from the others. */
  numberOf(of: unknown, key: TraceKey, resource: unknown, isSampled: boolean): number {
    let number = this.#numbers.get(of);
    if (number === undefined) {
      number = this.table.acquire(key, resource, isSampled ? TraceBit.sampled : 0);
      this.#numbers.set(of, number);
    }
    return number;
  }

  clear(): void {
    this.#numbers.clear();
    this.table = new TraceTable();
  }
}
