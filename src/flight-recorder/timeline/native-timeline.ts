// The timeline by the addon: rows in an array that native code writes, parts made of its samples. What CPU profiles found running names the
// functions of parts that no span had, and must not make a part longer or shorter; what is in the thread pool while it is full is told for people.
// What runs in a sample must not throw, and must take a hundredth of the time at most, however many sockets and timers a process has.

import { executionAsyncResource } from 'node:async_hooks';
import { timers } from '../../base/calls/timers.js';
import { getOrMake } from '../../base/maps/maps.js';
import { type FastCall, loadFastCall, type TimelinePool, type TimelineSample } from '../../clock/binding.js';
import { type QueueSwitches, type StackStretch, state } from '../../context/process-state.js';
import { enteredQueue, type SpanQueue } from '../../local-span/local-span.js';
import { type RawFrames, shownFrames } from './frames.js';
import { NativeRings, noOwner, type Part, PartRing, Ring, spanIdOf, traceIdOf } from './native-rings.js';
import {
  collectionKind,
  type TimelineCounts,
  type TimelinePart,
  type TimelineRow,
  type TimelineSource,
  unixNow,
} from './timeline-row.js';

/** Node's names of requests that are in the pool, and what a program calls that has them. */
const IN_POOL: ReadonlyMap<string, string> = new Map([
  ['FSReqCallback', 'fs'],
  ['FSReqPromise', 'fs'],
  ['CloseReq', 'fs'],
  ['GetAddrInfoReqWrap', 'dns.lookup'],
  ['GetNameInfoReqWrap', 'dns.lookupService'],
]);
/** Requests of sockets, which are not. */
const ELSEWHERE: ReadonlySet<string> = new Set(['ConnectWrap', 'SimpleWriteWrap', 'SimpleShutdownWrap', 'SendWrap']);

/** Node lists no requests of these: the callback of one that comes to an end shows that they have some. */
const UNLISTED = /^node:(?:internal\/)?(crypto\/\w+|zlib)$/;
/** Calls the callbacks where somebody uses async hooks, as AsyncLocalStorage does before Node 24. */
const TRAMPOLINE = 'node:internal/async_hooks';
const JOB = /Job$/;
const ZLIB: ReadonlySet<string> = new Set(['Zlib', 'BrotliEncoder', 'BrotliDecoder', 'ZstdCompress', 'ZstdDecompress']);
const FIELDS = 3;

/** Of the time since the last look. */
const LARGEST_SHARE = 0.01;

/** Requests in flight. */
interface Requests {
  readonly listed: readonly (readonly [name: string, count: number])[];
  /** Of crypto, zlib and addons. */
  readonly unlisted: number;
}

interface Detail extends Requests {
  /** Owners of requests that ended meanwhile. */
  readonly ended: Set<string>;
}

const NOTHING: Requests = { listed: [], unlisted: 0 };

class PoolDetails {
  // By the number of the probe, the oldest first.
  readonly #details = new Map<number, Detail>();
  readonly #maxDetails: number;
  #last = NOTHING;
  #nextLookMs = 0;

  constructor(maxDetails: number) {
    this.#maxDetails = maxDetails;
  }

