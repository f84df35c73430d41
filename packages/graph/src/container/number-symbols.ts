// A whole number as a symbol and bits: the symbol tells its sign, its highest bit and the next, and is entropy coded; the bits below
// are as good as random and are kept as they are. Nothing here rounds.
import type { BitReader, BitWriter } from './bits.js';

/** Numbers are from -2^53 + 1 to 2^53 - 1; what is beyond is written elsewhere under this symbol. */
export const ESCAPE = 255;

/** Symbols of numbers are below this. */
export const NUMBER_SYMBOLS = 211;

const LOW_BITS = 26;
const LOW = 2 ** LOW_BITS;

const highestBit = (magnitude: number): number =>
  magnitude < 2 ** 32 ? 31 - Math.clz32(magnitude) : 63 - Math.clz32(magnitude / 2 ** 32);

/** The symbol of a number. */
export const symbolOf = (value: number): number => {
  if (value === 0) return 0;
  const magnitude = value < 0 ? -value : value;
  const sign = value < 0 ? 1 : 0;
  const high = highestBit(magnitude);
  if (high === 0) return 1 + sign;
  const next = high > 31 ? Math.floor(magnitude / 2 ** (high - 1)) & 1 : (magnitude >>> (high - 1)) & 1;
  return 1 + 2 * (2 * high - 1 + next) + sign;
};

/** Bits that follow a symbol of a number. */
export const extraBits = (symbol: number): number => (symbol < 3 ? 0 : ((((symbol - 1) >>> 1) + 1) >>> 1) - 1);

/** Write the bits of `value` that `symbol`, its own, leaves open. */
export const putExtra = (bits: BitWriter, value: number, symbol: number): void => {
  const count = extraBits(symbol);
  if (count === 0) return;
  const magnitude = value < 0 ? -value : value;
  if (count <= LOW_BITS) {
    // The bits wanted are among the low 32, which is all that a conversion keeps.
    bits.put(magnitude & ((1 << count) - 1), count);
    return;
  }
  bits.put(magnitude % LOW, LOW_BITS);
  bits.put(Math.floor(magnitude / LOW) % 2 ** (count - LOW_BITS), count - LOW_BITS);
};

/** The number of a symbol below `NUMBER_SYMBOLS`. */
export const takeNumber = (bits: BitReader, symbol: number): number => {
  if (symbol === 0) return 0;
  const isNegative = (symbol & 1) === 0;
  const step = (symbol - 1) >>> 1;
  const high = (step + 1) >>> 1;
  let magnitude = 1;
  if (high > 0) {
    const count = high - 1;
    const lead = 2 + (step - (2 * high - 1));
    const rest = count <= LOW_BITS ? bits.take(count) : bits.take(LOW_BITS) + bits.take(count - LOW_BITS) * LOW;
    magnitude = lead * 2 ** count + rest;
  }
  return isNegative ? -magnitude : magnitude;
};
