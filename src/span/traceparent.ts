// W3C Trace Context: traceparent and tracestate, parsed strictly. Pure functions; a malformed header is undefined,
// never a throw and never a guess.

const FORM = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;
const TRACE_ID = /^[0-9a-f]{32}$/i;
const SPAN_ID = /^[0-9a-f]{16}$/;
const ZERO_TRACE = '0'.repeat(32);
const ZERO_SPAN = '0'.repeat(16);
const MAX_LENGTH = 512;

// Where the fields of a traceparent are, whatever its version.
const TRACE_AT = 3;
const SPAN_AT = 36;
const FLAGS_AT = 53;
const LENGTH = 55;

/** Trace id words, span id words (signed 32-bit), flags. */
export type ParsedTraceparent = readonly [number, number, number, number, number, number, number];

// A number above 2^31 takes V8 a quarter of a microsecond to write in hex.
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

const hex8 = (word: number): string =>
  HEX[word >>> 24] + HEX[(word >>> 16) & 255] + HEX[(word >>> 8) & 255] + HEX[word & 255];

/** The words of a trace id as 32 digits. */
export const traceHex = (w0: number, w1: number, w2: number, w3: number): string =>
  hex8(w0) + hex8(w1) + hex8(w2) + hex8(w3);

/** The words of a span id as 16 digits. */
export const spanHex = (hi: number, lo: number): string => hex8(hi) + hex8(lo);

const NINE = 0x39;

/** Hex digits of either case, from `at` to before `end`, as a signed word. Digit by digit: a part of a text and `parseInt` take twice as long. */
const hexWord = (hex: string, at: number, end: number): number => {
  let word = 0;
  for (let i = at; i < end; i++) {
    const code = hex.charCodeAt(i);
    word = (word << 4) | ((code & 0xf) + (code > NINE ? 9 : 0));
  }
  return word;
};

const word = (hex: string, at: number): number => hexWord(hex, at, at + 8);

/** A trace id as words; undefined for anything but 32 hex digits that are not all zero. */
export const parseTraceId = (text: unknown): readonly [number, number, number, number] | undefined => {
  if (typeof text !== 'string' || !TRACE_ID.test(text) || text === ZERO_TRACE) return undefined;
  return [word(text, 0), word(text, 8), word(text, 16), word(text, 24)];
};

/** A span id as words; undefined for anything but 16 lower-case hex digits that are not all zero. */
export const parseSpanId = (text: unknown): readonly [number, number] | undefined => {
  if (typeof text !== 'string' || !SPAN_ID.test(text) || text === ZERO_SPAN) return undefined;
  return [word(text, 0), word(text, 8)];
};

/** The flags of level 2. All others are reserved: not read, and sent as 0. */
export const SAMPLED = 1;
export const RANDOM = 2;

/** Version 00 must have exactly four fields; a later version may have more, ff is forbidden. Blanks around are none of it. */
export const parseTraceparent = (header: string): ParsedTraceparent | undefined => {
  if (header.length > MAX_LENGTH) return undefined;
  const text = trimBlanks(header);
  if (!FORM.test(text) || text.startsWith('ff') || (text.startsWith('00') && text.length > LENGTH)) return undefined;
  const w0 = word(text, TRACE_AT);
  const w1 = word(text, TRACE_AT + 8);
  const w2 = word(text, TRACE_AT + 16);
  const w3 = word(text, TRACE_AT + 24);
  const idHi = word(text, SPAN_AT);
  const idLo = word(text, SPAN_AT + 8);
  if ((w0 | w1 | w2 | w3) === 0 || (idHi | idLo) === 0) return undefined;
  return [w0, w1, w2, w3, idHi, idLo, hexWord(text, FLAGS_AT, LENGTH)];
};

export const formatTraceparent = (traceId: string, spanId: string, flags: number): string =>
  `00-${traceId}-${spanId}-0${flags & (SAMPLED | RANDOM)}`;

const MAX_MEMBERS = 32;
const KEY = /^[a-z0-9][a-z0-9_\-*/@]{0,255}$/;
const VALUE = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

const isBlank = (text: string, at: number): boolean => text[at] === ' ' || text[at] === '\t';

// Blanks only, so not `trim`; by hand, because a pattern for the end of a text is quadratic in the blanks before it.
const trimBlanks = (text: string): string => {
  let from = 0;
  let to = text.length;
  while (from < to && isBlank(text, from)) from++;
  while (from < to && isBlank(text, to - 1)) to--;
  return text.slice(from, to);
};

/**
 * The header joined to one line; empty when absent or when any member breaks the grammar (then all of it is unusable).
 * Of a key that comes twice the first member stays: a change moves a member to the front.
 */
export const parseTraceState = (header: string | readonly string[] | undefined | null): string => {
  const text = Array.isArray(header) ? header.join(',') : header;
  if (typeof text !== 'string') return '';
  const members = text
    .split(',')
    .map(trimBlanks)
    .filter((member) => member !== '');
  if (members.length > MAX_MEMBERS) return '';
  const byKey = new Map<string, string>();
  for (const member of members) {
    const at = member.indexOf('=');
    const key = member.slice(0, at);
    if (at < 0 || !KEY.test(key) || !VALUE.test(member.slice(at + 1))) return '';
    if (!byKey.has(key)) byKey.set(key, member);
  }
  return [...byKey.values()].join(',');
};
