// The clock of this thread, chosen once when the library loads: performance.now(), or the addon's, whose ticks are calibrated and watched here. Only
// `now` is on the hot path. Nothing here may throw: the last resort is pure JavaScript.
import { type FastCall, loadFastCall, loadNative, type NativeClock, SOURCE_NUMBER } from './binding.js';
import { calibrate, toOffsets, toPairs } from './calibrate.js';
import { chooseSource, forcedClock, forcedPath } from './choose.js';
import type { ClockAnchor, ClockInfo, ClockPath, ClockSource, CoreOffset, Pair } from './clock-types.js';

// The clock without the addon. performance.now() is CLOCK_MONOTONIC with real nanosecond digits, and cheaper than process.hrtime.bigint(), which
// makes a BigInt a reading (npm run bench -- clock). Both functions are taken when the library loads: a test that fakes the timers of a program must
// not stop its traces.
const nowMs = performance.now.bind(performance);
const wallMs = Date.now;

/** Nanoseconds since this thread began. */
export const jsNow = (): number => nowMs() * 1e6;

// Date.now() has whole milliseconds; performance.timeOrigin carries the digits below, until the wall clock is stepped.
const MAX_APART_MS = 2;

export const jsAnchor = (): ClockAnchor => {
  // One reading for both: whatever comes between two would be an error of every timestamp.
  const sinceOrigin = nowMs();
  const coarse = wallMs();
  const fine = performance.timeOrigin + sinceOrigin;
  const sec = Math.floor(fine / 1000);
  const steppedMs = Math.abs(fine - coarse) > MAX_APART_MS ? coarse - Math.floor(fine) : 0;
  const ms = fine - sec * 1000 + steppedMs;
  const carry = Math.floor(ms / 1000);
  return {
    ticks: sinceOrigin * 1e6,
    unixSec: sec + carry,
    unixNano: Math.floor((ms - carry * 1000) * 1e6),
    nsPerTick: 1,
  };
};

const sleeper = new Int32Array(new SharedArrayBuffer(4));

// Pairs are exact to some 50 ns; over 2 ms that is 25 ppm, and it shrinks with every report.
const MIN_BASELINE_NS = 2e6;
// Below this the noise of two pairs would look like drift.
const MIN_CHECK_NS = 50e6;
const DRIFT_PPM = 100;
// Beyond this it was not drift but a jump: a suspend, a migration to another machine.
const JUMP_PPM = 10_000;

/** How many nanoseconds a tick has: the slope from the first pair to the newest, and the watch over it. */
export class Rate {
  private first: Pair;
  private last: Pair;
  private slope = 0;
  private baselineNs = 0;
  driftPpm = 0;
  recalibrations = 0;

  constructor(private readonly read: () => Pair) {
    this.first = read();
    this.last = this.first;
  }

  /** Nanoseconds a tick. Waits for a baseline of 2 ms when asked sooner after the start. */
  get nsPerTick(): number {
    if (this.slope === 0) this.begin();
    return this.slope;
  }

  /** The same without a wait, for code of the program: sooner after the start it is as exact as the time since then allows, 0.05 % after 0.1 ms. */
  get estimate(): number {
    if (this.slope !== 0) return this.slope;
    const { monoNs, ticks } = this.read();
    const baselineNs = monoNs - this.first.monoNs;
    if (baselineNs >= MIN_BASELINE_NS || ticks <= this.first.ticks) return this.nsPerTick;
    return baselineNs / (ticks - this.first.ticks);
  }

  /** Compare with CLOCK_MONOTONIC since the last check; calibrate anew when they disagree. */
  check(): void {
    if (this.slope === 0) {
      this.begin();
      return;
    }
    const pair = this.read();
    const monoNs = pair.monoNs - this.last.monoNs;
    if (monoNs < MIN_CHECK_NS) return;
    const ppm = (((pair.ticks - this.last.ticks) * this.slope - monoNs) / monoNs) * 1e6;
    this.driftPpm = ppm;
    // A slope over a short baseline is not yet good enough to blame the counter; the next one will be.
    const isDrift = Math.abs(ppm) > DRIFT_PPM && this.baselineNs >= MIN_CHECK_NS;
    // Right after a jump the slope is from before it, and perhaps of another machine: this stretch sets a new one.
    const isJudged = this.baselineNs > 0;
    if (isJudged && Math.abs(ppm) > JUMP_PPM) {
      this.recalibrations++;
      this.first = pair;
      this.last = pair;
      this.baselineNs = 0;
      return;
    }
    if (isDrift) {
      this.recalibrations++;
      this.first = this.last;
    }
    this.advance(pair);
  }

