// Types of the clock. No values.

/** Where ticks come from. */
export type ClockSource = 'tsc' | 'tsc-percpu' | 'cntvct' | 'monotonic';

/** How a reading gets to JavaScript: V8 fast call, Node-API call, or no addon at all. */
export type ClockPath = 'fast' | 'napi' | 'js';

/** Wall clock and ticks, read together. */
export interface ClockAnchor {
  readonly ticks: number;
  /** Whole unix seconds and the nanoseconds within that second. */
  readonly unixSec: number;
  readonly unixNano: number;
  readonly nsPerTick: number;
}

/** One core as calibration sees it. */
export interface CoreOffset {
  readonly cpu: number;
  /** How far the counter of this core is ahead of the first core's, nanoseconds. */
  readonly offsetNs: number;
  /** The offset is right within this bound, nanoseconds. */
  readonly errorNs: number;
}

/** What `clockInfo()` returns. */
export interface ClockInfo {
  readonly source: ClockSource;
  readonly path: ClockPath;
  /** Ticks a second. */
  readonly hz: number;
  readonly nsPerTick: number;
  /** Per-core offsets in force; empty unless the source is `tsc-percpu`. */
  readonly cores: readonly CoreOffset[];
  /** Difference to CLOCK_MONOTONIC at the last check, parts per million. */
  readonly driftPpm: number;
  readonly recalibrations: number;
  /** Readings on a CPU that calibration does not know; they came from CLOCK_MONOTONIC. */
  readonly unknownCpuReadings: number;
  /** Why better sources or paths were not chosen. */
  readonly reasons: readonly string[];
  /** ABI of this Node, which a fast-call file must be made for. */
  readonly abi: string;
}

/** A pair (CLOCK_MONOTONIC, ticks) taken on one CPU. */
export interface Pair {
  readonly cpu: number;
  readonly ticks: number;
  readonly monoNs: number;
  /** Ticks around the reading: the pair is exact within half of it. */
  readonly bracket: number;
}
