// Per-core offsets from two rounds of pairs, one thread pinned to each core. Pure arithmetic but for the rounds it is
// given; a core whose rate disagrees means the counters cannot be trusted at all.
import type { CoreOffset, Pair } from './clock-types.js';

/** Rates of two cores may differ by this much: 0.05 %. */
const MAX_RATE_DIFFERENCE = 0.0005;

/** The offsets of all cores against the first, in ticks, with what `clockInfo()` shows. */
export interface Calibration {
  readonly nsPerTick: number;
  readonly cores: readonly (CoreOffset & { readonly offsetTicks: number })[];
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

/** Undefined when a core is missing from one round, or the rates disagree. */
export const calibrate = (early: readonly Pair[], late: readonly Pair[]): Calibration | undefined => {
  if (late.length === 0) return undefined;
  const rates: number[] = [];
  for (const pair of late) {
    const before = early.find((one) => one.cpu === pair.cpu);
    if (before === undefined) return undefined;
    rates.push((pair.monoNs - before.monoNs) / (pair.ticks - before.ticks));
  }
  const nsPerTick = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
  const spread = (Math.max(...rates) - Math.min(...rates)) / nsPerTick;
  if (!(nsPerTick > 0) || spread > MAX_RATE_DIFFERENCE) return undefined;
  const first = late[0];
  const cores = late.map((pair) => {
    const apartNs = pair.monoNs - first.monoNs;
    const offsetTicks = Math.round(pair.ticks - first.ticks - apartNs / nsPerTick);
    const errorNs = ((pair.bracket + first.bracket) / 2) * nsPerTick + Math.abs(apartNs) * spread;
    return { cpu: pair.cpu, offsetTicks, offsetNs: offsetTicks * nsPerTick, errorNs: pair === first ? 0 : errorNs };
  });
  return { nsPerTick, cores, at: { monoNs: first.monoNs, ticks: first.ticks } };
};
