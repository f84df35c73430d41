// Judges rounds in which two commits were measured by turns, and decides when to look at them: by Wilcoxon's signed rank test, one-sided and exact,
// for a gate decides on a handful of rounds, where the tails are far from normal. A series counts as worse only when it is so beyond chance and by
// more than the minimum effect, and as fine only when a loss of that size is ruled out: what is neither must never be called one of them. Who looks
// ten times at 5 % is wrong far more often than in 5 %: all looks together must never spend more than the declared rate of false alarms.
import type { Direction } from '../detect/direction.js';
import { badOption } from './figure.js';

/** More differences would take seconds to count. */
export const MAX_PAIRS = 300;

/** Twice the ranks of the sizes, so that ties, which share the mean of their ranks, stay whole numbers. */
const doubledRanks = (sizes: readonly number[]): Int32Array => {
  const order = sizes.map((_, i) => i).sort((a, b) => sizes[a] - sizes[b]);
  const ranks = new Int32Array(sizes.length);
  for (let from = 0; from < order.length; ) {
    let to = from;
    while (to < order.length && sizes[order[to]] === sizes[order[from]]) to++;
    // The ranks from + 1 to `to` of a group of ties.
    for (let i = from; i < to; i++) ranks[order[i]] = from + 1 + to;
    from = to;
  }
  return ranks;
};

/** chance[s]: that those of these ranks for which a coin says so add up to s. */
const sumChances = (ranks: readonly number[]): Float64Array => {
  const chance = new Float64Array(ranks.reduce((sum, rank) => sum + rank, 0) + 1);
  chance[0] = 1;
  let reached = 0;
  for (const rank of ranks) {
    reached += rank;
    for (let s = reached; s >= 0; s--) chance[s] = (chance[s] + (s >= rank ? chance[s - rank] : 0)) / 2;
  }
  return chance;
};

/**
 * The chance of ranks at least as high for positive differences as these have, when each difference had its sign by the toss of a coin: small
 * where the differences lie above 0. Zeros keep their ranks and count for neither side. At most {@link MAX_PAIRS} differences.
 * Source: F. Wilcoxon, Biometrics Bulletin 1 (1945); zeros as J. W. Pratt, JASA 54 (1959).
 */
export const signedRankP = (differences: readonly number[]): number => {
  const ranks = doubledRanks(differences.map(Math.abs));
  const signed = Array.from(ranks, (rank, i) => ({ rank, difference: differences[i] })).filter(
    (one) => one.difference !== 0,
  );
  const seen = signed.reduce((sum, { rank, difference }) => sum + (difference > 0 ? rank : 0), 0);
  const chance = sumChances(signed.map(({ rank }) => rank));
  return Math.min(
    1,
    chance.subarray(seen).reduce((sum, p) => sum + p, 0),
  );
};

/** The means of all pairs of differences, each with itself too, rising. */
const walshAverages = (differences: readonly number[]): Float64Array => {
  const averages = new Float64Array((differences.length * (differences.length + 1)) / 2);
  let at = 0;
  for (let i = 0; i < differences.length; i++) {
    for (let j = i; j < differences.length; j++) averages[at++] = (differences[i] + differences[j]) / 2;
  }
  return averages.sort();
};

/** Where the middle of the differences lies. */
export interface Shift {
  /** The estimate of Hodges and Lehmann: the median of the means of all pairs. */
  readonly estimate: number;
  /** From where to where it may lie, with the confidence asked for; of few differences the whole range, which is all they can say. */
  readonly low: number;
  readonly high: number;
}

