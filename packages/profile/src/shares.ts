// How much of the CPU each label took, and how sure that is. Samples are random, so every share has an interval, and labels that the
// samples cannot tell apart have the same rank.
import { getOrMake } from 'spanline/internal/base';
import type { LabelCpu } from './dynamic-label.js';
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

/** CPU time of samples added up. */
export class CpuSum {
  ns = 0;
  samples = 0;
  squares = 0;

  addSample(cpuNs: number): void {
    this.ns += cpuNs;
    this.samples++;
    this.squares += cpuNs * cpuNs;
  }

  add(other: CpuSum): void {
    this.ns += other.ns;
    this.samples += other.samples;
    this.squares += other.squares;
  }

  toCpu(): LabelCpu {
    return { ns: this.ns, samples: this.samples, stderrNs: Math.sqrt(this.squares) };
  }
}

/** Wilson's interval for a share of `n` samples; holds near 0 and 1, and for few samples. */
export const wilson = (share: number, n: number): { readonly low: number; readonly high: number } => {
  if (n <= 0) return { low: 0, high: 1 };
  const z2 = (Z * Z) / n;
  const centre = (share + z2 / 2) / (1 + z2);
  const half = (Z * Math.sqrt((share * (1 - share)) / n + z2 / (4 * n))) / (1 + z2);
  return { low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
};

/** The value of a key, as text; '' where there is none. Records may have a prototype, whose names are not keys. */
export const labelValue = (record: LabelRecord, key: string): string =>
  Object.hasOwn(record, key) ? String(record[key]) : '';

const busySums = ({ samples, labels }: LabelledProfile, key: string): Map<string, CpuSum> => {
  const sums = new Map<string, CpuSum>();
  for (let i = 0; i < samples.count; i++) {
    if (samples.kind[i] === SampleKind.idle || samples.kind[i] === SampleKind.gc) continue;
    const value = labelValue(labels[samples.label[i]], key);
    getOrMake(sums, value, () => new CpuSum()).addSample(samples.cpuNs[i]);
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
 * import { profile, shares } from '@spanline/profile';
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
  const all = new CpuSum();
  for (const sum of sums.values()) all.add(sum);
  // Samples of different weight say less than as many of equal weight (Kish, 1965).
  const n = all.squares === 0 ? 0 : all.ns ** 2 / all.squares;
  const sorted = [...sums].sort(([, a], [, b]) => b.ns - a.ns || b.samples - a.samples);
  let first = 0;
  let rank = 0;
  const rows = sorted.map(([value, sum], i) => {
    const { ns: cpuNs, samples, stderrNs } = sum.toCpu();
    const share = all.ns === 0 ? 0 : cpuNs / all.ns;
    if (i === 0 || isApart(first, share, n)) {
      first = share;
      rank = i + 1;
    }
    return { value, samples, cpuNs, stderrNs, share, ...wilson(share, n), rank };
  });
  return { rows, n };
};
