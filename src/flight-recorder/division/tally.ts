// Who had the loop in a stretch of time, summed: owners of a timeline by what they are to people. Must count each tick once.
import type { HotFrames, LoopHolder } from './division.js';
import type { DivisionIndex } from './division-index.js';
import { toUs } from './timed-span.js';
import { Owner, partOf } from './timeline.js';

interface Sum<T> {
  readonly what: T;
  ticks: number;
}

/** Adds up stretches of one window. */
export class Tally {
  gc = 0;
  holders = 0;
  untraced = 0;
  idle = 0;
  unknown = 0;
  readonly #byHolder = new Map<string, Sum<{ readonly name: string; readonly traceId: string }>>();
  readonly #byFrames = new Map<string, Sum<readonly string[]>>();
  readonly #index: DivisionIndex;

  constructor(index: DivisionIndex) {
    this.#index = index;
  }

  add(owner: number, ticks: number): void {
    if (owner === Owner.gc) this.gc += ticks;
    else if (owner === Owner.idle) this.idle += ticks;
    else if (owner === Owner.unknown) this.unknown += ticks;
    else this.#addWork(owner, ticks);
  }

  #addWork(owner: number, ticks: number): void {
    const part = partOf(owner);
    const { timeline, spans } = this.#index;
    const { name, traceId } = part < 0 ? spans[owner] : timeline.parts[part];
    if (part >= 0 && timeline.parts[part].spanId === '') {
      this.untraced += ticks;
      const { frames } = timeline.parts[part];
      if (frames.length > 0) addTo(this.#byFrames, frames.join('\n'), frames, ticks);
    } else {
      this.holders += ticks;
      addTo(this.#byHolder, `${traceId}${name}`, { name, traceId }, ticks);
    }
  }

  /** The spans that had most, at most `limit`. */
  longest(limit: number): LoopHolder[] {
    return most(this.#byHolder, limit).map(({ what, ticks }) => ({ ...what, us: toUs(ticks) }));
  }

  /** The stacks that took most of what no span covers. */
  hottest(limit: number): HotFrames[] {
    return most(this.#byFrames, limit).map(({ what, ticks }) => ({ frames: what, us: toUs(ticks) }));
  }
}

const addTo = <T>(sums: Map<string, Sum<T>>, key: string, what: T, ticks: number): void => {
  const sum = sums.get(key);
  if (sum === undefined) sums.set(key, { what, ticks });
  else sum.ticks += ticks;
};

/** The first that came of those that are alike: sorting keeps their order. */
const most = <T>(sums: ReadonlyMap<string, Sum<T>>, limit: number): Sum<T>[] =>
  [...sums.values()].sort((a, b) => b.ticks - a.ticks).slice(0, limit);