/** The middle of at least one difference, and its interval: the values that a two-sided test with `1 - confidence` would not refuse. */
export const shiftOf = (differences: readonly number[], confidence = 0.95): Shift => {
  const averages = walshAverages(differences);
  const last = averages.length - 1;
  // As many averages lie below the interval as the sum of ranks may reach by chance: of untied ranks 1 to n.
  const allowed = (1 - confidence) / 2;
  const chance = sumChances(differences.map((_, i) => i + 1));
  let outside = 0;
  for (let sum = chance[0]; outside < last / 2 && sum <= allowed; sum += chance[++outside]);
  const cut = Math.max(0, outside - 1);
  const estimate = (averages[last >> 1] + averages[(last + 1) >> 1]) / 2;
  return { estimate, low: averages[cut], high: averages[last - cut] };
};

/** Rounds before the first look: the fewest whose signs alone can speak at 5 %, with one to spare. */
const FIRST_LOOK = 6;

const GROWTH = 1.35;

/** The number of rounds at the look after the one at `rounds`. */
export const nextLook = (rounds: number): number => (rounds < FIRST_LOOK ? FIRST_LOOK : Math.ceil(rounds * GROWTH));

/** What the `look`th look, from 1 on, may spend: alpha / 2, / 6, / 12, ..., which add up to alpha over looks without end. */
export const levelOfLook = (alpha: number, look: number): number => alpha / (look * (look + 1));

/**
 * Which of several p-values are significant when the chance of any false one is to stay at most `level` (Holm 1979): the smallest is asked for
 * level / m, the next for level / (m - 1), until one is not.
 */
export const holm = (pValues: readonly number[], level: number): readonly boolean[] => {
  const order = pValues.map((_, i) => i).sort((a, b) => pValues[a] - pValues[b]);
  const significant = pValues.map(() => false);
  for (const [i, index] of order.entries()) {
    if (pValues[index] > level / (pValues.length - i)) break;
    significant[index] = true;
  }
  return significant;
};

/** One thing measured, in every round of both commits. */
export interface RoundSeries {
  readonly key: string;
  readonly unit: string;
  /** Which way is better; a series of `unknown` direction is never worse, only changed. */
  readonly direction: Direction;
  /** Values above 0, a pair a round. */
  readonly base: readonly number[];
  readonly head: readonly number[];
}

/** How rounds are judged. */
export interface JudgeOptions {
  /** Smallest loss that counts, as a share: 0.05 is 5 %. Default 0.05. */
  readonly minEffect?: number;
  /** Largest chance that anything is called worse when nothing is, over all series and looks. Default 0.05. */
  readonly alpha?: number;
}

/** `unsure`: neither a loss of the minimum effect nor its absence is shown. */
export type Judgement = 'worse' | 'better' | 'fine' | 'unsure' | 'changed';

/** What is known of one series. */
export interface JudgedSeries {
  readonly key: string;
  readonly unit: string;
  readonly judgement: Judgement;
  /** Rounds that it was judged on. */
  readonly rounds: number;
  /** Value of head over that of base, less 1: 0.1 is 10 % more. With an interval of 95 %. */
  readonly change: number;
  readonly low: number;
  readonly high: number;
  /** Chance of such rounds if head were no worse; not corrected. */
  readonly pValue: number;
}

/** The options with defaults, or `ERR_SPANLINE_BENCH_OPTION`. */
export const judgeOptions = ({ minEffect = 0.05, alpha = 0.05 }: JudgeOptions): Required<JudgeOptions> => {
  if (!(minEffect > 0 && minEffect < 1)) throw badOption(`minEffect must be between 0 and 1, not ${minEffect}`);
  if (!(alpha > 0 && alpha < 1)) throw badOption(`alpha must be between 0 and 1, not ${alpha}`);
  return { minEffect, alpha };
};

interface Evidence {
  readonly series: RoundSeries;
  /** Logarithm of head over base, in the direction that is worse. */
  readonly shift: Shift;
  /** That head is worse, that it is better, and that it is not worse by the minimum effect. */
  readonly worseP: number;
  readonly betterP: number;
  readonly fineP: number;
}

