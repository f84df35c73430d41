// When a sample was taken: on V8's clock, CLOCK_MONOTONIC in whole microseconds, and on the clock of the spans, which are stamped by ticks that an
// anchor turns into unix time. Nothing else in the room may decide how the two compare.
import { timers } from 'spanline/internal/base';
import { now, nsPerTick, takeAnchor } from 'spanline/internal/rows';
import { ownCode } from './own-frames.js';

const endOwnCode = ownCode();

/** V8 adds one to every reading, so that none is 0. */
export const V8_AHEAD_US = 1;

const NS_PER_US = 1000n;

/** Now, as V8 would stamp a sample (less {@link V8_AHEAD_US}). */
export const monotonicUs = (): number => Number(timers.monotonicNs() / NS_PER_US);

endOwnCode();

const TRIES = 5;
const NS_PER_S = 1_000_000_000n;

interface Pair {
  readonly ticks: number;
  readonly monotonicNs: bigint;
  readonly bracketNs: number;
}

// The reading with the least time around it is the most exact.
const readPair = (): Pair => {
  let best: Pair | undefined;
  for (let i = 0; i < TRIES; i++) {
    const before = timers.monotonicNs();
    const ticks = now();
    const bracketNs = Number(timers.monotonicNs() - before);
    if (best !== undefined && bracketNs >= best.bracketNs) continue;
    best = { ticks, monotonicNs: before + BigInt(Math.round(bracketNs / 2)), bracketNs };
  }
  return best as Pair;
};

/**
 * Unix time in nanoseconds of a moment of CLOCK_MONOTONIC, as a span that began then would have it.
 *
 * Right within half a microsecond for the moment of the call. For a moment before, the error of the rate of the span clock comes on
 * top (`clockInfo().driftPpm`: below 1 us a second where it is below 1 ppm), and a step of the wall clock between this call and the
 * report of the spans shifts them against each other by the whole step.
 */
export const unixNsAt = (monotonicNs: number): bigint => {
  const { unixSec, unixNano, ticks } = takeAnchor();
  const pair = readPair();
  const sinceAnchorNs = BigInt(Math.round(unixNano + (pair.ticks - ticks) * nsPerTick()));
  const agoNs = pair.monotonicNs - BigInt(Math.round(monotonicNs));
  return BigInt(unixSec) * NS_PER_S + sinceAnchorNs - agoNs;
};
