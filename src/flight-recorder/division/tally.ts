// Who had the loop in a stretch of time, summed: owners of a timeline by what they are to people. Must count each tick once.
import type { LanePart } from '../lane/lane-row.js';
import type { HotFrames, LoopHolder, PoolWait } from './division.js';
import { Owner, partOf } from './lane-layers.js';
import { restOf } from './rests.js';

interface Sum<T> {
  readonly what: T;
  time: number;
}

/** What the numbers of owners stand for. */
export interface Owners {
  readonly spans: readonly Pick<LoopHolder, 'name' | 'traceId'>[];
  readonly parts: readonly LanePart[];
  /** What was in the thread pool, by the numbers of rests. */
  readonly pools: readonly string[];
}

/** Adds up stretches of one window, in whole units of time, of which a microsecond has `unitsPerUs`. */
export class Tally {
  gc = 0;
  holders = 0;
  untraced = 0;
  idle = 0;
  /** Of `idle`: the thread pool was full. */
  pool = 0;
  unknown = 0;
  readonly #byHolder = new Map<string, Sum<{ readonly name: string; readonly traceId: string }>>();
  readonly #byFrames = new Map<string, Sum<readonly string[]>>();
  readonly #byPool = new Map<string, Sum<string>>();
  readonly #owners: Owners;
  readonly #unitsPerUs: number;

  constructor(owners: Owners, unitsPerUs: number) {
    this.#owners = owners;
    this.#unitsPerUs = unitsPerUs;
  }

  add(owner: number, time: number): void {
    if (owner === Owner.gc) this.gc += time;
    else if (owner === Owner.idle) this.idle += time;
    else if (owner === Owner.unknown) this.unknown += time;
    else if (restOf(owner) >= 0) this.#addRest(this.#owners.pools[restOf(owner)], time);
    else this.#addWork(owner, time);
  }

  #addRest(requests: string, time: number): void {
    this.idle += time;
    this.pool += time;
    addTo(this.#byPool, requests, requests, time);
  }

  #addWork(owner: number, time: number): void {
    const part = partOf(owner);
    const { parts, spans } = this.#owners;
    const { name, traceId } = part < 0 ? spans[owner] : parts[part];
    if (part >= 0 && parts[part].spanId === '') {
      this.untraced += time;
      const { frames } = parts[part];
      if (frames.length > 0) addTo(this.#byFrames, frames.join('\n'), frames, time);
    } else {
      this.holders += time;
      addTo(this.#byHolder, `${traceId}${name}`, { name, traceId }, time);
    }
  }

  /** The spans that had most, at most `limit`. */
  longest(limit: number): LoopHolder[] {
    return most(this.#byHolder, limit).map(({ what, time }) => ({ ...what, us: time / this.#unitsPerUs }));
  }

  /** The stacks that took most of what no span covers. */
  hottest(limit: number): HotFrames[] {
    return most(this.#byFrames, limit).map(({ what, time }) => ({ frames: what, us: time / this.#unitsPerUs }));
  }

  /** What was in the thread pool longest while it was full. */
  fullest(limit: number): PoolWait[] {
    return most(this.#byPool, limit).map(({ what, time }) => ({ requests: what, us: time / this.#unitsPerUs }));
  }
}

const addTo = <T>(sums: Map<string, Sum<T>>, key: string, what: T, time: number): void => {
  const sum = sums.get(key);
  if (sum === undefined) sums.set(key, { what, time });
  else sum.time += time;
};

/** The first that came of those that are alike: sorting keeps their order. */
const most = <T>(sums: ReadonlyMap<string, Sum<T>>, limit: number): Sum<T>[] =>
  [...sums.values()].sort((a, b) => b.time - a.time).slice(0, limit);
