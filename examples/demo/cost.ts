// What tracing costs the service: the same queries with and without it, in rounds that take turns, the first of a round
// being once the one, once the other, so that a machine that slows down slows both. Says how much the rounds differ, because a cost below that is no cost that was measured.
import { configure, flush } from 'spanline';

const ROUNDS = 8;

/** Milliseconds of one side: median over the rounds. */
export interface Side {
  readonly wallMs: number;
  readonly cpuMs: number;
}

/** The two sides, and how far the rounds of one side lie apart, percent of the median. */
export interface Cost {
  readonly traced: Side;
  readonly untraced: Side;
  readonly noisePercent: number;
  readonly rounds: number;
}

const quantile = (values: readonly number[], q: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * q)];

const median = (values: readonly number[]): number => quantile(values, 0.5);

const measure = async (work: () => Promise<unknown>): Promise<Side> => {
  const cpu = process.cpuUsage();
  const begin = performance.now();
  await work();
  const wallMs = performance.now() - begin;
  // Outside the wall time, as in production, where spans leave later; inside the CPU time, because somebody pays it.
  await flush();
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs, cpuMs: (user + system) / 1000 };
};

const summary = (sides: readonly Side[]): Side => ({
  wallMs: median(sides.map(({ wallMs }) => wallMs)),
  cpuMs: median(sides.map(({ cpuMs }) => cpuMs)),
});

/** Run `work` in turns, traced and not. Tracing is on afterwards. */
export const measureCost = async (work: () => Promise<unknown>): Promise<Cost> => {
  const traced: Side[] = [];
  const untraced: Side[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const sides of round % 2 === 0 ? [untraced, traced] : [traced, untraced]) {
      configure({ disabled: sides === untraced });
      sides.push(await measure(work));
    }
  }
  configure({ disabled: false });
  const walls = untraced.map(({ wallMs }) => wallMs);
  const noisePercent = ((quantile(walls, 0.75) - quantile(walls, 0.25)) / median(walls)) * 100;
  return { traced: summary(traced), untraced: summary(untraced), noisePercent, rounds: ROUNDS };
};
