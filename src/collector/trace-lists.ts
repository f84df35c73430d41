// Where traces of a collector wait, as numbers of the table: open ones in order of age, finished ones for a report, and the sums of what they hold.
// A list alone changes its sums. trace-life alone decides which traces are in which; bounds are enforced by whoever looks at the sums. Nothing here
// may hold an object a trace.
import type { ClockAnchor } from '../clock/index.js';
import { type TraceTable, TraceWord } from '../rows/trace-table.js';

const NONE = -1;

export class OpenTraces {
  /** Numbers of the ends of the list; -1 when it is empty. */
  oldest = NONE;
  private newest = NONE;
  size = 0;
  bytes = 0;

  constructor(private readonly traces: TraceTable) {}

  /** The one that was opened next; -1 behind the newest. */
  after(number: number): number {
    return this.traces.get(number, TraceWord.newer);
  }

  add(number: number): void {
    const { traces, newest } = this;
    traces.set(number, TraceWord.older, newest);
    traces.set(number, TraceWord.newer, NONE);
    if (newest === NONE) this.oldest = number;
    else traces.set(newest, TraceWord.newer, number);
    this.newest = number;
    this.size++;
    this.bytes += traces.get(number, TraceWord.bytes);
  }

  /** Take one out, with what it holds. */
  remove(number: number): void {
    const { traces } = this;
    const older = traces.get(number, TraceWord.older);
    const newer = traces.get(number, TraceWord.newer);
    if (older === NONE) this.oldest = newer;
    else traces.set(older, TraceWord.newer, newer);
    if (newer === NONE) this.newest = older;
    else traces.set(newer, TraceWord.older, older);
    this.size--;
    this.bytes -= traces.get(number, TraceWord.bytes);
  }
}

/** Reports of some minutes under load, of a quarter of an hour without. */
const MAX_ANCHORS = 1024;

/**
 * The anchors of the last reports, oldest first: what comes late of a trace goes by the one that its first part went by, so that a step of the system
 * clock between them cannot tear the trace. A trace has no record of its reports; the one that took it is the first after its end.
 */
export class RecentAnchors {
  readonly #anchors: ClockAnchor[] = [];

  add(anchor: ClockAnchor): void {
    // Half at once: taking one at a time from the front would move the rest each time.
    if (this.#anchors.length === MAX_ANCHORS) this.#anchors.splice(0, MAX_ANCHORS / 2);
    this.#anchors.push(anchor);
  }

  get last(): ClockAnchor | undefined {
    return this.#anchors.at(-1);
  }

  /** The first one at or behind these ticks; undefined when there was no report since. Of a report that is forgotten the oldest one known. */
  since(ticks: number): ClockAnchor | undefined {
    let [low, high] = [0, this.#anchors.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#anchors[middle].ticks < ticks) low = middle + 1;
      else high = middle;
    }
    return this.#anchors[low];
  }
}

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
