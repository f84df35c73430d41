// Traces that wait for a report, as numbers, and the sums of what they hold. The queue alone changes its sums; its bound is enforced by whoever reports.
// Must never hold an object a trace.
import { type TraceTable, TraceWord } from '../rows/trace-table.js';

const FIRST_CAPACITY = 64;

export class TraceQueue {
  // Outside the heap: an array that grows to thousands of numbers between two reports is copied by every collection of young objects.
  private numbers = new Int32Array(FIRST_CAPACITY);
  length = 0;
  spans = 0;
  bytes = 0;

  constructor(private readonly traces: TraceTable) {}

  add(number: number): void {
    if (this.length === this.numbers.length) this.lengthen();
    this.numbers[this.length++] = number;
    this.grew(this.traces.get(number, TraceWord.spans), this.traces.get(number, TraceWord.bytes));
  }

  /** A trace that waits here got more. */
  grew(spans: number, bytes: number): void {
    this.spans += spans;
    this.bytes += bytes;
  }

  /** Everything that waits; nothing does afterwards. */
  takeAll(): Int32Array {
    const numbers = this.numbers.slice(0, this.length);
    this.length = 0;
    this.spans = 0;
    this.bytes = 0;
    return numbers;
  }

  /** The oldest quarter: taking one at a time from the front would move the rest each time. */
  takeOldest(): Int32Array {
    const count = Math.ceil(this.length / 4);
    const numbers = this.numbers.slice(0, count);
    for (const number of numbers) this.left(number);
    this.numbers.copyWithin(0, count, this.length);
    this.length -= count;
    return numbers;
  }

  /** Take one out before its turn, which is rare: one that was reported early and is cancelled, or that goes another way. */
  remove(number: number): void {
    const at = this.numbers.subarray(0, this.length).lastIndexOf(number);
    this.numbers.copyWithin(at, at + 1, this.length);
    this.length--;
    this.left(number);
  }

  private left(number: number): void {
    this.grew(-this.traces.get(number, TraceWord.spans), -this.traces.get(number, TraceWord.bytes));
  }

  private lengthen(): void {
    const { numbers } = this;
    this.numbers = new Int32Array(numbers.length * 2);
    this.numbers.set(numbers);
  }
}
