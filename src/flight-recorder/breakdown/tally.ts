// The breakdown of the time of a span, and the owners of the loop in a stretch of time, summed by what they are to people. Must count each tick
// once.

import type { TimelinePart } from '../timeline/timeline-row.js';
import { TICKS_PER_US } from './stretches.js';
import { Owner, partOf, type Rest, restOf, type UnclaimedTimes } from './timeline-layers.js';

/** A span that had the event loop; of several of one name in one trace, all of them. */
export interface LoopHolder {
  readonly name: string;
  /** 32 hex digits. */
  readonly traceId: string;
  /** Microseconds. */
  readonly us: number;
}

/** Work that no span covers, with the functions that ran. */
export interface HotFrames {
  /** Innermost first: `parse app.js:12`. */
  readonly frames: readonly string[];
  /** Microseconds. */
  readonly us: number;
}

/** What was in the thread pool while it was full. */
export interface PoolWait {
  /** About: `dns.lookup 2, other 8 (crypto/pbkdf2)`; '' where it is not known. */
  readonly requests: string;
  /** Microseconds. */
  readonly us: number;
}

/**
 * Where the time of one span went, in microseconds. `ownUs`, `gcUs`, `othersUs`, `untracedUs`, `shortUs`, `waitingUs` and `unknownUs` add
 * up to `durationUs` exactly; times are taken to the quarter of a microsecond.
 */
export interface TimeBreakdown {
  readonly durationUs: number;
  /** Synchronous work of the span and of all below it in this process, as far as local spans and the timeline contain it. */
  readonly ownUs: number;
  /** Garbage collections, of anybody's garbage. */
  readonly gcUs: number;
  /** The loop had other spans: of other traces, above this one, or beside it. */
  readonly othersUs: number;
  /** The three that had it longest, the longest first. */
  readonly others: readonly LoopHolder[];
  /** The loop was busy with something that no span covers. */
  readonly untracedUs: number;
  /** The three stacks that took most of that, the hottest first; empty where no stacks are known. */
  readonly untracedFrames: readonly HotFrames[];
  /** The loop worked in turns shorter than the bound of the timeline, this span's or others'; no record names the span. */
  readonly shortUs: number;
  /** The loop waited for input, output and timers. */
  readonly waitingUs: number;
  /** Of `waitingUs`: the thread pool was full, so that what had to do with files, names, crypto or compression waited for a thread. */
  readonly poolUs: number;
  /** What was in it longest, at most three. */
  readonly poolWaits: readonly PoolWait[];
  /** The loop was busy with unrecorded work, or no timeline was kept. */
  readonly unknownUs: number;
}

interface Sum<T> {
  readonly what: T;
  time: number;
}

/** What the numbers of owners stand for. */
export interface Owners {
  readonly spans: readonly Pick<LoopHolder, 'name' | 'traceId'>[];
  readonly parts: readonly TimelinePart[];
  /** By the numbers of rests. */
  readonly rests: readonly Rest[];
  /** Of the whole time of the short turns among them. */
  readonly unclaimed: UnclaimedTimes;
}

/** Time in which nobody is known to have had the loop: `idle` and `short` add up to it. */
interface Waits {
  readonly idle: number;
  /** The loop worked, in short turns. */
  readonly short: number;
  /** Of `idle`: the thread pool was full. */
  readonly pool: number;
  /** What was in it longest. */
  readonly fullest: PoolWait[];
}

/** Adds up stretches of one window, in whole units of time, of which a microsecond has `unitsPerUs`. */
export class Tally {
  gc = 0;
  holders = 0;
  untraced = 0;
  #idle = 0;
  unknown = 0;
  readonly #byHolder = new Map<string, Sum<{ readonly name: string; readonly traceId: string }>>();
  readonly #byFrames = new Map<string, Sum<readonly string[]>>();
  readonly #byRest = new Map<number, number>();
  readonly #owners: Owners;
  readonly #unitsPerUs: number;

  constructor(owners: Owners, unitsPerUs: number) {
    this.#owners = owners;
    this.#unitsPerUs = unitsPerUs;
  }

  add(owner: number, time: number): void {
    if (owner === Owner.gc) this.gc += time;
    else if (owner === Owner.idle) this.#idle += time;
    else if (owner === Owner.unknown) this.unknown += time;
    else if (restOf(owner) >= 0) this.#byRest.set(restOf(owner), (this.#byRest.get(restOf(owner)) ?? 0) + time);
    else this.#addWork(owner, time);
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
    return largest(this.#byHolder, limit).map(({ what, time }) => ({ ...what, us: time / this.#unitsPerUs }));
  }

  /** The stacks that took most of what no span covers. */
  hottest(limit: number): HotFrames[] {
    return largest(this.#byFrames, limit).map(({ what, time }) => ({ frames: what, us: time / this.#unitsPerUs }));
  }

  /** What became of the time that nobody is known to have had; of what was in the thread pool at most `limit`. */
  waits(limit: number): Waits {
    let [idle, short, pool] = [this.#idle, 0, 0];
    const byPool = new Map<string, Sum<string>>();
    const { rests, unclaimed } = this.#owners;
    for (const [number, time] of this.#byRest) {
      const { turns, pool: requests } = rests[number];
      // As fine as all times of a timeline are, whatever the unit here.
      const work = turns === undefined ? 0 : unclaimed.workOf(turns, time, this.#unitsPerUs / TICKS_PER_US);
      short += work;
      idle += time - work;
      if (requests === undefined || time === work) continue;
      pool += time - work;
      addTo(byPool, requests, requests, time - work);
    }
    const fullest = largest(byPool, limit).map(({ what, time }) => ({ requests: what, us: time / this.#unitsPerUs }));
    return { idle, short, pool, fullest };
  }
}

const addTo = <T>(sums: Map<string, Sum<T>>, key: string, what: T, time: number): void => {
  const sum = sums.get(key);
  if (sum === undefined) sums.set(key, { what, time });
  else sum.time += time;
};

/** The first that came of those that are alike: sorting keeps their order. */
const largest = <T>(sums: ReadonlyMap<string, Sum<T>>, limit: number): Sum<T>[] =>
  [...sums.values()].sort((a, b) => b.time - a.time).slice(0, limit);
