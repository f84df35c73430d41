// Unsigned varints: seven bits a byte, the lowest first, the high bit says that more follow. A number has exactly one form
// here; a longer one must never be read as if it were that.
import { TraceDbError } from '../tracedb-error.js';

const SEVEN_BITS = 128;
/** A safe integer has 53 bits. */
const MAX_BYTES = 8;

/** The bytes of a safe integer from 0. */
export const encodeVarint = (value: number): Uint8Array => {
  const bytes: number[] = [];
  let rest = value;
  // Divisions instead of shifts: the operands of a shift have 32 bits.
  for (; rest >= SEVEN_BITS; rest = Math.floor(rest / SEVEN_BITS)) bytes.push((rest % SEVEN_BITS) | SEVEN_BITS);
  bytes.push(rest);
  return Uint8Array.from(bytes);
};

/** The number in `bytes`; throws `ERR_SPANLINE_STORE_CORRUPT` for anything `encodeVarint` does not make. `where` is for the message. */
export const decodeVarint = (bytes: Uint8Array, where: () => string): number => {
  let value = 0;
  let factor = 1;
  for (let i = 0; i < bytes.length && i < MAX_BYTES; i++) {
    const byte = bytes[i];
    value += (byte % SEVEN_BITS) * factor;
    factor *= SEVEN_BITS;
    if (byte >= SEVEN_BITS) continue;
    const isWhole = i === bytes.length - 1;
    const isShortest = byte !== 0 || i === 0;
    if (isWhole && isShortest && Number.isSafeInteger(value)) return value;
    break;
  }
  throw new TraceDbError(
    'ERR_SPANLINE_STORE_CORRUPT',
    `${where()} holds ${Buffer.from(bytes.subarray(0, 16)).toString('hex') || 'no bytes'}, which is no digest id; write it again`,
  );
};
