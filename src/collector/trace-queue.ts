// Traces that wait for a report, as numbers, and the sums of what they hold. The queue alone changes its sums; its bound is enforced by whoever reports.
// Must never hold an object a trace.
import { type TraceTable, TraceWord } from '../rows/trace-table.js';

export class TraceQueue {
  private readonly numbers: number[] = [];
  spans = 0;
  bytes = 0;

  constructor(private readonly traces: TraceTable) {}

  get length(): number {
    return this.numbers.length;
  }

  add(number: number): void {
    this.numbers.push(number);
    this.grew(this.traces.get(number, TraceWord.spans), this.traces.get(number, TraceWord.bytes));
  }

  /** A trace that waits here got more. */
  grew(spans: number, bytes: number): void {
    this.spans += spans;
    this.bytes += bytes;
  }

  /** Everything that waits; nothing does afterwards. */
  takeAll(): number[] {
    // Out of the same array: it stays as large as it has to be.
    const numbers = this.numbers.splice(0);
    this.spans = 0;
    this.bytes = 0;
    return numbers;
  }

  /** The oldest quarter: taking one at a time from the front of an array would move the rest each time. */
  takeOldest(): readonly number[] {
    const numbers = this.numbers.splice(0, Math.ceil(this.numbers.length / 4));
    for (const number of numbers) this.left(number);
    return numbers;
  }

  /** Take one out before its turn, which is rare: one that was reported early and is cancelled, or that goes another way. */
  remove(number: number): void {
    this.numbers.splice(this.numbers.lastIndexOf(number), 1);
    this.left(number);
  }

  private left(number: number): void {
    this.grew(-this.traces.get(number, TraceWord.spans), -this.traces.get(number, TraceWord.bytes));
  }
}
