// How many nanoseconds a tick has: the slope from the first pair to the newest, and the watch over it. Off the hot path.
import type { Pair } from './clock-types.js';

// Pairs are exact to some 50 ns; over 2 ms that is 25 ppm, and it shrinks with every report.
const MIN_BASELINE_NS = 2e6;
// Below this the noise of two pairs would look like drift.
const MIN_CHECK_NS = 50e6;
const DRIFT_PPM = 100;
// Beyond this it was no drift but a jump: a suspend, a migration to another machine.
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
