// Worker threads read the clock while the main thread never loads it: one after the other, then many at once. Prints their
// readings, with Node's own clock beside each.
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

/** Source, milliseconds of our clock, milliseconds of Node's, times that a reading went back, whether one was 0. */
type Reading = readonly [string, number, number, number, boolean];

const READS = 100_000;

const readInWorker = async (): Promise<void> => {
  const { clockInfo, now, nsPerTick } = await import('../../../src/clock/index.js');
  let backwards = 0;
  let first = now();
  const hasZero = first === 0;
  for (let i = 0; i < READS; i++) {
    const ticks = now();
    if (ticks < first) backwards++;
    first = ticks;
  }
  const scale = nsPerTick() / 1e6;
  // The tightest of five, because a preempted pair is off.
  const pairs = Array.from({ length: 5 }, () => {
    const before = process.hrtime.bigint();
    const ours = now() * scale;
    const node = Number(before) / 1e6;
    return { ours, node, bracket: Number(process.hrtime.bigint() - before) };
  });
  const { ours, node } = pairs.sort((a, b) => a.bracket - b.bracket)[0];
  parentPort?.postMessage([clockInfo().source, ours, node, backwards, hasZero]);
};

const runWorker = (): Promise<Reading> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url));
    let reading: Reading | undefined;
    worker.once('message', (message: Reading) => {
      reading = message;
    });
    worker.once('error', reject);
    worker.once('exit', () => (reading === undefined ? reject(new Error('no reading')) : resolve(reading)));
  });

const main = async (): Promise<void> => {
  if (!isMainThread) return readInWorker();
  const inTurn = [await runWorker(), await runWorker()];
  const atOnce = await Promise.all(Array.from({ length: 6 }, runWorker));
  process.stdout.write(JSON.stringify({ inTurn, atOnce }));
};

await main();
