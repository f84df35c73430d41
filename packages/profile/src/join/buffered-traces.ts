// Traces that wait for the profile of their time. Bounded by spans: when there are too many, the oldest go first.
import { timers } from 'spanline/internal/base';
import { type OwnedTrace, windowOfSpans } from './cpu-properties.js';

interface BufferedTrace extends OwnedTrace {
  readonly endNs: bigint;
  readonly sinceMs: number;
}

export class BufferedTraces {
  readonly #maxSpans: number;
  #buffered: BufferedTrace[] = [];
  #spans = 0;

  constructor(maxSpans: number) {
    this.#maxSpans = maxSpans;
  }

  get traceCount(): number {
    return this.#buffered.length;
  }

  get spanCount(): number {
    return this.#spans;
  }

  add(owned: OwnedTrace): void {
    this.#buffered.push({ ...owned, endNs: windowOfSpans(owned.trace.spans).toNs, sinceMs: timers.monotonicMs() });
    this.#spans += owned.trace.spanCount;
  }

  /** Those that ended before this moment. */
  takeEndedBefore(unixNs: bigint): OwnedTrace[] {
    return this.#take(({ endNs }) => endNs <= unixNs);
  }

  takeOlderThan(ms: number): OwnedTrace[] {
    const before = timers.monotonicMs() - ms;
    return this.#take(({ sinceMs }) => sinceMs <= before);
  }

  takeOverBound(): OwnedTrace[] {
    let over = this.#spans - this.#maxSpans;
    return this.#take(({ trace }) => {
      if (over <= 0) return false;
      over -= trace.spanCount;
      return true;
    });
  }

  takeAll(): OwnedTrace[] {
    return this.#take(() => true);
  }

  #take(isWanted: (trace: BufferedTrace) => boolean): OwnedTrace[] {
    const taken: BufferedTrace[] = [];
    const kept: BufferedTrace[] = [];
    for (const each of this.#buffered) (isWanted(each) ? taken : kept).push(each);
    this.#buffered = kept;
    for (const { trace } of taken) this.#spans -= trace.spanCount;
    return taken;
  }
}