  /** Move the last pair, as a suspend or migration would. For tests. */
  jump(ns: number): void {
    this.last = { ...this.last, monoNs: this.last.monoNs - ns };
  }

  private begin(): void {
    const elapsed = this.read().monoNs - this.first.monoNs;
    if (elapsed < MIN_BASELINE_NS) Atomics.wait(sleeper, 0, 0, (MIN_BASELINE_NS - elapsed) / 1e6 + 0.1);
    this.advance(this.read());
  }

  private advance(pair: Pair): void {
    this.last = pair;
    this.baselineNs = pair.monoNs - this.first.monoNs;
    this.slope = this.baselineNs / (pair.ticks - this.first.ticks);
  }
}

const ROUNDS_APART_MS = 2;
const REFINE_EVERY_NS = 60e9;
const FIRST_REFINE_NS = 1e9;
/** One round in a thousand can be spoilt by a machine that is busy; two in a row mean that the counters are bad. */
const MAX_ATTEMPTS = 2;

/** The clock with the addon: starts the chosen source, calibrates, watches how long a tick is. */
export class NativeClockState {
  readonly source: ClockSource;
  readonly reasons: string[] = [];
  readonly path: ClockPath;
  readonly now: () => number;
  /** Of a counter that has to be watched. */
  readonly rate: Rate | undefined;
  private early: readonly Pair[] = [];

  constructor(
    private readonly native: NativeClock,
    fast: FastCall | undefined,
    forced: ClockSource | undefined,
  ) {
    this.source = this.start(forced);
    const wrapped = this.wrap(fast);
    this.path = wrapped === undefined ? 'napi' : 'fast';
    this.now = wrapped ?? native.now;
    if (this.source === 'tsc' || this.source === 'tsc-percpu') this.rate = new Rate(() => this.pair());
  }

  get nsPerTick(): number {
    if (this.rate !== undefined) return this.rate.nsPerTick;
    return this.source === 'cntvct' ? 1e9 / this.native.features().cntvctHz : 1;
  }

  /** The same, which never waits. */
  get estimatedNsPerTick(): number {
    return this.rate?.estimate ?? this.nsPerTick;
  }

  /** The offsets in force, whichever thread measured them. */
  get cores(): readonly CoreOffset[] {
    return this.source === 'tsc-percpu' ? toOffsets(this.native.cpuOffsets(), this.nsPerTick) : [];
  }

  get unknownCpuReadings(): number {
    return this.native.unknownCpuReadings();
  }

  anchor(): ClockAnchor {
    const { nsPerTick } = this;
    const [ticks, unixSec, unixNano] = this.native.anchor();
    return { ticks, unixSec, unixNano, nsPerTick };
  }

  check(): void {
    const { rate } = this;
    if (rate === undefined) return;
    const before = rate.recalibrations;
    rate.check();
    if (this.source !== 'tsc-percpu') return;
    // A pair from before a jump is not a measure of the rate of a core.
    if (rate.recalibrations > before) this.measureTwice();
    else if (this.isDue()) this.refine();
  }

  private start(forced: ClockSource | undefined): ClockSource {
    const { source, reasons } = chooseSource(this.native, forced);
    this.reasons.push(...reasons);
    const inForce = this.claim(source);
    if (inForce !== source) this.reasons.push(`this process uses ${inForce} already`);
    // Another thread's calibration serves this one too.
    if (inForce !== 'tsc-percpu' || this.native.publishedAt() >= 0) return inForce;
    this.injectForTests();
    for (let attempt = 0; attempt < MAX_ATTEMPTS && this.native.publishedAt() < 0; attempt++) this.measureTwice();
    if (this.native.giveUpTsc() === SOURCE_NUMBER[inForce]) return inForce;
    this.reasons.push(
      this.early.length === 0
        ? 'tsc-percpu: no thread could be pinned to a core, or the CPU ids of RDTSCP are not those of the kernel'
        : 'tsc-percpu: the cores do not agree on the rate of the TSC',
    );
    return 'monotonic';
  }

  private claim(source: ClockSource): ClockSource {
    const inForce = this.native.claimSource(SOURCE_NUMBER[source]);
    return (Object.keys(SOURCE_NUMBER) as ClockSource[]).find((name) => SOURCE_NUMBER[name] === inForce) ?? source;
  }

  private wrap(fast: FastCall | undefined): (() => number) | undefined {
    if (fast === undefined) return undefined;
    try {
      const wrapped = fast.wrap(this.native.nowAddress());
      if (wrapped === undefined) this.reasons.push('the fast-call file serves another copy of the clock');
      return wrapped;
    } catch (error) {
      this.reasons.push(`the fast-call file failed: ${String(error)}`);
      return undefined;
    }
  }

