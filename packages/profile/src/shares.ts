// How much of the CPU each label took, and how sure that is: shares, the table of a profile, and two profiles compared. Samples are random, so every
// share has an interval, and labels that the samples cannot tell apart have the same rank. A comparison must not cry wolf when many labels are
// compared: p-values are corrected for their number.

import { getOrMake } from 'spanline/internal/base';
import type { LabelCpu } from './dynamic-label.js';
import { type LabelledProfile, type LabelRecord, SampleKind } from './labelled-profile.js';
import { groupedBy, WHOLE_LABEL } from './output/select-labels.js';
import { wrongOutputOption } from './profile-error.js';

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
const measuredShares = (profile: LabelledProfile, key: string): { readonly rows: LabelShare[]; readonly n: number } => {
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

export interface TopOptions {
  /** Label key. Default: all labels of a sample together. */
  readonly by?: string;
  /** Rows at most. Default: all. */
  readonly limit?: number;
}

/** CPU by label. Times in nanoseconds. */
export interface TopTable {
  readonly by: string;
  /** Of all busy samples but garbage collection; shares are of this. */
  readonly cpuNs: number;
  readonly samples: number;
  readonly gcNs: number;
  readonly gcSamples: number;
  readonly idleSamples: number;
  /** Between the first moment and the last. */
  readonly durationNs: number;
  readonly unit: LabelledProfile['unit'];
  /** Of what the times are, where they are not CPU time. */
  readonly measure?: string;
  /** Dearest first; the value '' stands for samples without the key. */
  readonly rows: readonly LabelShare[];
  /** Rows left out by the limit. */
  readonly omitted: number;
}

/**
 * CPU by the values of one label key, dearest first, with 95 % confidence intervals.
 *
 * For the table "CPU by query" that `spanline profile top` prints.
 *
 * @example
 * ```ts
 * import { profile, top } from '@spanline/profile';
 * const { rows } = top(await profile({ durationMs: 20 }), { by: 'query', limit: 10 });
 * console.table(rows);
 * ```
 */
export const top = (profile: LabelledProfile, { by = WHOLE_LABEL, limit }: TopOptions = {}): TopTable => {
  const [grouped] = groupedBy(by, profile);
  const all = shares(grouped, by);
  const rows = all.slice(0, limit);
  const { samples, counts, startNs, endNs, unit, measure } = profile;
  let gcNs = 0;
  for (let i = 0; i < samples.count; i++) if (samples.kind[i] === SampleKind.gc) gcNs += samples.cpuNs[i];
  return {
    by,
    cpuNs: all.reduce((sum, row) => sum + row.cpuNs, 0),
    samples: all.reduce((sum, row) => sum + row.samples, 0),
    gcNs,
    gcSamples: counts.gc,
    idleSamples: counts.idle,
    durationNs: endNs - startNs,
    unit,
    ...(measure !== undefined && { measure }),
    rows,
    omitted: all.length - rows.length,
  };
};

export interface DiffOptions {
  /** Label key. Default: all labels of a sample together. */
  readonly by?: string;
  /** Smallest change of a share that counts, 0 to 1. Default 0.01: one percentage point. */
  readonly minEffect?: number;
  /** Chance that two profiles of the same show any change. Default 0.05. */
  readonly significance?: number;
}

/** One label in two profiles. */
export interface LabelChange {
  /** '' stands for samples without the key. */
  readonly value: string;
  /** Shares of the CPU, 0 to 1. */
  readonly before: number;
  readonly after: number;
  /** `after - before`, and its 95 % confidence interval. */
  readonly change: number;
  readonly low: number;
  readonly high: number;
  /** Nanoseconds of CPU time. */
  readonly cpuNsBefore: number;
  readonly cpuNsAfter: number;
  /** Of the test that nothing changed, corrected for the number of labels (Holm, 1979). */
  readonly pValue: number;
  readonly verdict: 'more' | 'less' | 'same';
}

const NOTHING: Pick<LabelShare, 'share' | 'cpuNs'> = { share: 0, cpuNs: 0 };

// The tail of the normal distribution must keep its relative precision far out, where 1 - erf has no digits.
const SERIES_END = 2.5;
const TERMS = 80;

// DLMF 7.6.1.
const erfcBySeries = (x: number): number => {
  let term = x;
  let sum = x;
  for (let n = 1; n < TERMS; n++) {
    term *= -(x * x) / n;
    sum += term / (2 * n + 1);
  }
  return 1 - (2 / Math.sqrt(Math.PI)) * sum;
};

// DLMF 7.9.1, from the innermost term outwards.
const erfcByFraction = (x: number): number => {
  let value = x;
  for (let n = TERMS; n >= 1; n--) value = x + n / 2 / value;
  return Math.exp(-x * x) / (Math.sqrt(Math.PI) * value);
};

/** P(|Z| >= |z|) for the standard normal. */
export const normalTwoSided = (z: number): number => {
  const x = Math.abs(z) / Math.SQRT2;
  return x < SERIES_END ? erfcBySeries(x) : erfcByFraction(x);
};

// Two shares of two sets of samples: z of their difference when both are of one share.
const pValueOf = (p: number, n: number, q: number, m: number): number => {
  if (n === 0 || m === 0) return 1;
  const pooled = (p * n + q * m) / (n + m);
  const stderr = Math.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m));
  return stderr === 0 ? 1 : normalTwoSided((q - p) / stderr);
};

