// SpanContext: what travels between tasks, threads and processes: trace id, span id, flags, tracestate.
// Immutable; numeric inside, formatted only on demand.

import { types } from 'node:util';
import { SpanlineError } from '../base/errors.js';
import { randomWord, reserveSpanIds, spanIdPrefix } from '../local-span/local-span.js';
import { Counter, count, wrongArgument } from '../rows/counters.js';
import { guarded } from '../rows/property.js';
import {
  formatTraceparent,
  parseTraceId,
  parseTraceparent,
  parseTraceState,
  RANDOM,
  SAMPLED,
  spanHex,
  traceHex,
} from './traceparent.js';

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
