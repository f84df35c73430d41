// V8's clock for samples: CLOCK_MONOTONIC in whole microseconds. Nothing else in the room may decide how the two compare.
import { timers } from 'spanline/internal/base';

import { ownCode } from './own-frames.js';

const endOwnCode = ownCode();

/** V8 adds one to every reading, so that none is 0. */
export const V8_AHEAD_US = 1;

const NS_PER_US = 1000n;

/** Now, as V8 would stamp a sample (less {@link V8_AHEAD_US}). */
export const monotonicUs = (): number => Number(timers.monotonicNs() / NS_PER_US);

endOwnCode();
