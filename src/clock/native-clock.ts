// The clock with the addon: starts the chosen source, calibrates, watches. All of it off the hot path, which is the
// native function alone.
import { type FastCall, type NativeClock, SOURCE_NUMBER } from './binding.js';
import { chooseSource } from './choose.js';
import type { ClockAnchor, ClockPath, ClockSource, CoreOffset, Pair } from './clock-types.js';
import { calibrate, Rate, toOffsets, toPairs } from './rate.js';

const ROUNDS_APART_MS = 2;
const REFINE_EVERY_NS = 60e9;
const FIRST_REFINE_NS = 1e9;
/** One round in a thousand can be spoilt by a machine that is busy; two in a row mean that the counters are bad. */
const MAX_ATTEMPTS = 2;

const sleeper = new Int32Array(new SharedArrayBuffer(4));

export class NativeClockState {
  readonly source: ClockSource;
  readonly reasons: string[] = [];
  readonly path: ClockPath;
  readonly now: () => number;
  private readonly rate: Rate | undefined;
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

  get driftPpm(): number {
    return this.rate?.driftPpm ?? 0;
  }

  get recalibrations(): number {
    return this.rate?.recalibrations ?? 0;
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
    const before = this.recalibrations;
    this.rate?.check();
    if (this.source !== 'tsc-percpu') return;
    // A pair from before a jump is not a measure of the rate of a core.
    if (this.recalibrations > before) this.measureTwice();
    else if (this.isDue()) this.refine();
  }

  /** Move the watch, as a suspend would. For tests. */
  jump(ns: number): void {
    this.rate?.jump(ns);
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
    return toPairs(this.native.pair())[0];
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
