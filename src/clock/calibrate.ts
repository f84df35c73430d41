// Per-core offsets from two rounds of pairs, one thread pinned to each core. Pure arithmetic; a core whose rate disagrees means that the counters
// cannot be trusted at all.
import { chunks } from '../base/calls/timers.js';
import type { CoreOffset, Pair } from './clock-types.js';

/** Rates of two cores may differ by this much: 0.05 %. */
const MAX_RATE_DIFFERENCE = 0.0005;

export interface Calibration {
  readonly nsPerTick: number;
  /** The offset of each core against the first, and its bound. */
  readonly cores: readonly { readonly cpu: number; readonly offsetTicks: number; readonly errorTicks: number }[];
  /** A point of the common line: ticks of the first core at this CLOCK_MONOTONIC. */
  readonly at: { readonly monoNs: number; readonly ticks: number };
}

/** Four numbers a pair, as the addon gives them. */
export const toPairs = (flat: readonly number[]): Pair[] =>
  Array.from(chunks(flat, 4), ([cpu, ticks, monoNs, bracket]) => ({ cpu, ticks, monoNs, bracket }));

/** Three numbers a core, as the addon has them in force, against the first of them. */
export const toOffsets = (flat: readonly number[], nsPerTick: number): CoreOffset[] =>
  Array.from(chunks(flat, 3), ([cpu, ticks, error]) => ({
    cpu,
    offsetNs: (ticks - flat[1]) * nsPerTick,
    errorNs: error * nsPerTick,
  }));

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
