// Reads the clock of this process and prints what a test wants to know of it.
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import {
  checkDrift,
  clockInfo,
  clockStats,
  now,
  nsPerTick,
  simulateJump,
  takeAnchor,
} from '../../../src/clock/index.js';

const READS = 200_000;

const reads = (): { backwards: number; zeros: number; digits: number } => {
  let backwards = 0;
  let zeros = 0;
  const digits = new Set<number>();
  let last = 0;
  for (let i = 0; i < READS; i++) {
    const ticks = now();
    if (ticks < last) backwards++;
    if (ticks === 0) zeros++;
    if (i < 10_000) digits.add(Math.floor(ticks * nsPerTickOnce) % 1000);
    last = ticks;
  }
  return { backwards, zeros, digits: digits.size };
};

const nsPerTickOnce = nsPerTick();

const wallErrorMs = (): number => {
  const before = Date.now();
  const { unixSec, unixNano } = takeAnchor();
  const after = Date.now();
  const wall = unixSec * 1000 + unixNano / 1e6;
  return wall < before - 2 ? before - wall : wall > after + 2 ? wall - after : 0;
};

/** A reading of our clock between two of Node's own. */
const bracketed = (): { before: bigint; ticks: number; after: bigint } => {
  const before = process.hrtime.bigint();
  const ticks = now();
  return { before, ticks, after: process.hrtime.bigint() };
};

/**
 * How far what our clock counts over 50 ms lies outside what Node's own allows, as a share: 0 inside. A process preempted between readings
 * allows more, and is not an error.
 */
const rateError = async (): Promise<number> => {
  const begin = bracketed();
  await new Promise((resolve) => setTimeout(resolve, 50));
  const end = bracketed();
  const ns = (end.ticks - begin.ticks) * nsPerTick();
  const min = Number(end.before - begin.after);
  const max = Number(end.after - begin.before);
  return Math.max(0, 1 - ns / min, ns / max - 1);
};

const affinity = (): string => /Cpus_allowed_list:\s*(\S+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';

/** Ticks read in a worker thread lie between two readings of this one when both count from one anchor. */
const workerAgrees = (): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const before = now();
    const worker = new Worker(new URL(import.meta.url), { workerData: 'worker' });
    worker.once('message', (ticks: number) => resolve(before <= ticks && ticks <= now()));
    worker.once('error', reject);
  });

const main = async (): Promise<void> => {
  const { isMainThread, parentPort } = await import('node:worker_threads');
  if (!isMainThread) {
    parentPort?.postMessage(now());
    return;
  }
  const before = affinity();
  const result = {
    ...reads(),
    wallErrorMs: wallErrorMs(),
    rateError: await rateError(),
    workerAgrees: process.env.SPANLINE_CLOCK === 'js' ? true : await workerAgrees(),
  };
  await new Promise((resolve) => setTimeout(resolve, 60));
  checkDrift();
  const quiet = clockStats().recalibrations;
  simulateJump(10e9);
  await new Promise((resolve) => setTimeout(resolve, 60));
  checkDrift();
  const afterJump = clockStats().recalibrations;
  const info = { ...clockInfo(), affinityKept: before === affinity() };
  process.stdout.write(JSON.stringify({ ...result, quiet, afterJump, info }));
};

await main();
