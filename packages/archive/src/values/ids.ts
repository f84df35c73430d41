// Trace and span ids between text and bytes. Ids are lower-case hexadecimal of a fixed length; anything else is refused, because it
// would come back different.
import { BadKeyError } from '@spanline/graph';

/** Bytes of ids, and of a key: a trace id and a span id. */
export const TRACE_ID_BYTES = 16;
export const SPAN_ID_BYTES = 8;
export const KEY_BYTES = TRACE_ID_BYTES + SPAN_ID_BYTES;

const NIBBLES = new Int8Array(128).fill(-1);
for (let digit = 0; digit < 16; digit++) NIBBLES[digit.toString(16).charCodeAt(0)] = digit;

/** Eight digits as a number, or -1 where they are none. */
const word = (text: string, at: number): number => {
  let value = 0;
  let bad = 0;
  for (let i = at; i < at + 8; i++) {
    const code = text.charCodeAt(i);
    const nibble = code < 128 ? NIBBLES[code] : -1;
    bad |= nibble;
    value = (value << 4) | nibble;
  }
  return bad < 0 ? -1 : value >>> 0;
};

const bad = (text: unknown, what: string, digits: number): BadKeyError =>
  new BadKeyError(`a ${what} has ${digits} hexadecimal digits in lower case, not ${JSON.stringify(text)}`);

/** Write the words of an id into `into` from `at` on. */
export const parseId = (text: string, what: string, words: number, into: Uint32Array, at: number): void => {
  if (typeof text !== 'string' || text.length !== words * 8) throw bad(text, what, words * 8);
  for (let i = 0; i < words; i++) {
    const value = word(text, i * 8);
    if (value < 0) throw bad(text, what, words * 8);
    into[at + i] = value;
  }
};

const traceWords = new Uint32Array(TRACE_ID_BYTES / 4);

/** A trace id as bytes. */
export const traceIdBytes = (text: string): Buffer => {
  parseId(text, 'trace id', traceWords.length, traceWords, 0);
  const bytes = Buffer.allocUnsafe(TRACE_ID_BYTES);
  traceWords.forEach((value, i) => {
    bytes.writeUInt32BE(value, i * 4);
  });
  return bytes;
};
