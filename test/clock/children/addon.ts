// The addon itself, without the code that decides: what it does with a table that lacks this CPU, with two threads that do
// not agree, and with a second clock. One case a process, because a process has one clock. Prints what a test wants to know.
import { loadFastCall, loadNative, SOURCE_NUMBER } from '../../../src/clock/binding.js';
import { toPairs } from '../../../src/clock/calibrate.js';

const native = loadNative().module;
if (native === undefined) throw new Error('this test needs the addon');

/** No machine has this many CPUs. */
const NOWHERE = 4095;
const MS = 1e6;

const spin = (ms: number): void => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

interface Bracketed {
  readonly before: bigint;
  readonly ticks: number;
  readonly after: bigint;
}

/** A reading of the addon between two of Node's own. */
const bracketed = (): Bracketed => {
  const before = process.hrtime.bigint();
  const ticks = native.now();
  return { before, ticks, after: process.hrtime.bigint() };
};

/** How far the addon's time from one reading to the next lies outside what Node's own allows, as a share: 0 inside, however long this thread was preempted. */
const rateError = (begin: Bracketed, end: Bracketed, nsPerTick: number): number => {
  const ns = (end.ticks - begin.ticks) * nsPerTick;
  return Math.max(0, 1 - ns / Number(end.before - begin.after), ns / Number(end.after - begin.before) - 1);
};

/** A clock whose only core is none of ours: every reading is one on an unknown CPU. */
const unknownCpu = (): object => {
  native.claimSource(SOURCE_NUMBER['tsc-percpu']);
  const first = toPairs(native.pairPerCpu());
  spin(5);
  const second = toPairs(native.pairPerCpu()).find(({ cpu }) => cpu === first[0].cpu) ?? first[0];
  const nsPerTick = (second.monoNs - first[0].monoNs) / (second.ticks - first[0].ticks);
  native.publish([NOWHERE, 0, 0], second.monoNs, second.ticks, nsPerTick);
  const before = native.unknownCpuReadings();
  const begin = bracketed();
  let last = begin.ticks;
  let backwards = 0;
  while (process.hrtime.bigint() - begin.before < 20n * BigInt(MS)) {
    const ticks = native.now();
    if (ticks < last) backwards++;
    last = ticks;
  }
  // The pair that the watch over the rate takes, is one of this clock too.
  const [, pairTicks] = native.pair();
  const end = bracketed();
  const isPairNow = pairTicks >= last && pairTicks <= end.ticks;
  return {
    counted: native.unknownCpuReadings() > before,
    backwards,
    rateError: rateError(begin, end, nsPerTick),
    isPositive: begin.ticks > 0,
    isPairNow,
  };
};

/** Who gives up first, decides; after that nobody can publish. */
const givenUp = (): object => {
  native.claimSource(SOURCE_NUMBER['tsc-percpu']);
  const source = native.giveUpTsc();
  native.publish([0, 0, 0], 0, 1e15, 1);
  const begin = bracketed();
  spin(20);
  return {
    source,
    published: native.publishedAt(),
    claimed: native.claimSource(SOURCE_NUMBER.tsc),
    rateError: rateError(begin, bracketed(), 1),
  };
};

/** Who has published, is not overruled. The frame of the clock is that of the first calibration, whatever a later one says. */
const published = (): object => {
  native.claimSource(SOURCE_NUMBER['tsc-percpu']);
  native.publish([7, 0, 0, 9, 500, 3], 1000, 5_000_000, 0.5);
  const offsets = native.cpuOffsets();
  native.publish([9, 0, 4, 11, 20, 5], 2000, 9_000_000, 0.5);
  const moved = native.cpuOffsets();
  return { source: native.giveUpTsc(), shift: moved[4] - offsets[4], offsets, moved, at: native.publishedAt() };
};

const secondClock = (): object => {
  native.claimSource(SOURCE_NUMBER.monotonic);
  const fast = loadFastCall().module;
  if (fast === undefined) return { isRefused: true, isKept: true };
  const now = fast.wrap(native.nowAddress());
  const isRefused = fast.wrap(native.nowAddress() + 16n) === undefined;
  const before = native.now();
  const ticks = now?.() ?? 0;
  return { isRefused, isKept: before <= ticks && ticks <= native.now() };
};

const cases: Readonly<Record<string, () => object>> = { unknownCpu, givenUp, published, secondClock };
process.stdout.write(JSON.stringify(cases[process.argv[2]]()));
