// What rounds tell of the cost of tracing: a growth is over a share only where its whole interval is, and what cannot be told is a reason, never a pass.
import { expect, test } from 'vitest';
import { costsOf, isCpuOver, type OverheadRound } from '../../src/bench/overhead/load.js';

/** Rounds with these CPU times a request, untraced and traced. */
const roundsOf = (cpu: readonly (readonly [untraced: number | undefined, traced: number | undefined])[]) =>
  cpu.map(([untraced, traced]): OverheadRound => {
    const of = (cpuUs: number | undefined) => ({
      requestsPerSecond: 100,
      p99Ms: 5,
      ...(cpuUs !== undefined && { cpuUs }),
    });
    return { untraced: of(untraced), traced: of(traced) };
  });

test('a growth beyond chance', () => {
  const grown = roundsOf([
    [100, 130],
    [101, 131],
    [99, 128],
  ]);
  expect(isCpuOver(grown, 0.2)).toBe(true);
  expect(isCpuOver(grown, 0.5)).toBe(false);
  const unsure = roundsOf([
    [100, 130],
    [100, 90],
    [100, 140],
  ]);
  expect(isCpuOver(unsure, 0.2)).toBe(false);
  expect(costsOf(grown).map(({ name }) => name)).toEqual(['CPU a request', 'throughput', 'p99']);
});

test('what cannot be told is a reason', () => {
  // The system counts by 10 ms, so a short round may take none.
  const short = roundsOf([
    [100, 130],
    [0, 130],
  ]);
  expect(isCpuOver(short, 0.2)).toMatch(/less than the 10 ms .* give a longer --round/);
  expect(isCpuOver(roundsOf([[undefined, undefined]]), 0.2)).toMatch(/this system does not report it/);
  expect(costsOf(short).map(({ name }) => name)).toEqual(['throughput', 'p99']);
});
