// The open traces of a collector in order of age, and what they hold: a list through the words of the table, so that opening and closing a trace cost no
// look-up. trace-life alone decides which traces are in it; what bounds open traces, by number or bytes, looks at `oldest`.
//
// The anchors of the last reports, oldest first: what comes late of a trace goes by the one that its first part went by, so that a step of the system clock
// between them cannot tear the trace. A trace has no record of its reports; the one that took it is the first after its end.

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
