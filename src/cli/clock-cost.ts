// What one reading costs in this process: the clock in force, and Node's own for reference. Minimum of several rounds,
// because anything above it is somebody else's work.
import { now } from '../clock/index.js';

const READS = 1000;
const WARM_ROUNDS = 2000;
const ROUNDS = 200;

// Each reader has a loop of its own: one loop for all would see many functions and optimise for none.
const READERS: Readonly<Record<string, () => number>> = {
  now: () => {
    let sum = 0;
    for (let i = 0; i < READS; i++) sum += now();
    return sum;
  },
  'performance.now': () => {
    let sum = 0;
    for (let i = 0; i < READS; i++) sum += performance.now();
    return sum;
  },
  'process.hrtime.bigint': () => {
    let sum = 0n;
    for (let i = 0; i < READS; i++) sum += process.hrtime.bigint();
    return Number(sum & 1n);
  },
};

const cost = (read: () => number): number => {
  for (let i = 0; i < WARM_ROUNDS; i++) read();
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const begin = process.hrtime.bigint();
    read();
    best = Math.min(best, Number(process.hrtime.bigint() - begin) / READS);
  }
  return best;
};

/** Nanoseconds a reading, by name. */
export const readCosts = (): Record<string, number> =>
  Object.fromEntries(Object.entries(READERS).map(([name, read]) => [name, cost(read)]));
