// How much of the CPU each label took, and how sure that is. Samples are random, so every share has an interval, and labels that the
// samples cannot tell apart have the same rank.
import { getOrMake } from '../base/maps/get-or-make.js';
import { type LabelledProfile, type LabelRecord, SampleKind } from './labelled-profile.js';

/** One value of a label key (or all labels together) in a profile. */
export interface LabelShare {
  /** The value, as text; '' stands for samples without the key. */
  readonly value: string;
  readonly samples: number;
  readonly cpuNs: number;
  /** Standard error of `cpuNs`. */
  readonly stderrNs: number;
  /** Of all busy samples, 0 to 1, by CPU time. */
  readonly share: number;
  /** The 95 % confidence interval of `share` (Wilson, 1927). */
  readonly low: number;
  readonly high: number;
  /** From 1. Rows of one rank are within noise of each other. */
  readonly rank: number;
}

/** 97.5 % quantile of the normal distribution: two-sided 95 %. */
const Z = 1.959964;

interface Sum {
  samples: number;
  cpuNs: number;
  squares: number;
}

/** Wilson's interval for a share of `n` samples; holds near 0 and 1, and for few samples. */
export const wilson = (share: number, n: number): { readonly low: number; readonly high: number } => {
  if (n <= 0) return { low: 0, high: 1 };
  const z2 = (Z * Z) / n;
  const centre = (share + z2 / 2) / (1 + z2);
  const half = (Z * Math.sqrt((share * (1 - share)) / n + z2 / (4 * n))) / (1 + z2);
  return { low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
};

/** The value of a key, as text; '' where there is none. Records may have a prototype, whose names are no keys. */
export const labelValue = (record: LabelRecord, key: string): string =>
  Object.hasOwn(record, key) ? String(record[key]) : '';

const busySums = ({ samples, labels }: LabelledProfile, key: string): Map<string, Sum> => {
  const sums = new Map<string, Sum>();
  for (let i = 0; i < samples.count; i++) {
    if (samples.kind[i] === SampleKind.idle || samples.kind[i] === SampleKind.gc) continue;
    const value = labelValue(labels[samples.label[i]], key);
    const sum = getOrMake(sums, value, () => ({ samples: 0, cpuNs: 0, squares: 0 }));
    sum.samples++;
    sum.cpuNs += samples.cpuNs[i];
    sum.squares += samples.cpuNs[i] ** 2;
  }
  return sums;
};

// Two shares of one set of samples: what the one gains the other loses, so their difference varies more than either.
const isApart = (p: number, q: number, n: number): boolean =>
  n > 0 && Math.abs(p - q) > Z * Math.sqrt(Math.max(0, p + q - (p - q) ** 2) / n);

/**
 * CPU by the values of one label key, dearest first.
 *
 * For a table "CPU by query". Idle time and garbage collection are left out. Shares are of CPU time (samples where that was not
 * measured), times in nanoseconds.
 *
 * @example
 * ```ts
 * import { profile, shares } from 'spanline/profile';
 * for (const { value, share, low, high } of shares(await profile({ durationMs: 50 }), 'query')) {
 *   console.log(value, share, low, high);
 * }
 * ```
 */
export const shares = (profile: LabelledProfile, key: string): LabelShare[] => measuredShares(profile, key).rows;

/** Shares, and how many samples of equal weight would say as much. */
export const measuredShares = (
  profile: LabelledProfile,
  key: string,
): { readonly rows: LabelShare[]; readonly n: number } => {
  const sums = busySums(profile, key);
  let total = 0;
  let squares = 0;
  for (const sum of sums.values()) {
    total += sum.cpuNs;
    squares += sum.squares;
  }
  // Samples of different weight say less than as many of equal weight (Kish, 1965).
  const n = squares === 0 ? 0 : total ** 2 / squares;
  const sorted = [...sums].sort(([, a], [, b]) => b.cpuNs - a.cpuNs || b.samples - a.samples);
  let first = 0;
  let rank = 0;
  const rows = sorted.map(([value, sum], i) => {
    const share = total === 0 ? 0 : sum.cpuNs / total;
    if (i === 0 || isApart(first, share, n)) {
      first = share;
      rank = i + 1;
    }
    const stderrNs = Math.sqrt(sum.squares);
    return { value, samples: sum.samples, cpuNs: sum.cpuNs, stderrNs, share, ...wilson(share, n), rank };
  });
  return { rows, n };
};
