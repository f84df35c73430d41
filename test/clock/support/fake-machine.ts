// A machine with several cores whose counters a test sets, as the addon shows it to TypeScript. Every round of pairs takes
// 3 ms of its time. What the addon itself does (keeping the frame, the unknown CPU) is tested with the addon.
import type { NativeClock } from '../../../src/clock/binding.js';

export interface FakeCore {
  ticks: number;
  nsPerTick: number;
}

export interface Published {
  readonly cores: readonly number[];
  readonly monoNs: number;
  readonly ticks: number;
  readonly nsPerTick: number;
}

const TSC_PERCPU = 2;
const ROUND_NS = 3e6;

export class FakeMachine implements NativeClock {
  monoNs = 0;
  rounds = 0;
  source: number | undefined;
  readonly published: Published[] = [];
  /** Cores that can be pinned; the running one is the first. */
  cores: Map<number, FakeCore>;

  constructor(...cores: FakeCore[]) {
    this.cores = new Map(cores.map((core, cpu) => [cpu, core]));
  }

  pass(ns: number): void {
    this.monoNs += ns;
    for (const core of this.cores.values()) core.ticks += ns / core.nsPerTick;
  }

  now = (): number => [...this.cores.values()][0].ticks;
  nowAddress = (): bigint => 1n;
  features = () => ({ invariantTsc: true, rdtscp: true, cntvctHz: 0 });
  claimSource = (source: number): number => {
    this.source ??= source;
    return this.source;
  };
  pair = (): number[] => [0, this.now(), this.monoNs, 100];
  pairPerCpu = (): number[] => {
    this.rounds++;
    this.pass(ROUND_NS);
    return [...this.cores].flatMap(([cpu, { ticks }]) => [cpu, ticks, this.monoNs, 100]);
  };
  publish = (cores: readonly number[], monoNs: number, ticks: number, nsPerTick: number): void => {
    this.published.push({ cores, monoNs, ticks, nsPerTick });
  };
  publishedAt = (): number => this.published.at(-1)?.monoNs ?? -1;
  cpuOffsets = (): number[] => [...(this.published.at(-1)?.cores ?? [])];
  giveUpTsc = (): number => {
    if (this.source === TSC_PERCPU && this.published.length === 0) this.source = 0;
    return this.source ?? 0;
  };
  injectOffset = (): void => {};
  unknownCpuReadings = (): number => 0;
  anchor = (): number[] => [this.now(), 0, 0];
}
