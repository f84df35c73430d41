// How many nanoseconds a tick has: the slope from the first pair to the newest, and the watch over it. Off the hot path.
//
// Per-core offsets from two rounds of pairs, one thread pinned to each core. Pure arithmetic but for the rounds it is
// given; a core whose rate disagrees means the counters cannot be trusted at all.
import type { CoreOffset, Pair } from './clock-types.js';

// Pairs are exact to some 50 ns; over 2 ms that is 25 ppm, and it shrinks with every report.
const MIN_BASELINE_NS = 2e6;
// Below this the noise of two pairs would look like drift.
const MIN_CHECK_NS = 50e6;
const DRIFT_PPM = 100;
// Beyond this it was not drift but a jump: a suspend, a migration to another machine.
const JUMP_PPM = 10_000;

const sleeper = new Int32Array(new SharedArrayBuffer(4));

export class Rate {
  private first: Pair;
  private last: Pair;
  private slope = 0;
  private baselineNs = 0;
  driftPpm = 0;
  recalibrations = 0;

  constructor(private readonly read: () => Pair) {
    this.first = read();
    this.last = this.first;
  }

  /** Nanoseconds a tick. Waits for a baseline of 2 ms when asked sooner after the start. */
  get nsPerTick(): number {
    if (this.slope === 0) this.begin();
    return this.slope;
  }

  /** The same without a wait, for code of the program: sooner after the start it is as exact as the time since then allows, 0.05 % after 0.1 ms. */
  get estimate(): number {
    if (this.slope !== 0) return this.slope;
    const { monoNs, ticks } = this.read();
    const baselineNs = monoNs - this.first.monoNs;
    if (baselineNs >= MIN_BASELINE_NS || ticks <= this.first.ticks) return this.nsPerTick;
    return baselineNs / (ticks - this.first.ticks);
  }

  /** Compare with CLOCK_MONOTONIC since the last check; calibrate anew when they disagree. */
  check(): void {
    if (this.slope === 0) {
      this.begin();
      return;
    }
    const pair = this.read();
    const monoNs = pair.monoNs - this.last.monoNs;
    if (monoNs < MIN_CHECK_NS) return;
    const ppm = (((pair.ticks - this.last.ticks) * this.slope - monoNs) / monoNs) * 1e6;
    this.driftPpm = ppm;
    // A slope over a short baseline is not yet good enough to blame the counter; the next one will be.
    const isDrift = Math.abs(ppm) > DRIFT_PPM && this.baselineNs >= MIN_CHECK_NS;
    // Right after a jump the slope is from before it, and perhaps of another machine: this stretch sets a new one.
    const isJudged = this.baselineNs > 0;
    if (isJudged && Math.abs(ppm) > JUMP_PPM) {
      this.recalibrations++;
      this.first = pair;
      this.last = pair;
      this.baselineNs = 0;
      return;
    }
    if (isDrift) {
      this.recalibrations++;
      this.first = this.last;
    }
    this.advance(pair);
  }

  /** Move the last pair, as a suspend or migration would. For tests. */
  jump(ns: number): void {
    this.last = { ...this.last, monoNs: this.last.monoNs - ns };
  }

  private begin(): void {
    const elapsed = this.read().monoNs - this.first.monoNs;
    if (elapsed < MIN_BASELINE_NS) Atomics.wait(sleeper, 0, 0, (MIN_BASELINE_NS - elapsed) / 1e6 + 0.1);
    this.advance(this.read());
  }

  private advance(pair: Pair): void {
    this.last = pair;
    this.baselineNs = pair.monoNs - this.first.monoNs;
    this.slope = this.baselineNs / (pair.ticks - this.first.ticks);
  }
}

/** Rates of two cores may differ by this much: 0.05 %. */
const MAX_RATE_DIFFERENCE = 0.0005;

/** The offset of one core against the first, and its bound, in ticks. */
export interface CoreTicks {
  readonly cpu: number;
  readonly offsetTicks: number;
  readonly errorTicks: number;
}

export interface Calibration {
  readonly nsPerTick: number;
  readonly cores: readonly CoreTicks[];
  /** A point of the common line: ticks of the first core at this CLOCK_MONOTONIC. */
  readonly at: { readonly monoNs: number; readonly ticks: number };
}

/** Four numbers a pair, as the addon gives them. */
export const toPairs = (flat: readonly number[]): Pair[] => {
  const pairs: Pair[] = [];
  for (let i = 0; i + 3 < flat.length; i += 4) {
    pairs.push({ cpu: flat[i], ticks: flat[i + 1], monoNs: flat[i + 2], bracket: flat[i + 3] });
  }
  return pairs;
};

/** Three numbers a core, as the addon has them in force, against the first of them. */
export const toOffsets = (flat: readonly number[], nsPerTick: number): CoreOffset[] => {
  const offsets: CoreOffset[] = [];
  for (let i = 0; i + 2 < flat.length; i += 3) {
    const [cpu, ticks, error] = flat.slice(i, i + 3);
    offsets.push({ cpu, offsetNs: (ticks - flat[1]) * nsPerTick, errorNs: error * nsPerTick });
  }
  return offsets;
};

/** Undefined when a core is missing from the early round, or the rates disagree. */
export const calibrate = (early: readonly Pair[], late: readonly Pair[]): Calibration | undefined => {
  if (late.length === 0) return undefined;
  const rates: number[] = [];
  // How wrong a rate can be, as a share: both of its pairs at the far ends of their brackets.
  let rateError = 0;
  for (const pair of late) {
    const before = early.find((one) => one.cpu === pair.cpu);
    if (before === undefined) return undefined;
    rates.push((pair.monoNs - before.monoNs) / (pair.ticks - before.ticks));
    rateError = Math.max(rateError, (pair.bracket + before.bracket) / 2 / (pair.ticks - before.ticks));
  }
  const nsPerTick = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
  const spread = (Math.max(...rates) - Math.min(...rates)) / nsPerTick;
  if (!(nsPerTick > 0) || spread > MAX_RATE_DIFFERENCE) return undefined;
  const first = late[0];
  const cores = late.map((pair) => {
    const apart = (pair.monoNs - first.monoNs) / nsPerTick;
    const offsetTicks = Math.round(pair.ticks - first.ticks - apart);
    const error = (pair.bracket + first.bracket) / 2 + Math.abs(apart) * (spread + rateError);
    return { cpu: pair.cpu, offsetTicks, errorTicks: pair === first ? 0 : Math.ceil(error) };
  });
  return { nsPerTick, cores, at: { monoNs: first.monoNs, ticks: first.ticks } };
};
