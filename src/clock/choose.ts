// Which source to use, and why not a better one. Decides only; starts nothing.
import { readFileSync } from 'node:fs';
import { attempt } from '../base/calls/attempt.js';
import type { NativeClock } from './binding.js';
import type { ClockSource } from './clock-types.js';

/** What `SPANLINE_CLOCK` may say; `js` leaves the addon out. */
export type ForcedClock = ClockSource | 'js';

const FORCED: readonly string[] = ['tsc', 'tsc-percpu', 'cntvct', 'monotonic', 'js'];

/** A choice and the reasons against what would have been better. */
export interface Choice {
  readonly source: ClockSource;
  readonly reasons: readonly string[];
}

/** The environment's word; anything unknown is a reason, not an error: the program must start. */
export const forcedClock = (): { readonly clock: ForcedClock | undefined; readonly reason?: string } => {
  const value = process.env.SPANLINE_CLOCK;
  if (value === undefined || value === '') return { clock: undefined };
  if (FORCED.includes(value)) return { clock: value as ForcedClock };
  return { clock: undefined, reason: `SPANLINE_CLOCK=${value} is not one of ${FORCED.join(', ')}; ignored` };
};

/** What `SPANLINE_CLOCK_PATH` may say: the best path that is wanted. */
const PATHS: readonly string[] = ['napi', 'js'];

/** Like `forcedClock`, for the path. */
export const forcedPath = (): { readonly path: string | undefined; readonly reason?: string } => {
  const value = process.env.SPANLINE_CLOCK_PATH;
  if (value === undefined || value === '') return { path: undefined };
  if (PATHS.includes(value)) return { path: value };
  return { path: undefined, reason: `SPANLINE_CLOCK_PATH=${value} is not one of ${PATHS.join(', ')}; ignored` };
};

const CURRENT = '/sys/devices/system/clocksource/clocksource0/current_clocksource';

// The kernel watches the TSCs of all cores and stops using them when they disagree.
const kernelClockSource = (): string => attempt(() => readFileSync(CURRENT, 'utf8').trim()) ?? 'unknown';

const impossible = (source: ClockSource, native: NativeClock): string | undefined => {
  const { invariantTsc, rdtscp, cntvctHz } = native.features();
  if (source === 'cntvct') return cntvctHz > 0 ? undefined : 'cntvct needs an arm64 CPU';
  if (source === 'monotonic') return undefined;
  if (!invariantTsc) return `${source} needs a CPU with an invariant TSC`;
  if (source === 'tsc') return undefined;
  // Only Linux pins a thread to a core and keeps the id of the core where RDTSCP finds it.
  if (process.platform !== 'linux') return 'tsc-percpu needs Linux';
  return rdtscp ? undefined : 'tsc-percpu needs RDTSCP';
};

/** Best first: tsc when the kernel vouches for it, tsc-percpu, monotonic; on arm64 cntvct, which all cores share. */
export const chooseSource = (native: NativeClock, forced: ClockSource | undefined): Choice => {
  const reasons: string[] = [];
  if (forced !== undefined) {
    const reason = impossible(forced, native);
    if (reason === undefined) return { source: forced, reasons: [`${forced} was asked for`] };
    reasons.push(reason);
  }
  const sources = native.features().cntvctHz > 0 ? (['cntvct'] as const) : (['tsc', 'tsc-percpu'] as const);
  for (const source of sources) {
    const reason = impossible(source, native);
    const kernel = source === 'tsc' && reason === undefined ? kernelClockSource() : 'tsc';
    if (reason !== undefined) reasons.push(reason);
    else if (kernel !== 'tsc') reasons.push(`the kernel's clocksource is ${kernel}: the kernel does not trust the TSC`);
    else return { source, reasons };
  }
  return { source: 'monotonic', reasons };
};
