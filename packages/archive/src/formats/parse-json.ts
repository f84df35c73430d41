// JSON of others, with whole numbers kept exact: one beyond 2^53 arrives as the text of its digits, which is what a careful sender would
// have written. Depth and number of values are checked before anything is built, for a few bytes of brackets can take a hundred times the
// memory.
import { isUtf8 } from 'node:buffer';
import { DECODE_LIMITS, type DecodeLimits } from './decode-context.js';
import { malformed, tooLarge } from './trace-format-error.js';

/** Bytes. */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const MINUS = 0x2d;
const PLUS = 0x2b;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_MAP = 0x7b;
const CLOSE_MAP = 0x7d;

/** Numbers of fewer digits are below 2^53. */
const LONG_DIGITS = 16;
/** Lists and maps around a property, and those that one more list inside it takes. */
const OUTER_DEPTH = 24;
const DEPTH_A_VALUE = 4;
/** Brackets and commas that one item takes. */
const TOKENS_AN_ITEM = 2;

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const QUOTED = Buffer.from('"');

/** Behind the string that starts at `at`. */
const stringEnd = (bytes: Buffer, at: number): number => {
  let next = at + 1;
  while (next < bytes.length && bytes[next] !== QUOTE) next += bytes[next] === BACKSLASH ? 2 : 1;
  return next + 1;
};

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= NINE;

const isNumberByte = (byte: number): boolean =>
  isDigit(byte) || byte === DOT || byte === MINUS || byte === PLUS || byte === 0x65 || byte === 0x45;

/** Behind the number that starts at `at`; negative when it is a long whole one. */
const numberEnd = (bytes: Buffer, at: number): number => {
  let next = at + 1;
  while (next < bytes.length && isDigit(bytes[next])) next++;
  const digits = next - at - (bytes[at] === MINUS ? 1 : 0);
  const isWhole = next === bytes.length || !isNumberByte(bytes[next]);
  if (isWhole) return digits >= LONG_DIGITS ? -next : next;
  while (next < bytes.length && isNumberByte(bytes[next])) next++;
  return next;
};

/** Check the bounds; gives where long whole numbers start and end. */
const scan = (bytes: Buffer, maxTokens: number, maxDepth: number): number[] => {
  const longNumbers: number[] = [];
  let depth = 0;
  let tokens = 0;
  let at = 0;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = stringEnd(bytes, at);
      continue;
    }
    if (isDigit(byte) || byte === MINUS) {
      const end = numberEnd(bytes, at);
      if (end < 0) longNumbers.push(at, -end);
      at = Math.abs(end);
      continue;
    }
    if (byte === OPEN_MAP || byte === OPEN_LIST) {
      tokens++;
      if (++depth > maxDepth) throw malformed(`lists and maps are more than ${maxDepth} deep in each other`);
    } else if (byte === CLOSE_MAP || byte === CLOSE_LIST) depth--;
    else if (byte === COMMA) tokens++;
    if (tokens > maxTokens) throw tooLarge(`more than ${maxTokens} values in one document: send fewer at a time`);
    at++;
  }
  return longNumbers;
};

const quoteNumbers = (bytes: Buffer, ranges: readonly number[]): Buffer => {
  const parts: Buffer[] = [];
  let done = 0;
  for (const at of ranges) {
    parts.push(bytes.subarray(done, at), QUOTED);
    done = at;
  }
  parts.push(bytes.subarray(done));
  return Buffer.concat(parts);
};

/** The value of a document. Throws a `TraceFormatError`. */
export const parseJson = (input: Uint8Array, limits: DecodeLimits = {}): unknown => {
  const { maxItems = DECODE_LIMITS.maxItems, maxDepth = DECODE_LIMITS.maxDepth } = limits;
  let bytes = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
  if (bytes.subarray(0, 3).equals(BYTE_ORDER_MARK)) bytes = bytes.subarray(3);
  // Decoding would put a replacement character for what is none, and two texts or keys would be one.
  if (!isUtf8(bytes)) throw malformed('the document is not UTF-8');
  const longNumbers = scan(bytes, maxItems * TOKENS_AN_ITEM, OUTER_DEPTH + maxDepth * DEPTH_A_VALUE);
  const exact = longNumbers.length === 0 ? bytes : quoteNumbers(bytes, longNumbers);
  try {
    return JSON.parse(exact.toString()) as unknown;
  } catch (cause) {
    throw malformed(`no valid JSON: ${(cause as Error).message}`, cause);
  }
};