  /** Probe `number` has found the pool full while so many requests were in flight. */
  add(number: number, requests: number): void {
    const nowMs = timers.monotonicMs();
    if (nowMs >= this.#nextLookMs) {
      this.#last = requestsInFlight(requests);
      this.#nextLookMs = nowMs + (timers.monotonicMs() - nowMs) / LARGEST_SHARE;
    }
    this.#details.set(number, { ...this.#last, ended: new Set() });
    if (this.#details.size > this.#maxDetails) this.#details.delete(this.#details.keys().next().value as number);
  }

  /** The frames of what runs first in a turn since then. True when that is the callback of a request that Node does not list. */
  ran(number: number, frames: RawFrames): boolean {
    const script = String(frames[frames.length - FIELDS + 1]);
    const kind = script === TRAMPOLINE ? kindOfResource(executionAsyncResource()) : UNLISTED.exec(script)?.[1];
    if (kind !== undefined) this.#details.get(number)?.ended.add(kind);
    return kind !== undefined;
  }

  /** `fs 3, other 8 (crypto/pbkdf2)`; '' where nothing is known. */
  textOf(number: number): string {
    const { listed, unlisted, ended } = this.#details.get(number) ?? { ...NOTHING, ended: new Set() };
    const parts = listed.map(([name, count]) => `${name} ${count}`);
    if (unlisted > 0) parts.push(`other ${unlisted}${ended.size === 0 ? '' : ` (${[...ended].join(', ')})`}`);
    return parts.join(', ');
  }
}

/** The same of the object for which Node is about to call somebody. */
const kindOfResource = (resource: object): string | undefined => {
  const { name } = resource.constructor;
  if (ZLIB.has(name)) return 'zlib';
  return JOB.test(name) ? `crypto/${name.replace(JOB, '').toLowerCase()}` : undefined;
};

const requestsInFlight = (requests: number): Requests => {
  const counts = new Map<string, number>();
  let unlisted = requests;
  for (const name of process.getActiveResourcesInfo()) {
    const shown = IN_POOL.get(name);
    if (shown !== undefined) counts.set(shown, (counts.get(shown) ?? 0) + 1);
    if (shown !== undefined || ELSEWHERE.has(name)) unlisted--;
  }
  return { listed: [...counts].sort(([, a], [, b]) => b - a), unlisted: Math.max(0, unlisted) };
};

/** What ran from when to when, in nanoseconds of the timeline's clock. */
interface StackPiece {
  readonly startNs: number;
  readonly endNs: number;
  /** For people: `parse app.js:12`. */
  readonly frames: readonly string[];
}

export class StackRing {
  readonly #pieces: StackPiece[] = [];
  readonly #maxPieces: number;
  readonly #maxGapNs: number;
  #written = 0;

  /** Time between stacks of at most `maxGapNs` is given to the stack next to it. */
  constructor(maxPieces: number, maxGapNs: number) {
    this.#maxPieces = maxPieces;
    this.#maxGapNs = maxGapNs;
  }

