// Ticks to unix time, exactly, with one anchor. Off the hot path; monotone, so that children stay inside their parents.
import type { ClockAnchor } from '../clock/index.js';

/** Whole unix seconds and nanoseconds (0 to 999999999) within that second. */
export interface UnixTime {
  readonly sec: number;
  readonly nano: number;
}

/** Every step is exact in a double (below 2^53) or a floor, so order is kept. */
export const toUnixTime = (ticks: number, anchor: ClockAnchor): UnixTime => {
  const ns = Math.floor(anchor.unixNano + (ticks - anchor.ticks) * anchor.nsPerTick);
  const carry = Math.floor(ns / 1e9);
  return { sec: anchor.unixSec + carry, nano: ns - carry * 1e9 };
};
