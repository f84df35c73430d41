// SpanContext: what travels between tasks, threads and processes: trace id, span id, flags, tracestate.
// Immutable; numeric inside, formatted only on demand.
//
// Then its ids as text, and its headers, by W3C Trace Context, parsed strictly: a malformed one is undefined, never a throw and never a guess.

import { types } from 'node:util';
import { SpanlineError } from '../base/errors.js';
import { randomWord, reserveSpanIds, spanIdPrefix } from '../local-span/local-span.js';
import { Counter, count, wrongArgument } from '../rows/counters.js';
import { guarded } from '../rows/property.js';

// Trace id, span id, flags. The tracestate follows, to the end.
const FIXED_BYTES = 25;
/** Beside W3C's flags in the bytes: the decision is another than the caller's span came with. */
const CHANGED = 0x80;

const flagIn = <K extends string>(
  options: { readonly [key in K]?: boolean } | undefined | null,
  name: K,
  otherwise: boolean,
): boolean => {
  if (options === undefined || options === null) return otherwise;
  try {
    const flag: unknown = options[name];
    if (typeof options === 'object' && (flag === undefined || typeof flag === 'boolean')) return flag ?? otherwise;
  } catch {
    // Said below.
  }
  wrongArgument(`A new SpanContext takes { ${name}: true } or { ${name}: false }.`);
  return otherwise;
};

const wrongBytes = (rule: string): never => {
  throw new SpanlineError('ERR_SPANLINE_CONTEXT', `A span context ${rule}; pass what toBytes() gave.`);
};

/**
 * The identity of a place in a trace.
 *
 * Make one with {@link SpanContext.random} or {@link SpanContext.fromTraceId} for a new trace, or from what came over the
 * wire. Format: W3C Trace Context level 2.
 *
 * @example
 * ```ts
 * const headers = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03', tracestate: 'vendor=1' };
 * const context = SpanContext.fromTraceparent(headers.traceparent, headers.tracestate) ?? SpanContext.random();
 * const root = Span.root('GET /query', context);
 * root.end();
 * ```
 */
export class SpanContext {
  // Formatted once: without a span to name, the header has a span id of its own, and one place has one header.
  #traceparent: string | undefined;

  /** @internal */
  constructor(
    /** Trace id as four signed 32-bit words, most significant first. */
    readonly w0: number,
    readonly w1: number,
    readonly w2: number,
    readonly w3: number,
    /** Span id, upper and lower 32 bits, signed; both 0 for a context that is the start of a trace. */
    readonly idHi: number,
    readonly idLo: number,
    readonly sampled: boolean,
    /** True when it came from another process or thread. */
    readonly isRemote: boolean,
    /** W3C tracestate as received; empty when there was none. */
    readonly traceState: string,
    /** The random flag: the last 7 bytes of the trace id are random. The maker of the id sets it; here it is only passed on. */
    readonly isRandom: boolean,
    // The decision that this span id came with.
    private readonly receivedSampled: boolean = sampled,
  ) {}

  /** The start of a new trace: a random trace id and no parent span. Sampled by default. */
  static random(options?: { readonly sampled?: boolean }): SpanContext {
    let w3 = randomWord();
    const w0 = randomWord();
    const w1 = randomWord();
    const w2 = randomWord();
    // All zeros is not a trace id; the odds are 2^-128, the check is free.
    if ((w0 | w1 | w2 | w3) === 0) w3 = 1;
    return new SpanContext(w0, w1, w2, w3, 0, 0, flagIn(options, 'sampled', true), false, '', true);
  }

  /**
   * The start of a new trace whose id is chosen: that of a job or a request with an id of its own. 32 hex digits;
   * undefined, and counted in `stats().traceparentsInvalid`, for what can be no trace id. Set `isRandom` when the last
   * 14 digits are random, as those of a version 4 UUID are: samplers of other libraries may rely on it.
   *
   * @example
   * ```ts
   * const jobId = '7f1a2b3c-9d4e-4f50-8a6b-1c2d3e4f5a6b';
   * const context = SpanContext.fromTraceId(jobId.replaceAll('-', ''), { isRandom: true });
   * const root = Span.root('job', context);
   * root.end();
   * ```
   */
  static fromTraceId(
    traceId: string,
    options: { readonly sampled?: boolean; readonly isRandom?: boolean } = {},
  ): SpanContext | undefined {
    const words = parseTraceId(traceId);
    if (words === undefined) {
      count(Counter.traceparentsInvalid);
      return undefined;
    }
    const [w0, w1, w2, w3] = words;
    const [sampled, isRandom] = [flagIn(options, 'sampled', true), flagIn(options, 'isRandom', false)];
    return new SpanContext(w0, w1, w2, w3, 0, 0, sampled, false, '', isRandom);
  }

  /**
   * Read a `traceparent` header, strictly by W3C Trace Context level 2, and the `tracestate` beside it. Undefined when
   * it is absent; undefined and counted in `stats().traceparentsInvalid` when it is malformed. An unusable `tracestate` is
   * left out.
   */
  static fromTraceparent(
    traceparent: string | readonly string[] | undefined | null,
    traceState?: string | readonly string[] | undefined | null,
  ): SpanContext | undefined {
    if (traceparent === undefined || traceparent === null) return undefined;
    const parsed = typeof traceparent === 'string' ? parseTraceparent(traceparent) : undefined;
    if (parsed === undefined) {
      count(Counter.traceparentsInvalid);
      return undefined;
    }
    const [w0, w1, w2, w3, idHi, idLo, flags] = parsed;
    const state = guarded(() => parseTraceState(traceState)) ?? '';
    return new SpanContext(w0, w1, w2, w3, idHi, idLo, (flags & SAMPLED) !== 0, true, state, (flags & RANDOM) !== 0);
  }

