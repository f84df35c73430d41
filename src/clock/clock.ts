// The clock of this thread, chosen once when the library loads. Nothing here may throw: the last resort is pure JavaScript.
import { type FastCall, loadFastCall, loadNative } from './binding.js';
import { forcedClock, forcedPath } from './choose.js';
import type { ClockAnchor, ClockInfo } from './clock-types.js';
import { jsAnchor, jsNow } from './js-clock.js';
import { NativeClockState } from './native-clock.js';

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
  const forced = forcedClock();
  const { path, reason } = forcedPath();
  for (const one of [forced.reason, reason]) if (one !== undefined) reasons.push(one);
  if (forced.clock === 'js' || path === 'js') {
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
    return new NativeClockState(loaded.module, fast, forced.clock);
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
export const clockStats = (): Readonly<Record<string, number>> => ({
  recalibrations: native?.recalibrations ?? 0,
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
  driftPpm: native?.driftPpm ?? 0,
  recalibrations: native?.recalibrations ?? 0,
  unknownCpuReadings: native?.unknownCpuReadings ?? 0,
  reasons: [...reasons, ...(native?.reasons ?? [])],
  abi: process.versions.modules,
});

/** Make the clock believe that CLOCK_MONOTONIC jumped by `ns` since the last check. For tests. */
export const simulateJump = (ns: number): void => native?.jump(ns);
