// Offsets between cores are found within their error bound, and cores that disagree on the rate are refused.

import { expect, test } from 'vitest';
import { calibrate, toOffsets, toPairs } from '../../src/clock/calibrate.js';
import type { Pair } from '../../src/clock/clock-types.js';
import fc from '../support/fast-check.js';

const NS_PER_TICK = 0.385;
const BRACKET = 104;
const RATES = new Array<number>(64).fill(NS_PER_TICK);

/** A round of pairs: each core reads at its own moment, anywhere within its bracket. */
const round = (
  atNs: number,
  offsets: readonly number[],
  within: readonly number[],
  rates: readonly number[] = RATES,
  apartNs = 5000,
): Pair[] =>
  offsets.map((offset, cpu) => {
    const monoNs = atNs + cpu * apartNs;
    return { cpu, ticks: monoNs / rates[cpu] + offset + (within[cpu] - 0.5) * BRACKET, monoNs, bracket: BRACKET };
  });

test('any offsets are recovered within the bound that is reported', () => {
  const place = fc.double({ min: 0, max: 1, noNaN: true });
  // Where in its bracket a core read the clock, differs from round to round; 2 ms apart is what a start has.
  const cores = fc.array(fc.tuple(fc.integer({ min: -1e9, max: 1e9 }), place, place), { minLength: 1, maxLength: 64 });
  fc.assert(
    fc.property(cores, (drawn) => {
      const offsets = drawn.map(([offset]) => offset);
      const early = drawn.map(([, first]) => first);
      const late = drawn.map(([, , second]) => second);
      const found = calibrate(round(1e9, offsets, early), round(1e9 + 2e6, offsets, late));
      expect(found?.cores).toHaveLength(offsets.length);
      for (const { cpu, offsetTicks, errorTicks } of found?.cores ?? []) {
        // Half a tick, because offsets are whole ticks.
        expect(Math.abs(offsetTicks - (offsets[cpu] - offsets[0]))).toBeLessThanOrEqual(errorTicks + 0.5);
      }
    }),
  );
});

test('a wrong rate is part of the bound where a round takes longer than the time between the two', () => {
  const offsets = new Array<number>(64).fill(0);
  const last = offsets.length - 1;
  // All rates are wrong by a bracket, so they agree; the last core, read long after the first, suffers by it.
  const early = offsets.map(() => 1);
  const late = offsets.map((_, cpu) => (cpu === last ? 0.67 : 0));
  const found = calibrate(round(1e9, offsets, early, RATES, 100_000), round(1e9 + 2e6, offsets, late, RATES, 100_000));
  const core = found?.cores[last];
  expect(core).toBeDefined();
  expect(Math.abs(core?.offsetTicks ?? 0)).toBeLessThanOrEqual((core?.errorTicks ?? 0) + 0.5);
});

test('rates that differ by less than 0.05 % are accepted, by more refused', () => {
  const at = (difference: number) => {
    const rates = [NS_PER_TICK, NS_PER_TICK * (1 + difference)];
    return calibrate(round(1e9, [0, 0], [0.5, 0.5], rates), round(1.02e9, [0, 0], [0.5, 0.5], rates));
  };
  expect(at(0.0004)).toBeDefined();
  expect(at(0.0006)).toBeUndefined();
});

test('a core that is in one round only is refused, and so is nothing at all', () => {
  const both = round(1e9, [0, 5], [0.5, 0.5]);
  expect(calibrate(both.slice(0, 1), both)).toBeUndefined();
  expect(calibrate([], [])).toBeUndefined();
});

test('four numbers make a pair', () => {
  expect(toPairs([1, 2, 3, 4, 5, 6, 7, 8])).toEqual([
    { cpu: 1, ticks: 2, monoNs: 3, bracket: 4 },
    { cpu: 5, ticks: 6, monoNs: 7, bracket: 8 },
  ]);
});

test('three numbers make an offset, against the first core', () => {
  expect(toOffsets([2, 1000, 0, 7, 1200, 30], 0.5)).toEqual([
    { cpu: 2, offsetNs: 0, errorNs: 0 },
    { cpu: 7, offsetNs: 100, errorNs: 15 },
  ]);
});