  // Soon after the start, because the first baseline is short; then now and then, because it costs a thread a core. Counted
  // from the last time that any thread of the process did it.
  private isDue(): boolean {
    const last = this.native.publishedAt();
    return this.pair().monoNs - last > (last < FIRST_REFINE_NS ? FIRST_REFINE_NS : REFINE_EVERY_NS);
  }

  private measureTwice(): void {
    this.early = toPairs(this.native.pairPerCpu());
    Atomics.wait(sleeper, 0, 0, ROUNDS_APART_MS);
    this.refine();
  }

  // A core that is new, or counts differently now, makes this round the first of the next calibration.
  private refine(): void {
    const late = toPairs(this.native.pairPerCpu());
    const calibration = calibrate(this.early, late);
    if (calibration === undefined) {
      this.early = late;
      return;
    }
    const { cores, at, nsPerTick } = calibration;
    const flat = cores.flatMap(({ cpu, offsetTicks, errorTicks }) => [cpu, offsetTicks, errorTicks]);
    this.native.publish(flat, at.monoNs, at.ticks, nsPerTick);
  }

  private pair(): Pair {
    const [cpu, ticks, monoNs, bracket] = this.native.pair();
    return { cpu, ticks, monoNs, bracket };
  }

  // SPANLINE_CLOCK_TEST_OFFSETS=cpu:ticks,... pretends that counters are apart, so that calibration can be tested on a
  // machine whose counters agree.
  private injectForTests(): void {
    for (const entry of (process.env.SPANLINE_CLOCK_TEST_OFFSETS ?? '').split(',')) {
      const [cpu, ticks] = entry.split(':').map(Number);
      if (Number.isInteger(cpu) && Number.isInteger(ticks)) this.native.injectOffset(cpu, ticks);
    }
  }
}

const reasons: string[] = [];

const loadFast = (isWanted: boolean): FastCall | undefined => {
  if (!isWanted) {
    reasons.push('Node-API was asked for');
    return undefined;
  }
  const loaded = loadFastCall();
  reasons.push(...loaded.reasons);
  return loaded.module;
};

const startNative = (): NativeClockState | undefined => {
  const source = forcedClock(reasons);
  const path = forcedPath(reasons);
  if (source === 'js' || path === 'js') {
    reasons.push('the clock without addon was asked for');
    return undefined;
  }
  const loaded = loadNative();
  reasons.push(...loaded.reasons);
  if (loaded.module === undefined) {
    reasons.push('performance.now() is read instead');
    return undefined;
  }
  const fast = loadFast(path !== 'napi');
  try {
    return new NativeClockState(loaded.module, fast, source);
  } catch (error) {
    reasons.push(`the addon failed: ${String(error)}`);
    return undefined;
  }
};

const native = startNative();

/**
 * Ticks since the process anchor. The function itself is the native one, not a wrapper, so that optimised code calls it
 * directly; monotone on a thread, never 0.
 */
export const now: () => number = native?.now ?? jsNow;

/** Wall clock and ticks read together: one for each report, so that an NTP step cannot tear a trace. */
export const takeAnchor = (): ClockAnchor => native?.anchor() ?? jsAnchor();

/** Nanoseconds a tick, as exact as is known by now: within 2 ms of the start that is less than what an anchor has. Never waits. */
export const nsPerTick = (): number => native?.estimatedNsPerTick ?? 1;

/** Compare with CLOCK_MONOTONIC and calibrate anew after a drift over 100 ppm or a jump. Called at every report. */
export const checkDrift = (): void => native?.check();

/** Counters of the clock, for `stats()`. */
export const clockStats = (): Pick<ClockInfo, 'recalibrations' | 'unknownCpuReadings'> => ({
  recalibrations: native?.rate?.recalibrations ?? 0,
  unknownCpuReadings: native?.unknownCpuReadings ?? 0,
});

/**
 * Which clock this process uses, how exact it is, and why no better one.
 *
 * @example
 * ```ts
 * const { source, path, hz } = clockInfo();
 * console.log(`${source} by ${path}, ${(hz / 1e6).toFixed(0)} MHz`);
 * ```
 */
export const clockInfo = (): ClockInfo => ({
  source: native?.source ?? 'monotonic',
  path: native?.path ?? 'js',
  hz: 1e9 / (native?.nsPerTick ?? 1),
  nsPerTick: native?.nsPerTick ?? 1,
  cores: native?.cores ?? [],
  driftPpm: native?.rate?.driftPpm ?? 0,
  ...clockStats(),
  reasons: [...reasons, ...(native?.reasons ?? [])],
  abi: process.versions.modules,
});

/** Make the clock believe that CLOCK_MONOTONIC jumped by `ns` since the last check. For tests. */
export const simulateJump = (ns: number): void => native?.rate?.jump(ns);
