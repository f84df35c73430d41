// Fills the thread pool in one way a run, and prints what the timeline says of it. `open` of a named pipe takes a thread until somebody opens its other end.
import { execFileSync } from 'node:child_process';
import { pbkdf2 } from 'node:crypto';
import { lookup } from 'node:dns';
import { closeSync, mkdtempSync, open, openSync, rmSync, stat } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { monitorEventLoop, type TimelineRow } from '../../../../src/flight-recorder/index.js';

const print = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
const full = (rows: readonly TimelineRow[]): TimelineRow[] => rows.filter(({ kind }) => kind === 'pool');
const lengthUs = (rows: readonly TimelineRow[]): number =>
  rows.reduce((sum, { startUs, endUs }) => sum + endUs - startUs, 0);
/** The threads are taken until they are given back: waits for who looks, however late that is. The time of the test is the bound. */
const until = async (isSeen: () => boolean): Promise<void> => {
  while (!isSeen()) await sleep(5);
};

const directory = isMainThread ? mkdtempSync(join(tmpdir(), 'pool-')) : (workerData as string);
if (isMainThread) process.on('exit', () => rmSync(directory, { recursive: true, force: true }));

const pipes = (names: readonly string[]): string[] => {
  const paths = names.map((name) => join(directory, name));
  execFileSync('mkfifo', paths);
  return paths;
};
/** Takes a thread each. Gives what ends with them. */
const take = (paths: readonly string[]): Promise<unknown> =>
  Promise.all(paths.map((path) => new Promise<void>((resolve) => open(path, 'r', (_, fd) => resolve(closeSync(fd))))));
/** Gives the threads back. Does not wait: the other end is open. */
const giveBack = (paths: readonly string[]): void => {
  for (const path of paths) closeSync(openSync(path, 'w'));
};

const programs: Record<string, () => Promise<void>> = {
  // Two more than the threads, and a request that waits behind them.
  async files() {
    const timeline = monitorEventLoop();
    const paths = pipes(['1', '2', '3', '4', '5', '6']);
    await sleep(20);
    const fromUs = Date.now() * 1000;
    const taken = take(paths);
    const waited = new Promise<void>((resolve) => stat(directory, () => resolve()));
    // Who looks may have come between two of the requests, and not again since.
    await until(() => lengthUs(full(timeline.rows())) > 50_000 && full(timeline.rows())[0].detail === 'fs 7');
    const during = full(timeline.rows());
    giveBack(paths);
    await Promise.all([taken, waited]);
    await sleep(20);
    print({ during, after: full(timeline.rows()), fromUs, toUs: Date.now() * 1000, stats: timeline.stats() });
    timeline.stop();
  },
  async room() {
    const timeline = monitorEventLoop();
    const paths = pipes(['1', '2', '3']);
    const taken = take(paths);
    const beganMs = performance.now();
    for (let i = 0; i < 20; i++) {
      await sleep(10);
      await new Promise<void>((resolve) => stat(directory, () => resolve()));
    }
    giveBack(paths);
    await taken;
    print({ rows: full(timeline.rows()), stats: timeline.stats(), ms: performance.now() - beganMs });
    timeline.stop();
  },
  async hashes() {
    const timeline = monitorEventLoop();
    await sleep(20);
    const hash = (): Promise<void> => new Promise((resolve) => pbkdf2('a', 'b', 40_000, 64, 'sha512', () => resolve()));
    await Promise.all(Array.from({ length: 16 }, hash));
    print({ rows: full(timeline.rows()) });
    timeline.stop();
  },
  // glibc opens this file before it asks for a name without dots, and so takes a thread until it is written to.
  async names() {
    const timeline = monitorEventLoop();
    const [aliases] = pipes(['aliases']);
    Object.assign(process.env, { HOSTALIASES: aliases, RES_OPTIONS: 'timeout:1 attempts:1' });
    await sleep(20);
    let left = 3;
    for (let i = left; i > 0; i--) lookup('nowhere', () => left--);
    const others = new Promise<void>((resolve) => stat(directory, () => resolve()));
    await others;
    const hadRoom = left === 3;
    await until(() => lengthUs(full(timeline.rows())) > 50_000);
    while (left > 0) {
      closeSync(openSync(aliases, 'r+'));
      await sleep(5);
    }
    print({ rows: full(timeline.rows()), hadRoom });
    timeline.stop();
  },
  // Work of all kinds that does not use the pool.
  async none() {
    const timeline = monitorEventLoop();
    for (let i = 0; i < 50; i++) {
      await sleep(1);
      JSON.parse(JSON.stringify(Array.from({ length: 2000 }, (_, k) => k)));
    }
    print(timeline.stats());
    timeline.stop();
  },
  // The pool is full of a worker's requests when the only one of this thread has ended: nothing is left that the process waits for.
  async ends() {
    monitorEventLoop();
    const own = pipes(['own']);
    const others = pipes(['1', '2', '3', '4']);
    const taken = take(own);
    await sleep(30);
    const worker = new Worker(new URL(import.meta.url), { argv: ['in-worker'], workerData: directory });
    await new Promise((resolve) => worker.once('message', resolve));
    await sleep(60);
    worker.unref();
    // It would be kept alive for ever.
    const guard = setTimeout(() => {
      print('kept alive');
      giveBack(others);
    }, 20_000).unref();
    process.once('beforeExit', () => {
      clearTimeout(guard);
      print('over');
      giveBack(others);
    });
    giveBack(own);
    await taken;
  },
  async 'in-worker'() {
    void take(['1', '2', '3', '4'].map((name) => join(directory, name)));
    parentPort?.postMessage('taken');
  },
  // Stopped and started while a probe is under way, and ended in the middle.
  async lives() {
    const paths = pipes(['1', '2', '3', '4']);
    const first = monitorEventLoop();
    const taken = take(paths);
    await sleep(20);
    first.stop();
    const secondUs = Date.now() * 1000;
    const second = monitorEventLoop();
    await sleep(20);
    giveBack(paths);
    await taken;
    await sleep(20);
    const found = full(second.rows());
    const ofSecond = found.length > 0 && found.every(({ startUs }) => startUs >= secondUs - 1000);
    const again = take(paths);
    await sleep(40);
    const open = full(second.rows()).length > found.length;
    giveBack(paths);
    await again;
    second.stop();
    monitorEventLoop();
    void take(paths);
    setTimeout(() => {
      print({ ofSecond, open });
      giveBack(paths);
      process.exit(7);
    }, 20);
  },
};

await programs[process.argv[2]]();
