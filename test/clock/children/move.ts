// Started on one CPU, moves this thread to another that calibration has never seen, and lets the clock learn it. The
// argument is that CPU. Prints how right the time was.
import { execFileSync } from 'node:child_process';
import { checkDrift, clockInfo, now, nsPerTick } from '../../../src/clock/index.js';

const READS = 2000;
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const beginNs = process.hrtime.bigint();
const beginTicks = now();

/** Milliseconds by which our clock is off Node's own since the start: the least of five, because a preempted pair is off. */
const errorMs = (): number => {
  const errors = Array.from({ length: 5 }, () => {
    const ours = (now() - beginTicks) * nsPerTick();
    return Math.abs(ours - Number(process.hrtime.bigint() - beginNs)) / 1e6;
  });
  return Math.min(...errors);
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