// Interval of a difference from the intervals of both shares (Newcombe, 1998, method 10).
const intervalOf = (p: number, n: number, q: number, m: number): { readonly low: number; readonly high: number } => {
  const a = wilson(p, n);
  const b = wilson(q, m);
  return {
    low: q - p - Math.hypot(q - b.low, a.high - p),
    high: q - p + Math.hypot(b.high - q, p - a.low),
  };
};

/** Each p-value times the number of those that are not smaller; never falling. */
export const holm = (pValues: readonly number[]): number[] => {
  const order = pValues.map((_, i) => i).sort((a, b) => pValues[a] - pValues[b]);
  const corrected: number[] = [];
  let max = 0;
  order.forEach((at, rank) => {
    max = Math.max(max, Math.min(1, pValues[at] * (pValues.length - rank)));
    corrected[at] = max;
  });
  return corrected;
};

/**
 * Compare two profiles by the values of one label key, largest change first.
 *
 * To see what a new version made dearer. Shares are compared, not times: the two profiles may differ in length and load. `more` and
 * `less` are changes beyond noise and of at least `minEffect`. Throws `ERR_SPANLINE_PROFILE_OPTION` when one is of CPU time and the other is not.
 *
 * @example
 * ```ts
 * import { diff, profile } from '@spanline/profile';
 * const before = await profile({ durationMs: 20 });
 * const changes = diff(before, await profile({ durationMs: 20 }), { by: 'query' });
 * console.log(changes.filter(({ verdict }) => verdict === 'more'));
 * ```
 */
export const diff = (
  before: LabelledProfile,
  after: LabelledProfile,
  { by = WHOLE_LABEL, minEffect = 0.01, significance = 0.05 }: DiffOptions = {},
): LabelChange[] => {
  if (before.measure !== after.measure) {
    const [from, to] = [before, after].map(({ measure }) => measure ?? 'CPU time');
    throw wrongOutputOption(`the first profile is of ${from}, the second of ${to}; compare two of one kind`);
  }
  const [{ rows: oldRows, n }, { rows: newRows, n: m }] = groupedBy(by, before, after).map((profile) =>
    measuredShares(profile, by),
  );
  const old = new Map(oldRows.map((row) => [row.value, row]));
  const now = new Map(newRows.map((row) => [row.value, row]));
  const pairs = [...new Set([...old.keys(), ...now.keys()])].map((value) => ({
    value,
    a: old.get(value) ?? NOTHING,
    b: now.get(value) ?? NOTHING,
  }));
  const pValues = holm(pairs.map(({ a, b }) => pValueOf(a.share, n, b.share, m)));
  const changes = pairs.map(({ value, a, b }, i): LabelChange => {
    const change = b.share - a.share;
    const isReal = pValues[i] < significance && Math.abs(change) >= minEffect;
    return {
      value,
      before: a.share,
      after: b.share,
      change,
      ...intervalOf(a.share, n, b.share, m),
      cpuNsBefore: a.cpuNs,
      cpuNsAfter: b.cpuNs,
      pValue: pValues[i],
      verdict: !isReal ? 'same' : change > 0 ? 'more' : 'less',
    };
  });
  return changes.sort((x, y) => Math.abs(y.change) - Math.abs(x.change));
};
