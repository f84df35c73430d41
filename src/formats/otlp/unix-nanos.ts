// Unix time in nanoseconds as two unsigned 32-bit words, exactly, without a bigint. It must never go through a double as a
// whole: 2^53 ns are 104 days.

const TWO_32 = 0x1_0000_0000;
const TWO_16 = 0x1_0000;

/** Spans of a batch begin and end within few seconds, so the product of the last second is kept. */
let lastSec = 0;
let secHi = 0;
let secLo = 0;

/** The words of the last call. Read them at once. */
export const nanosWords = { hi: 0, lo: 0 };

const multiply = (sec: number): void => {
  // Each half stays under 2^49, where doubles are exact. Right up to the year 2554, where 64 bits end.
  const upper = Math.floor(sec / TWO_16) * 1e9;
  const lower = (sec % TWO_16) * 1e9;
  const low = (upper % TWO_16) * TWO_16 + (lower % TWO_32);
  secHi = Math.floor(upper / TWO_16) + Math.floor(lower / TWO_32) + Math.floor(low / TWO_32);
  secLo = low % TWO_32;
  lastSec = sec;
};

export const toNanosWords = (sec: number, nano: number): void => {
  if (sec !== lastSec) multiply(sec);
  const low = secLo + nano;
  if (low < TWO_32) {
    nanosWords.hi = secHi;
    nanosWords.lo = low;
  } else {
    nanosWords.hi = secHi + 1;
    nanosWords.lo = low - TWO_32;
  }
};