/** Each round is its own control: what slowed both halves of a round is not in their quotient. */
const evidenceOf = (series: RoundSeries, minEffect: number): Evidence => {
  const { key, base, head, direction } = series;
  if (base.length !== head.length || base.length === 0 || base.length > MAX_PAIRS) {
    throw badOption(
      `series ${key} has ${base.length} and ${head.length} values; give 1 to ${MAX_PAIRS} pairs, one a round`,
    );
  }
  if (![...base, ...head].every((value) => value > 0)) throw badOption(`series ${key} has values that are not above 0`);
  const sign = direction === 'up' ? -1 : 1;
  const losses = base.map((value, i) => sign * Math.log(head[i] / value));
  const min = Math.log1p(minEffect);
  return {
    series,
    shift: shiftOf(losses),
    worseP: signedRankP(losses),
    betterP: signedRankP(losses.map((loss) => -loss)),
    // What has no better way must be ruled out both ways.
    fineP: Math.max(
      signedRankP(losses.map((loss) => min - loss)),
      direction === 'unknown' ? signedRankP(losses.map((loss) => min + loss)) : 0,
    ),
  };
};

const judged = (
  { series, shift, worseP }: Evidence,
  [isWorse, isBetter, isFine]: readonly boolean[],
  minEffect: number,
): JudgedSeries => {
  const { key, unit, direction, base } = series;
  const min = Math.log1p(minEffect);
  const isLoss = isWorse && shift.estimate >= min;
  const isGain = isBetter && shift.estimate <= -min;
  const judgement = ((): Judgement => {
    if (direction === 'unknown') return isLoss || isGain ? 'changed' : isFine ? 'fine' : 'unsure';
    if (isLoss) return 'worse';
    if (isGain) return 'better';
    return isFine ? 'fine' : 'unsure';
  })();
  const [low, high] = direction === 'up' ? [-shift.high, -shift.low] : [shift.low, shift.high];
  const estimate = direction === 'up' ? -shift.estimate : shift.estimate;
  return {
    key,
    unit,
    judgement,
    rounds: base.length,
    change: Math.expm1(estimate),
    low: Math.expm1(low),
    high: Math.expm1(high),
    pValue: worseP,
  };
};

/**
 * Judges all series at once, at the `look`th look (from 1 on; a single look at the end is the first). Use it on rounds of your own:
 * each is one value of either commit, measured one right after the other and in turns of which comes first, in processes of their own.
 *
 * The test is Mann-Whitney's on paired rounds: values are divided by what their round has in common, and chance may swap the two of a round,
 * nothing else. That is Wilcoxon's signed rank test of the logarithms of head over base; its p is counted exactly. A look spends
 * alpha / (look * (look + 1)), and Holm's method divides that among the series. Throws `ERR_SPANLINE_BENCH_OPTION`.
 *
 * @example
 * ```ts
 * import { judgeRounds } from '@spanline/tracedb/bench-history';
 * const base = [100, 104, 99, 130, 101, 98, 102, 100];
 * const head = base.map((value) => value * 1.2);
 * const [one] = judgeRounds([{ key: 'encode', unit: 'ns', direction: 'down', base, head }], { minEffect: 0.05, alpha: 0.05 });
 * console.assert(one.judgement === 'worse' && Math.abs(one.change - 0.2) < 1e-9);
 * ```
 */
export const judgeRounds = (
  series: readonly RoundSeries[],
  options: JudgeOptions = {},
  look = 1,
): readonly JudgedSeries[] => {
  const { minEffect, alpha } = judgeOptions(options);
  const evidence = series.map((one) => evidenceOf(one, minEffect));
  const level = levelOfLook(alpha, look);
  const worse = holm(
    evidence.map(({ worseP }) => worseP),
    level,
  );
  // The others each alone: that one series is fine, or better, accuses nobody.
  return evidence.map((one, i) => judged(one, [worse[i], one.betterP <= level, one.fineP <= level], minEffect));
};