  /** Stretches that later ones have taken the place of. */
  get dropped(): number {
    return Math.max(0, this.#written - this.#maxPieces);
  }

  /** In order of time, and none before what is there. */
  add(stacks: readonly StackStretch[]): void {
    const shown = new Map<RawFrames, readonly string[]>();
    for (const { startNs, endNs, frames } of stacks) {
      const texts = getOrMake(shown, frames, shownFrames);
      this.#pieces[this.#written++ % this.#maxPieces] = { startNs, endNs, frames: texts };
    }
  }

  /** A part in pieces, in order and without gaps: those of stacks, and `part` as it is where no stack is known. */
  split(part: StackPiece): StackPiece[] {
    const pieces: StackPiece[] = [];
    let atNs = part.startNs;
    for (let i = this.#firstAfter(part.startNs); i < this.#written; i++) {
      const { startNs, endNs, frames } = this.#pieces[i % this.#maxPieces];
      if (startNs >= part.endNs) break;
      const untilNs = Math.min(endNs, part.endNs);
      if (startNs - atNs > this.#maxGapNs) {
        pieces.push({ startNs: atNs, endNs: startNs, frames: part.frames });
        atNs = startNs;
      }
      pieces.push({ startNs: atNs, endNs: untilNs, frames });
      atNs = untilNs;
    }
    const last = pieces.pop();
    if (last === undefined) return [part];
    if (part.endNs - atNs <= this.#maxGapNs) return [...pieces, { ...last, endNs: part.endNs }];
    return [...pieces, last, { ...part, startNs: atNs }];
  }

  #firstAfter(ns: number): number {
    let low = Math.max(0, this.#written - this.#maxPieces);
    let high = this.#written;
    while (low < high) {
      const half = Math.floor((low + high) / 2);
      if (this.#pieces[half % this.#maxPieces].endNs <= ns) low = half + 1;
      else high = half;
    }
    return low;
  }
}

const PERIOD_MS = 4;
const MAX_GAP_NS = 3 * PERIOD_MS * 1e6;

/** A whole turn of V8's own work, such as the steps of a collection that it takes by the way, or of Node's and addons' in native code. */
const NATIVE_PART = { turn: 0, owner: noOwner(), frames: ['(no JavaScript)', '', 0], votes: 1 } as const;

/** Gives the Unix time of a moment of the timeline's clock, microseconds. */
type ToUnix = (ns: number) => number;

/** One moment by the timeline's clock and in Unix time. */
interface Moment {
  readonly ns: number;
  readonly us: number;
}

/** Both clocks were read within this: what is longer was interrupted, and is read again. */
const CLOSE_NS = 5000;
const MAX_READS = 8;

export class NativeTimeline implements TimelineSource {
  readonly source = 'native';
  readonly #rings: NativeRings;
  readonly #pool: PoolDetails;
  readonly #parts: PartRing;
  readonly #stacks: StackRing;
  onLook: (() => void) | undefined;
  readonly #switches: QueueSwitches;
  #samples = 0;

  readonly #addon: Required<FastCall>;
  readonly #busyMs: number;

  /** @internal Use {@link NativeTimeline.start}. */
  constructor(addon: Required<FastCall>, busyMs: number, maxRows: number, switches: QueueSwitches) {
    this.#addon = addon;
    this.#busyMs = busyMs;
    this.#switches = switches;
    this.#rings = new NativeRings(maxRows);
    this.#pool = new PoolDetails(maxRows);
    this.#parts = new PartRing(maxRows, MAX_GAP_NS);
    this.#stacks = new StackRing(maxRows, MAX_GAP_NS);
  }

  /** Undefined where the addon is missing, or has a timeline already. */
  static start(busyMs: number, maxRows: number, switches: QueueSwitches): NativeTimeline | undefined {
    const addon = loadFastCall().module;
    if (addon?.timelineStart === undefined) return undefined;
    const timeline = new NativeTimeline(addon as Required<FastCall>, busyMs, maxRows, switches);
    const { cells } = timeline.#rings;
    const isStarted = addon.timelineStart(
      cells,
      maxRows,
      busyMs,
      PERIOD_MS,
      timeline.#take,
      switches.counts,
      timeline.#takePool,
    );
    if (!isStarted) return undefined;
    state.takeStacks = (stacks) => timeline.#stacks.add(stacks);
    return timeline;
  }

  stop(): void {
    state.takeStacks = undefined;
    this.#addon.timelineStop();
  }

  rows(sinceUs = Number.NEGATIVE_INFINITY): TimelineRow[] {
    const { ns: atNs, us: atUs } = this.#moment();
    const toUnix: ToUnix = (ns) => atUs - (atNs - ns) / 1000;
    const sinceNs = atNs - (atUs - sinceUs) * 1000;
    const nowNs = this.#addon.timelineOpen();
    const rings = this.#rings;
    const rows: TimelineRow[] = [];
    const add = (
      kind: TimelineRow['kind'],
      startNs: number,
      endNs: number,
      detail: string,
      parts: TimelinePart[] = [],
    ): void => void rows.push({ kind, startUs: toUnix(startNs), endUs: toUnix(endNs), detail, parts });
    rings.each(Ring.gc, sinceNs, (startNs, endNs, type) => add('gc', startNs, endNs, collectionKind(type)));

    const parts = this.#parts.byTurn(this.#firstTurn(sinceNs));
    const addBusy = (startNs: number, endNs: number, turn: number): void => {
      const ran = turn < 0 ? [{ ...NATIVE_PART, startNs, endNs }] : (parts.get(turn) ?? []);
      add('busy', startNs, endNs, '', this.#partsWithin(ran, startNs, endNs, toUnix));
    };
    rings.each(Ring.busy, sinceNs, addBusy);
    const busyNs = rings.open('busyNs');
    if (nowNs - busyNs >= this.#busyMs * 1e6) addBusy(busyNs, nowNs, rings.open('turn'));

    rings.each(Ring.turns, sinceNs, (startNs, endNs, idleNs) => {
      const [startUs, endUs] = [toUnix(startNs), toUnix(endNs)];
      rows.push({ kind: 'turns', startUs, endUs, detail: '', parts: [], idleUs: idleNs / 1000 });
    });

    rings.each(Ring.pool, sinceNs, (startNs, endNs, number) => add('pool', startNs, endNs, this.#pool.textOf(number)));
    const poolNs = rings.open('poolNs');
    if (poolNs > 0) add('pool', poolNs, nowNs, this.#pool.textOf(rings.open('poolNumber')));
    return rows.sort((a, b) => a.startUs - b.startUs);
  }

  counts(): TimelineCounts {
    const { rows, dropped, lateSamples, poolProbes } = this.#rings;
    return {
      rows,
      rowsDropped: dropped,
      samples: this.#samples,
      samplesUnknown: this.#parts.unknown,
      samplesLate: lateSamples,
      partsDropped: this.#parts.dropped,
      stacksDropped: this.#stacks.dropped,
      poolProbes,
    };
  }

  keptFromUs(): number {
    const { ns, us } = this.#moment();
    return us - (ns - this.#rings.keptFromNs) / 1000;
  }

  // Where the system takes the processor between the two, what was read is milliseconds apart: rows would lie elsewhere than the spans in them, and
  // one row elsewhere than at the look before.
  #moment(): Moment {
    let best: Moment = { ns: 0, us: 0 };
    let bestNs = Number.POSITIVE_INFINITY;
    for (let i = 0; i < MAX_READS && bestNs > CLOSE_NS; i++) {
      const before = this.#addon.timelineNow();
      const us = unixNow();
      const lengthNs = this.#addon.timelineNow() - before;
      if (lengthNs < bestNs) best = { ns: before + lengthNs / 2, us };
      bestNs = Math.min(bestNs, lengthNs);
    }
    return best;
  }

  #firstTurn(sinceNs: number): number {
    let first = this.#rings.open('turn');
    this.#rings.each(Ring.busy, sinceNs, (_startNs, _endNs, turn) => {
      first = Math.abs(turn);
    });
    return first;
  }

  #partsWithin(parts: readonly Part[], fromNs: number, toNs: number, toUnix: ToUnix): TimelinePart[] {
    const pieces = parts.flatMap(({ owner, ...part }) => {
      const [traceId, spanId] = [traceIdOf(owner), spanIdOf(owner)];
      const startNs = Math.max(part.startNs, fromNs);
      const piece = { startNs, endNs: Math.min(part.endNs, toNs), frames: shownFrames(part.frames) };
      return (spanId === '' ? this.#stacks.split(piece) : [piece]).map(({ startNs, endNs, frames }) => {
        return { startUs: toUnix(startNs), endUs: toUnix(endNs), traceId, spanId, name: owner.name, frames };
      });
    });
    // Shorter than the precision of a time of today.
    return pieces.filter(({ startUs, endUs }) => endUs > startUs);
  }

  // In the middle of any code.
  readonly #take: TimelineSample = (turn, requestedNs, servedNs, isSame, isGoingOn, entered, left, frames) => {
    this.#samples++;
    try {
      // Work in native code that ends a scope is served behind it, where the scope around is current: it was of the one that was left.
      const hasLeftOne = entered === 0 && left === 1;
      const queue = hasLeftOne ? (this.#switches.left as SpanQueue | undefined) : enteredQueue();
      const isOneScope = entered === 0 && left <= 1;
      this.#parts.add({ turn, requestedNs, servedNs, isSame: isSame && isOneScope, isGoingOn, frames }, queue);
      this.onLook?.();
    } catch {
      // Node's own stack of contexts was being changed.
      this.#parts.lose();
    }
  };

  // In the middle of any code.
  readonly #takePool: TimelinePool = (number, requests, frames) => {
    try {
      if (frames !== undefined) return this.#pool.ran(number, frames);
      this.#pool.add(number, requests);
    } catch {
      // A program may have put something else in the place of Node's functions.
    }
    return false;
  };
}
