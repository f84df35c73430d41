// Two profiles by label: whose share of the CPU grew or fell beyond what chance makes of samples. Must not cry wolf when many labels are
// compared: p-values are corrected for their number.
import type { LabelledProfile } from '../labelled-profile.js';
import { ProfileOutputError } from '../profile-error.js';
import { type LabelShare, measuredShares, wilson } from '../shares.js';
import { groupedBy, WHOLE_LABEL } from './select-labels.js';

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
    throw new ProfileOutputError(
      'ERR_SPANLINE_PROFILE_OPTION',
      `the first profile is of ${from}, the second of ${to}; compare two of one kind`,
    );
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
