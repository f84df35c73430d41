// Which source to use, and why not a better one. Decides only; starts nothing.
import { readFileSync } from 'node:fs';
import { attempt } from '../base/calls/attempt.js';
import type { NativeClock } from './binding.js';
import type { ClockSource } from './clock-types.js';

/** A choice and the reasons against what would have been better. */
export interface Choice {
  readonly source: ClockSource;
  readonly reasons: readonly string[];
}

/** What `SPANLINE_CLOCK` may say; `js` leaves the addon out. */
const CLOCKS = ['tsc', 'tsc-percpu', 'cntvct', 'monotonic', 'js'] as const;
/** The best path that is wanted. */
const PATHS = ['napi', 'js'] as const;

/** What a variable asks for; anything unknown is a reason, not an error: the program must start. */
const forcedBy = <T extends string>(variable: string, allowed: readonly T[], reasons: string[]): T | undefined => {
  const value = process.env[variable];
  if (!value) return undefined;
  if (allowed.includes(value as T)) return value as T;
  reasons.push(`${variable}=${value} is not one of ${allowed.join(', ')}; ignored`);
  return undefined;
};

export const forcedClock = (reasons: string[]) => forcedBy('SPANLINE_CLOCK', CLOCKS, reasons);
export const forcedPath = (reasons: string[]) => forcedBy('SPANLINE_CLOCK_PATH', PATHS, reasons);

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
