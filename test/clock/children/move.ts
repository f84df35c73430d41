// Started on one CPU, moves this thread to another that calibration has never seen, and lets the clock learn it. The
// argument is that CPU. Prints how right the time was.
import { execFileSync } from 'node:child_process';
import { checkDrift, clockInfo, now, nsPerTick } from '../../../src/clock/index.js';

const READS = 2000;
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Our clock and Node's at one moment: the closest of five pairs, because a preempted pair is off. */
const pair = (): { readonly ticks: number; readonly ns: bigint } => {
  const pairs = Array.from({ length: 5 }, () => {
    const ns = process.hrtime.bigint();
    const ticks = now();
    return { ns, ticks, apart: Number(process.hrtime.bigint() - ns) };
  });
  return pairs.sort((a, b) => a.apart - b.apart)[0];
};

const begin = pair();

/** Milliseconds by which our clock is off Node's own since the start. */
const errorMs = (): number => {
  const { ticks, ns } = pair();
  return Math.abs((ticks - begin.ticks) * nsPerTick() - Number(ns - begin.ns)) / 1e6;
};

const unknown = (): number => clockInfo().unknownCpuReadings;

const backwards = (): number => {
  let count = 0;
  let last = now();
  for (let i = 0; i < READS; i++) {
    const ticks = now();
    if (ticks < last) count++;
    last = ticks;
  }
  return count;
};

const main = async (): Promise<void> => {
  await sleep(50);
  const atHome = { unknown: unknown(), errorMs: errorMs(), backwards: backwards() };
  execFileSync('taskset', ['-p', '-c', process.argv[2], String(process.pid)]);
  const backwardsAbroad = backwards();
  const abroad = { unknown: unknown(), errorMs: errorMs(), backwards: backwardsAbroad };
  // The first refinement is due a second after the start; a core that is new takes two.
  for (let i = 0; i < 3; i++) {
    await sleep(600);
    checkDrift();
  }
  const before = unknown();
  const backwardsLearnt = backwards();
  const learnt = { unknown: unknown() - before, errorMs: errorMs(), backwards: backwardsLearnt };
  const { recalibrations, source, cores } = clockInfo();
  process.stdout.write(JSON.stringify({ source, atHome, abroad, learnt, recalibrations, cores: cores.length }));
};

await main();
