// What tracing costs the service: the same queries untraced, with one trace in ten, and with all of them, in rounds that take turns, so that a
// machine that slows down slows all. The first rounds do not count: a service runs for longer than V8 takes to compile it. Costs are differences
// within a round; rounds go on until these are known better than a third of what they say, because a cost below its noise is not a cost that was
// measured.
import { configure, flush, parentBased, ratio } from 'spanline';

/** Until these are over V8 compiles a dozen functions a round, more of them where spans are recorded. */
const WARM_ROUNDS = 10;
const MIN_ROUNDS = 9;
const MAX_ROUNDS = 45;

/** What tracing adds to an untraced round, percent: the median over the rounds, and between what it lies in 95 of 100 such measurements. */
export interface Added {
  readonly percent: number;
  readonly from: number;
  readonly to: number;
}

/** Of one way of tracing: what it adds to the wall time and to the CPU time of the process. */
export interface Cost {
  readonly wall: Added;
  readonly cpu: Added;
}

/** Medians of an untraced round, and the two costs; how many rounds counted. */
export interface Costs {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly all: Cost;
  readonly oneInTen: Cost;
  readonly rounds: number;
}

interface Times {
  readonly wall: number;
  readonly cpu: number;
}

const SIDES = ['off', 'oneInTen', 'all'] as const;
type Side = (typeof SIDES)[number];

const turnTo = (side: Side): void =>
  configure({ disabled: side === 'off', sampler: side === 'oneInTen' ? ratio(0.1) : parentBased() });

const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);

const median = (values: readonly number[]): number => sorted(values)[(values.length - 1) >> 1];

/** The interval by order statistics, which asks for no distribution. */
const addedBy = (values: readonly number[]): Added => {
  const ranked = sorted(values);
  const { length } = ranked;
  const low = Math.max(0, Math.floor((length - 1.96 * Math.sqrt(length)) / 2));
  return { percent: median(ranked), from: ranked[low], to: ranked[length - 1 - low] };
};

const measure = async (work: () => Promise<unknown>): Promise<Times> => {
  const before = process.cpuUsage();
  const begin = performance.now();
  await work();
  const wall = performance.now() - begin;
  // Outside the wall time, as in production, where spans leave later; inside the CPU time, because somebody pays it.
  await flush();
  const { user, system } = process.cpuUsage(before);
  return { wall, cpu: (user + system) / 1000 };
};

const isKnown = ({ percent, from, to }: Added): boolean => (to - from) / 2 < Math.abs(percent) / 3;

/** Run `work` in turns. Tracing is on afterwards. */
export const measureCost = async (work: () => Promise<unknown>): Promise<Costs> => {
  const times: Record<Side, Times[]> = { off: [], oneInTen: [], all: [] };
  const costOf = (side: Side): Cost => {
    const added = (what: keyof Times): Added =>
      addedBy(times[side].map((one, round) => (one[what] / times.off[round][what] - 1) * 100));
    return { wall: added('wall'), cpu: added('cpu') };
  };
  // Each way once, from another one on each time.
  const takeTurns = async (round: number, took: (side: Side, one: Times) => void): Promise<void> => {
    for (let i = 0; i < SIDES.length; i++) {
      const side = SIDES[(i + round) % SIDES.length];
      turnTo(side);
      took(side, await measure(work));
    }
  };
  for (let round = 0; round < WARM_ROUNDS; round++) await takeTurns(round, () => {});
  let rounds = 0;
  while (rounds < MIN_ROUNDS || (rounds < MAX_ROUNDS && !isKnown(costOf('all').cpu))) {
    await takeTurns(rounds, (side, one) => times[side].push(one));
    rounds++;
  }
  turnTo('all');
  const [wallMs, cpuMs] = (['wall', 'cpu'] as const).map((what) => median(times.off.map((one) => one[what])));
  return { wallMs, cpuMs, all: costOf('all'), oneInTen: costOf('oneInTen'), rounds };
};