  /** Read what {@link toBytes} wrote. Throws `ERR_SPANLINE_CONTEXT` for anything else: it is not a header of a stranger. */
  static fromBytes(bytes: Uint8Array): SpanContext {
    if (!types.isUint8Array(bytes) || bytes.length < FIXED_BYTES) {
      wrongBytes(`is at least ${FIXED_BYTES} bytes in a Uint8Array`);
    }
    const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const [w0, w1, w2, w3, idHi, idLo] = [0, 4, 8, 12, 16, 20].map((at) => view.readInt32BE(at));
    if ((w0 | w1 | w2 | w3) === 0) wrongBytes('has a trace id that is not all zero');
    const state = view.toString('latin1', FIXED_BYTES);
    if (parseTraceState(state) !== state) wrongBytes('ends with a well-formed tracestate, or with the flags');
    const flags = view[FIXED_BYTES - 1];
    const [sampled, isRandom] = [(flags & SAMPLED) !== 0, (flags & RANDOM) !== 0];
    const received = (flags & CHANGED) !== 0 ? !sampled : sampled;
    return new SpanContext(w0, w1, w2, w3, idHi, idLo, sampled, true, state, isRandom, received);
  }

  /** 16 bytes trace id, 8 bytes span id, 1 byte flags, big-endian; then the tracestate. For `workerData` and messages. */
  toBytes(): Uint8Array {
    const bytes = new Uint8Array(FIXED_BYTES + this.traceState.length);
    const view = new DataView(bytes.buffer);
    const words = [this.w0, this.w1, this.w2, this.w3, this.idHi, this.idLo];
    for (let i = 0; i < words.length; i++) view.setInt32(i * 4, words[i]);
    bytes[FIXED_BYTES - 1] = this.flags | (this.isChanged ? CHANGED : 0);
    for (let i = 0; i < this.traceState.length; i++) bytes[FIXED_BYTES + i] = this.traceState.charCodeAt(i);
    return bytes;
  }

  /** 32 lower-case hex digits. */
  get traceId(): string {
    return traceHex(this.w0, this.w1, this.w2, this.w3);
  }

  /** 16 lower-case hex digits; all zero when this context is the start of a trace. */
  get spanId(): string {
    return spanHex(this.idHi, this.idLo);
  }

  /**
   * The `traceparent` header for an outgoing call, the same whenever it is asked for; {@link toHeaders} has the `tracestate`
   * as well. Without a span, or with another decision than the caller's span came with, the header has a span id of its own:
   * the format asks for one.
   */
  toTraceparent(): string {
    this.#traceparent ??= formatTraceparent(this.traceId, this.outgoingSpanId, this.flags);
    return this.#traceparent;
  }

  /**
   * Both headers for an outgoing call; `tracestate` is left out when there is none.
   *
   * @example
   * ```ts
   * const root = Span.root('call');
   * const request = new Request('http://localhost/', { headers: root.context?.toHeaders() });
   * console.log(request.headers.get('traceparent'));
   * root.end();
   * ```
   */
  toHeaders(): { traceparent: string; tracestate?: string } {
    const traceparent = this.toTraceparent();
    return this.traceState === '' ? { traceparent } : { traceparent, tracestate: this.traceState };
  }

  /** The same place with another decision: to record, as a child of the caller, what the caller does not, or the reverse. */
  withSampled(sampled: boolean): SpanContext {
    const { w0, w1, w2, w3, idHi, idLo, isRemote, traceState, isRandom, receivedSampled } = this;
    return new SpanContext(w0, w1, w2, w3, idHi, idLo, sampled, isRemote, traceState, isRandom, receivedSampled);
  }

  /** @internal False at the start of a trace. */
  get hasSpan(): boolean {
    return this.idHi !== 0 || this.idLo !== 0;
  }

  /** @internal A place of its own below this one that is not recorded, for what it calls. */
  unsampledChild(): SpanContext {
    const idLo = reserveSpanIds(1);
    const { w0, w1, w2, w3, traceState, isRandom } = this;
    return new SpanContext(w0, w1, w2, w3, spanIdPrefix(), idLo, false, false, traceState, isRandom);
  }

  private get flags(): number {
    return (this.sampled ? SAMPLED : 0) | (this.isRandom ? RANDOM : 0);
  }

  // Only of a caller's span: one of our own has a new id already.
  private get isChanged(): boolean {
    return this.isRemote && this.sampled !== this.receivedSampled;
  }

  private get outgoingSpanId(): string {
    if (this.hasSpan && !this.isChanged) return this.spanId;
    const idLo = reserveSpanIds(1);
    return spanHex(spanIdPrefix(), idLo);
  }
}

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

// Trace id words, span id words (signed 32-bit), flags. Version 00 must have exactly four fields; a later version may have more, ff is forbidden. Blanks around
// are none of it.
const parseTraceparent = (header: string): [number, number, number, number, number, number, number] | undefined => {
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
