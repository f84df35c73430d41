// What tracing costs a service, of rounds in which it was loaded untraced and traced by turns. Every figure has the interval that the rounds leave
// open, and must never be told without it.
import { medianOf, type Shift, shiftOf } from '@spanline/tracedb/internal';
import type { LoadRound } from './load.js';

/** A round of either, one right after the other. */
export interface OverheadRound {
  readonly untraced: LoadRound;
  readonly traced: LoadRound;
}

/** One figure: the middle of each, and what tracing adds to it. */
export interface Cost {
  readonly name: 'CPU a request' | 'throughput' | 'p99';
  readonly unit: 'us' | 'req/s' | 'ms';
  readonly untraced: number;
  readonly traced: number;
  /** In the unit. */
  readonly added: Shift;
  /** As a share: 0.1 is 10 % more. */
  readonly change: Shift;
}

const costOf = (
  head: Pick<Cost, 'name' | 'unit'>,
  rounds: readonly OverheadRound[],
  figure: (round: LoadRound) => number | undefined,
): Cost | undefined => {
  const untraced = rounds.map((round) => figure(round.untraced) ?? Number.NaN);
  const traced = rounds.map((round) => figure(round.traced) ?? Number.NaN);
  if (![...untraced, ...traced].every((value) => value > 0)) return undefined;
  const { estimate, low, high } = shiftOf(traced.map((value, i) => Math.log(value / untraced[i])));
  return {
    ...head,
    untraced: medianOf(untraced),
    traced: medianOf(traced),
    added: shiftOf(traced.map((value, i) => value - untraced[i])),
    change: { estimate: Math.expm1(estimate), low: Math.expm1(low), high: Math.expm1(high) },
  };
};

const cpuOf = (rounds: readonly OverheadRound[]): Cost | undefined =>
  costOf({ name: 'CPU a request', unit: 'us' }, rounds, ({ cpuUs }) => cpuUs);

/** Whether CPU time a request grows by more than the share `most`, beyond chance; or why that is unknown. */
export const isCpuOver = (rounds: readonly OverheadRound[], max: number): boolean | string => {
  const cpu = cpuOf(rounds);
  if (cpu !== undefined) return cpu.change.low > max;
  return rounds.some(({ untraced }) => untraced.cpuUs === undefined)
    ? 'no CPU time: this system does not report it for other processes'
    : 'no CPU time: a round took less than the 10 ms that the system counts by; give a longer --round';
};

/** All figures that the rounds tell. */
export const costsOf = (rounds: readonly OverheadRound[]): readonly Cost[] =>
  [
    cpuOf(rounds),
    costOf({ name: 'throughput', unit: 'req/s' }, rounds, ({ requestsPerSecond }) => requestsPerSecond),
    costOf({ name: 'p99', unit: 'ms' }, rounds, ({ p99Ms }) => p99Ms),
  ].filter((cost) => cost !== undefined);
