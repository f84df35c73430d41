// The timeline by the addon: rows in an array that native code writes, parts made of its samples. What runs in a sample must not throw.
import { type FastCall, loadFastCall, type TimelinePool, type TimelineSample } from '../../clock/binding.js';
import { type QueueSwitches, state } from '../../context/process-state.js';
import { enteredQueue } from '../../local-span/queue-store.js';
import type { SpanQueue } from '../../local-span/span-queue.js';
import { shownFrames } from './frames.js';
import { NativeRings, Ring } from './native-rings.js';
import { type Part, PartRing } from './part-ring.js';
import { PoolDetails } from './pool-details.js';
import { noOwner, spanIdOf, traceIdOf } from './queue-owner.js';
import { StackRing } from './stack-ring.js';
import type { TimelinePart, TimelineRow } from './timeline-row.js';
import { collectionKind, type TimelineCounts, type TimelineSource, unixNow } from './timeline-source.js';

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
