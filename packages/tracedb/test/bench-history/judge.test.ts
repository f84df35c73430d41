// Rounds are judged by exact chances: the test agrees with counting every way signs can fall, the looks of a gate together stay within the declared
// rate, and a loss is told from its absence.

import { describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { BenchError } from '../../src/bench-history/figure.js';
import {
  holm,
  type JudgedSeries,
  judgeRounds,
  levelOfLook,
  nextLook,
  type RoundSeries,
  shiftOf,
  signedRankP,
} from '../../src/bench-history/judge.js';

/** Midranks of the sizes, by looking at all others. */
const rankOf = (sizes: readonly number[], i: number): number =>
  sizes.filter((size) => size < sizes[i]).length + (sizes.filter((size) => size === sizes[i]).length + 1) / 2;

/** The same p by trying all signs. */
const countedP = (differences: readonly number[]): number => {
  const sizes = differences.map(Math.abs);
  const ranks = sizes.map((_, i) => rankOf(sizes, i)).filter((_, i) => sizes[i] > 0);
  const seen = differences.reduce((sum, one, i) => sum + (one > 0 ? rankOf(sizes, i) : 0), 0);
  let asHigh = 0;
  for (let signs = 0; signs < 2 ** ranks.length; signs++) {
    const sum = ranks.reduce((total, rank, i) => total + ((signs >> i) & 1 ? rank : 0), 0);
    if (sum >= seen - 1e-9) asHigh++;
  }
  return asHigh / 2 ** ranks.length;
};

/** Normal numbers that are the same in every run: mulberry32, for a generator whose neighbours lean on each other makes no noise. */
const noise = (seed: number): (() => number) => {
  let state = seed * 0x9e3779b9;
  const uniform = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (((mixed ^ (mixed >>> 14)) >>> 0) + 0.5) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
};

/** Rounds that share what slows both halves, and differ by noise of their own. */
const roundsOf = (seed: number, count: number, factor: number, sd = 0.05): RoundSeries => {
  const next = noise(seed);
  const base: number[] = [];
  const head: number[] = [];
  for (let i = 0; i < count; i++) {
    const shared = 100 * Math.exp(0.3 * next());
    base.push(shared * Math.exp(sd * next()));
    head.push(shared * factor * Math.exp(sd * next()));
  }
  return { key: 'hot', unit: 'ns', direction: 'down', base, head };
};

/** As a gate looks: at its first rounds, then at more, until one is sure. */
const gate = (seed: number, factor: number, options = {}): JudgedSeries['judgement'] => {
  const all = roundsOf(seed, 60, factor);
  for (let rounds = nextLook(0), look = 1; rounds <= 60; rounds = nextLook(rounds), look++) {
    const seen = { ...all, base: all.base.slice(0, rounds), head: all.head.slice(0, rounds) };
    const [{ judgement }] = judgeRounds([seen], options, look);
    if (judgement !== 'unsure') return judgement;
  }
  return 'unsure';
};

describe('the signed rank test', () => {
  test('gives the p that counting all signs gives, ties and zeros included', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -6, max: 6 }), { minLength: 1, maxLength: 11 }), (differences) => {
        expect(signedRankP(differences)).toBeCloseTo(countedP(differences), 12);
      }),
    );
  });

  test('knows what all signs alike are worth, and nothing of zeros', () => {
    expect(signedRankP([1, 2, 3, 4, 5])).toBe(1 / 32);
    expect(signedRankP([-1, -2, -3])).toBe(1);
    expect(signedRankP([0, 0, 0])).toBe(1);
  });

  test('an interval holds what the test would not refuse', () => {
    const differences = [0.11, 0.08, 0.14, 0.02, 0.1, 0.09, 0.2, 0.07, 0.12, 0.05];
    const { estimate, low, high } = shiftOf(differences);
    expect(estimate).toBeGreaterThan(low);
    expect(estimate).toBeLessThan(high);
    const shifted = (by: number): number => signedRankP(differences.map((one) => one - by));
    expect(shifted(low - 1e-6)).toBeLessThanOrEqual(0.025);
    expect(shifted(low + 1e-6)).toBeGreaterThan(0.025);
    expect(signedRankP(differences.map((one) => high + 1e-6 - one))).toBeLessThanOrEqual(0.025);
  });

  test('of few differences the interval is their range', () => {
    expect(shiftOf([0.1, 0.3, 0.2])).toEqual({ estimate: 0.2, low: 0.1, high: 0.3 });
  });
});

