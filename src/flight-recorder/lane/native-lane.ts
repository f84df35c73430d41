// The lane by the addon: rows in an array that native code writes, parts made of its samples. What runs in a sample must not throw.
import { type FastCall, type LaneSample, loadFastCall } from '../../clock/binding.js';
import { enteredLine } from '../../local-span/line-store.js';
import { type LineSwitches, state } from '../../local-span/process-state.js';
import type { SpanLine } from '../../local-span/span-line.js';
import { collectionKind } from './collection-kinds.js';
import { shownFrames } from './frames.js';
import type { LanePart, LaneRow } from './lane-row.js';
import type { LaneCounts, LaneSource } from './lane-source.js';
import { spanIdOf, traceIdOf } from './line-owner.js';
import { type Part, PartRing } from './part-ring.js';
import { StackRing } from './stack-ring.js';
import { unixNow } from './unix-now.js';

// As native/tsc/src/lane.cc has them.
const BUSY_ROWS = 0;
const COLLECTIONS = 1;
const LATE_SAMPLES = 2;
const FIRST_ROW = 3;
const ROW_CELLS = 3;

const PERIOD_MS = 4;
const MAX_GAP_NS = 3 * PERIOD_MS * 1e6;

/** Gives the Unix time of a moment of the lane's clock, microseconds. */
type ToUnix = (ns: number) => number;

export class NativeLane implements LaneSource {
  readonly source = 'native';
  readonly #cells: Float64Array;
  readonly #parts: PartRing;
  readonly #stacks: StackRing;
  readonly #switches: LineSwitches = { counts: new Int32Array(2), left: undefined };
  #samples = 0;

  readonly #addon: Required<FastCall>;
  readonly #busyMs: number;
  readonly #maxRows: number;

  /** @internal Use {@link NativeLane.start}. */
  constructor(addon: Required<FastCall>, busyMs: number, maxRows: number) {
    this.#addon = addon;
    this.#busyMs = busyMs;
    this.#maxRows = maxRows;
    this.#cells = new Float64Array(FIRST_ROW + 2 * maxRows * ROW_CELLS);
    this.#parts = new PartRing(maxRows, MAX_GAP_NS);
    this.#stacks = new StackRing(maxRows, MAX_GAP_NS);
  }

  /** Undefined where the addon is missing, or has a lane already. */
  static start(busyMs: number, maxRows: number): NativeLane | undefined {
    const addon = loadFastCall().module;
    if (addon?.laneStart === undefined) return undefined;
    const lane = new NativeLane(addon as Required<FastCall>, busyMs, maxRows);
    const isStarted = addon.laneStart(lane.#cells, maxRows, busyMs, PERIOD_MS, lane.#take, lane.#switches.counts);
    if (!isStarted) return undefined;
    state.lineSwitches = lane.#switches;
    state.takeStacks = (stacks) => lane.#stacks.add(stacks);
    return lane;
  }

  stop(): void {
    state.lineSwitches = undefined;
    state.takeStacks = undefined;
    this.#addon.laneStop();
  }

  rows(sinceUs = Number.NEGATIVE_INFINITY): LaneRow[] {
    const nowNs = this.#addon.laneNow();
    const nowUs = unixNow();
    const toUnix: ToUnix = (ns) => nowUs - (nowNs - ns) / 1000;
    const sinceNs = nowNs - (nowUs - sinceUs) * 1000;
    const rows: LaneRow[] = [];
    this.#each(COLLECTIONS, sinceNs, (startNs, endNs, type) => {
      const detail = collectionKind(type);
      rows.push({ kind: 'gc', startUs: toUnix(startNs), endUs: toUnix(endNs), detail, parts: [] });
    });
    const parts = this.#parts.byTurn(this.#firstTurn(sinceNs));
    const addBusy = (startNs: number, endNs: number, turn: number): void => {
      const own = this.#partsWithin(parts.get(turn) ?? [], startNs, endNs, toUnix);
      rows.push({ kind: 'busy', startUs: toUnix(startNs), endUs: toUnix(endNs), detail: '', parts: own });
    };
    this.#each(BUSY_ROWS, sinceNs, addBusy);
    const openNs = this.#addon.laneOpenSince();
    if (openNs > 0 && nowNs - openNs >= this.#busyMs * 1e6) addBusy(openNs, nowNs, this.#addon.laneTurn());
    return rows.sort((a, b) => a.startUs - b.startUs);
  }

  counts(): LaneCounts {
    const written = [this.#cells[BUSY_ROWS], this.#cells[COLLECTIONS]];
    return {
      rows: written.reduce((sum, count) => sum + Math.min(count, this.#maxRows), 0),
      rowsDropped: written.reduce((sum, count) => sum + Math.max(0, count - this.#maxRows), 0),
      samples: this.#samples,
      samplesUnknown: this.#parts.unknown,
      samplesLate: this.#cells[LATE_SAMPLES],
      partsDropped: this.#parts.dropped,
      stacksDropped: this.#stacks.dropped,
    };
  }

  // The newest first: a report asks for what came since a moment ago.
  #each(counter: number, sinceNs: number, visit: (startNs: number, endNs: number, third: number) => void): void {
    const written = this.#cells[counter];
    const ring = FIRST_ROW + (counter === BUSY_ROWS ? 0 : this.#maxRows * ROW_CELLS);
    for (let i = written - 1; i >= Math.max(0, written - this.#maxRows); i--) {
      const at = ring + (i % this.#maxRows) * ROW_CELLS;
      if (this.#cells[at + 1] <= sinceNs) return;
      visit(this.#cells[at], this.#cells[at + 1], this.#cells[at + 2]);
    }
  }

  #firstTurn(sinceNs: number): number {
    let first = this.#addon.laneTurn();
    this.#each(BUSY_ROWS, sinceNs, (_startNs, _endNs, turn) => {
      first = turn;
    });
    return first;
  }

  #partsWithin(parts: readonly Part[], fromNs: number, toNs: number, toUnix: ToUnix): LanePart[] {
    const pieces = parts.flatMap(({ owner, ...part }) => {
      const [traceId, spanId] = [traceIdOf(owner), spanIdOf(owner)];
      const startNs = Math.max(part.startNs, fromNs);
      const piece = { startNs, endNs: Math.min(part.endNs, toNs), frames: shownFrames(part.frames) };
      return (spanId === '' ? this.#stacks.divide(piece) : [piece]).map(({ startNs, endNs, frames }) => {
        return { startUs: toUnix(startNs), endUs: toUnix(endNs), traceId, spanId, name: owner.name, frames };
      });
    });
    // Shorter than what a time of today can tell apart.
    return pieces.filter(({ startUs, endUs }) => endUs > startUs);
  }

  // In the middle of any code.
  readonly #take: LaneSample = (turn, requestedNs, servedNs, isSame, isGoingOn, entered, left, frames) => {
    this.#samples++;
    try {
      // Work in native code that ends a scope is served behind it, where the scope around is current: it was of the one that was left.
      const hasLeftOne = entered === 0 && left === 1;
      const line = hasLeftOne ? (this.#switches.left as SpanLine | undefined) : enteredLine();
      const isOneScope = entered === 0 && left <= 1;
      this.#parts.add({ turn, requestedNs, servedNs, isSame: isSame && isOneScope, isGoingOn, frames }, line);
    } catch {
      // Node's own stack of contexts was being changed.
      this.#parts.lose();
    }
  };
}
