// The anchors of the last reports, oldest first: what comes late of a trace goes by the one that its first part went by, so that a step of the system clock
// between them cannot tear the trace. A trace has no record of its reports; the one that took it is the first after its end.
import type { ClockAnchor } from '../clock/index.js';

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