describe('looking repeatedly', () => {
  test('all looks together spend what was declared and no more', () => {
    const spent = Array.from({ length: 10_000 }, (_, i) => levelOfLook(0.05, i + 1)).reduce((sum, one) => sum + one, 0);
    expect(spent).toBeLessThanOrEqual(0.05);
    expect(spent).toBeGreaterThan(0.0499);
  });

  test('Holm asks the smallest p for its share of all, and stops at the first that fails', () => {
    expect(holm([0.03, 0.01, 0.02], 0.05)).toEqual([true, true, true]);
    expect(holm([0.04, 0.01, 0.04], 0.05)).toEqual([false, true, false]);
    expect(holm([0.02, 0.02, 0.02], 0.05)).toEqual([false, false, false]);
  });

  test('of 400 gates over the same code at most 5 % accuse it, though they look ten times and no effect is too small', () => {
    const accused = Array.from({ length: 400 }, (_, i) => gate(i + 1, 1, { minEffect: 1e-6 })).filter(
      (one) => one === 'worse',
    );
    // 5 % is 20; a binomial of that rate goes over 32 less than once in 200 times.
    expect(accused.length).toBeLessThanOrEqual(32);
  });

  test('of 400 gates over a loss of 10 % nearly all catch it, and over the same code hardly any accuses it', () => {
    const of = (factor: number) => Array.from({ length: 400 }, (_, i) => gate(i + 1, factor));
    expect(of(1.1).filter((one) => one === 'worse').length).toBeGreaterThanOrEqual(392);
    const same = of(1);
    expect(same.filter((one) => one === 'worse').length).toBeLessThanOrEqual(10);
    expect(same.filter((one) => one === 'fine').length).toBeGreaterThanOrEqual(320);
  });
});

describe('judging', () => {
  test('what both halves of a round share changes nothing', () => {
    const quiet = {
      key: 'a',
      unit: 'ns',
      direction: 'down' as const,
      base: [9, 10, 11, 10, 9, 10],
      head: [12, 13, 14, 13, 12, 13],
    };
    const factors = [1, 5, 0.2, 3, 40, 1];
    const scaled = {
      ...quiet,
      base: quiet.base.map((value, i) => value * factors[i]),
      head: quiet.head.map((value, i) => value * factors[i]),
    };
    const [a] = judgeRounds([quiet]);
    const [b] = judgeRounds([scaled]);
    expect(b.judgement).toBe('worse');
    expect(b.change).toBeCloseTo(a.change, 12);
    expect(b.pValue).toBe(a.pValue);
  });

  test('of a rate less is worse, and its change is negative', () => {
    const { base, head } = roundsOf(1, 20, 1.2);
    const [rate] = judgeRounds([{ key: 'a', unit: 'req/s', direction: 'up', base: head, head: base }]);
    expect(rate.judgement).toBe('worse');
    expect(rate.change).toBeLessThan(-0.1);
    expect(rate.low).toBeLessThan(rate.change);
    expect(rate.high).toBeGreaterThan(rate.change);
    const [cost] = judgeRounds([{ key: 'a', unit: 'ns', direction: 'down', base: head, head: base }]);
    expect(cost.judgement).toBe('better');
  });

  test('a loss that is real and small is not a regression', () => {
    const [one] = judgeRounds([roundsOf(3, 60, 1.03, 0.01)], { minEffect: 0.05 });
    expect(one.judgement).toBe('fine');
    expect(one.pValue).toBeLessThan(0.001);
    expect(one.low).toBeGreaterThan(0);
  });

  test('a unit without a better way is changed, never worse', () => {
    const series = { ...roundsOf(4, 20, 1.3), direction: 'unknown' as const };
    expect(judgeRounds([series])[0].judgement).toBe('changed');
    expect(judgeRounds([{ ...series, base: series.head, head: series.base }])[0].judgement).toBe('changed');
    expect(judgeRounds([{ ...roundsOf(4, 40, 1, 0.01), direction: 'unknown' }])[0].judgement).toBe('fine');
  });

  test('few rounds are unsure, whatever they show', () => {
    expect(judgeRounds([roundsOf(5, 3, 2)])[0].judgement).toBe('unsure');
  });

  test('what does not vary at all is fine', () => {
    const bytes = Array.from({ length: 8 }, () => 108);
    const [one] = judgeRounds([{ key: 'a', unit: 'bytes', direction: 'down', base: bytes, head: bytes }]);
    expect(one).toMatchObject({ judgement: 'fine', change: 0, low: 0, high: 0, pValue: 1 });
  });

  test('values that are not pairs, or not above 0, are refused by name', () => {
    const series = roundsOf(6, 6, 1);
    expect(() => judgeRounds([{ ...series, head: [1] }])).toThrow(/series hot has 6 and 1 values/);
    expect(() => judgeRounds([{ ...series, head: [1, 1, 1, 1, 1, 0] }])).toThrow(BenchError);
    expect(() => judgeRounds([series], { minEffect: 0 })).toThrow(/minEffect/);
    expect(() => judgeRounds([series], { alpha: 1 })).toThrow(/alpha/);
  });
});
