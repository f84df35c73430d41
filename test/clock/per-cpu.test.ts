// Offsets between cores are found within their error bound, and cores that disagree on the rate are refused.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Pair } from '../../src/clock/clock-types.js';
import { calibrate, toPairs } from '../../src/clock/per-cpu.js';

const NS_PER_TICK = 0.385;
const BRACKET = 104;

/** A round of pairs: each core reads at its own moment, anywhere within its bracket. */
const round = (
  atNs: number,
  offsets: readonly number[],
  within: readonly number[],
  rates = offsets.map(() => NS_PER_TICK),
): Pair[] =>
  offsets.map((offset, cpu) => {
    const monoNs = atNs + cpu * 5000;
    return { cpu, ticks: monoNs / rates[cpu] + offset + (within[cpu] - 0.5) * BRACKET, monoNs, bracket: BRACKET };
  });

test('any offsets are recovered within the bound that is reported', () => {
  const cores = fc.array(fc.tuple(fc.integer({ min: -1e9, max: 1e9 }), fc.double({ min: 0, max: 1, noNaN: true })), {
    minLength: 1,
    maxLength: 64,
  });
  fc.assert(
    fc.property(cores, (drawn) => {
      const offsets = drawn.map(([offset]) => offset);
      const within = drawn.map(([, place]) => place);
      const found = calibrate(round(1e9, offsets, within), round(1e9 + 20e6, offsets, within));
      expect(found?.cores).toHaveLength(offsets.length);
      for (const { cpu, offsetNs, errorNs } of found?.cores ?? []) {
        const truth = (offsets[cpu] - offsets[0]) * NS_PER_TICK;
        // Half a tick, because offsets are whole ticks.
        expect(Math.abs(offsetNs - truth)).toBeLessThanOrEqual(errorNs + NS_PER_TICK);
      }
    }),
  );
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
