// The clock with the addon: starts the chosen source, calibrates, watches. All of it off the hot path, which is the
// native function alone.
import { type FastCall, type NativeClock, SOURCE_NUMBER } from './binding.js';
import { type Choice, chooseSource } from './choose.js';
import type { ClockAnchor, ClockPath, ClockSource, CoreOffset, Pair } from './clock-types.js';
import { type Calibration, calibrate, toPairs } from './per-cpu.js';
import { Rate } from './rate.js';

const ROUNDS_APART_MS = 2;
const REFINE_EVERY_NS = 60e9;
const FIRST_REFINE_NS = 1e9;

const sleeper = new Int32Array(new SharedArrayBuffer(4));

export class NativeClockState {
  readonly source: ClockSource;
  readonly reasons: string[];
  readonly path: ClockPath;
  readonly now: () => number;
  private readonly rate: Rate | undefined;
  private early: readonly Pair[] = [];
  private calibration: Calibration | undefined;
  private refinedAt = 0;

  constructor(
    private readonly native: NativeClock,
    fast: FastCall | undefined,
    forced: ClockSource | undefined,
  ) {
    const choice = this.start(chooseSource(native, forced));
    this.source = choice.source;
    this.reasons = [...choice.reasons];
    this.path = fast === undefined ? 'napi' : 'fast';
    this.now = fast === undefined ? native.now : fast.wrap(native.nowAddress());
    if (this.source === 'tsc' || this.source === 'tsc-percpu') this.rate = new Rate(() => this.pair());
  }

  get nsPerTick(): number {
    if (this.rate !== undefined) return this.rate.nsPerTick;
    return this.source === 'cntvct' ? 1e9 / this.native.features().cntvctHz : 1;
  }

  get cores(): readonly CoreOffset[] {
    return (this.calibration?.cores ?? []).map(({ cpu, offsetNs, errorNs }) => ({ cpu, offsetNs, errorNs }));
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
    if (this.source === 'tsc-percpu' && this.isDue(this.recalibrations > before)) this.refine();
  }

  /** Move the watch, as a suspend would. For tests. */
  jump(ns: number): void {
    this.rate?.jump(ns);
  }

  private start(choice: Choice): Choice {
    const claimed = this.native.claimSource(SOURCE_NUMBER[choice.source]);
    const inForce = (Object.keys(SOURCE_NUMBER) as ClockSource[]).find((name) => SOURCE_NUMBER[name] === claimed);
    if (inForce !== undefined && inForce !== choice.source) {
      return { source: inForce, reasons: [...choice.reasons, `this process uses ${inForce} already`] };
    }
    if (choice.source !== 'tsc-percpu') return choice;
    this.injectForTests();
    this.early = toPairs(this.native.pairPerCpu());
    Atomics.wait(sleeper, 0, 0, ROUNDS_APART_MS);
    if (this.apply(calibrate(this.early, toPairs(this.native.pairPerCpu())))) return choice;
    // Readings are those of CLOCK_MONOTONIC from here on, in ticks of the line set by the first pair.
    const pair = toPairs(this.native.pair())[0];
    this.native.setFallbackLine(pair.monoNs, pair.ticks, 1);
    this.native.degrade();
    return { source: 'monotonic', reasons: [...choice.reasons, 'the cores do not agree on the rate of the TSC'] };
  }

  private apply(calibration: Calibration | undefined): boolean {
    if (calibration === undefined) return false;
    for (const { cpu, offsetTicks } of calibration.cores) this.native.setCpuOffset(cpu, offsetTicks, true);
    this.native.setFallbackLine(calibration.at.monoNs, calibration.at.ticks, calibration.nsPerTick);
    this.calibration = calibration;
    this.refinedAt = calibration.at.monoNs;
    return true;
  }

  // Soon after the start, because the first baseline is short; then now and then, because it costs a thread a core.
  private isDue(hasDrifted: boolean): boolean {
    const since = toPairs(this.native.pair())[0].monoNs - this.refinedAt;
    const isFirst = this.refinedAt - (this.early[0]?.monoNs ?? 0) < FIRST_REFINE_NS;
    return hasDrifted || since > (isFirst ? FIRST_REFINE_NS : REFINE_EVERY_NS);
  }

  private refine(): void {
    const late = toPairs(this.native.pairPerCpu());
    const calibration = calibrate(this.early, late);
    if (calibration === undefined) this.early = late;
    else this.apply(calibration);
  }

  private pair(): Pair {
    const pair = toPairs(this.native.pair())[0];
    const offset = this.calibration?.cores.find((core) => core.cpu === pair.cpu)?.offsetTicks ?? 0;
    return { ...pair, ticks: pair.ticks - offset };
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
