// SpanContext: what travels between tasks, threads and processes: trace id, span id, sampled flag, tracestate.
// Immutable; numeric inside, formatted only on demand.
import { Counter, count } from '../local-span/counters.js';
import { randomWord, reserveSpanIds, spanIdPrefix } from '../local-span/ids.js';
import { formatTraceparent, hex8, parseTraceparent, parseTraceState } from './traceparent.js';

const BYTES = 25;

const wrongBytes = (rule: string): never => {
  throw Object.assign(new RangeError(`A span context ${rule}; pass what toBytes() gave.`), {
    code: 'ERR_SPANLINE_CONTEXT',
  });
};

/**
 * The identity of a place in a trace.
 *
 * Make one with {@link SpanContext.random} for a new trace, or from what came over the wire. Format: W3C Trace Context.
 *
 * @example
 * ```ts
 * const headers = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
 * const context = SpanContext.fromTraceparent(headers.traceparent) ?? SpanContext.random();
 * const root = Span.root('GET /query', context);
 * root.end();
 * ```
 */
export class SpanContext {
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
  ) {}

  /** The start of a new trace: a random trace id and no parent span. Sampled unless told otherwise. */
  static random(options: { readonly sampled?: boolean } = {}): SpanContext {
    let w3 = randomWord();
    const w0 = randomWord();
    const w1 = randomWord();
    const w2 = randomWord();
    // All zeros is not a trace id; the odds are 2^-128, the check is free.
    if ((w0 | w1 | w2 | w3) === 0) w3 = 1;
    return new SpanContext(w0, w1, w2, w3, 0, 0, options.sampled ?? true, false, '');
  }

  /**
   * Read a `traceparent` header, strictly as W3C Trace Context level 2 says. Undefined when it is absent; undefined and
   * counted in `stats().traceparentsInvalid` when it is malformed. An unusable `tracestate` is left out.
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
    return new SpanContext(w0, w1, w2, w3, idHi, idLo, (flags & 1) === 1, true, parseTraceState(traceState));
  }

  /** Read what {@link toBytes} wrote. Throws `ERR_SPANLINE_CONTEXT` for anything else: it is no header of a stranger. */
  static fromBytes(bytes: Uint8Array): SpanContext {
    if (!ArrayBuffer.isView(bytes) || bytes.length !== BYTES) wrongBytes(`is ${BYTES} bytes in a Uint8Array`);
    const view = new DataView(bytes.buffer, bytes.byteOffset, BYTES);
    const word = (i: number): number => view.getInt32(i * 4);
    if ((word(0) | word(1) | word(2) | word(3)) === 0) wrongBytes('has a trace id that is not all zero');
    return new SpanContext(word(0), word(1), word(2), word(3), word(4), word(5), (bytes[24] & 1) === 1, true, '');
  }

  /** 16 bytes trace id, 8 bytes span id, 1 byte flags; big-endian. For `workerData` and messages. */
  toBytes(): Uint8Array {
    const bytes = new Uint8Array(BYTES);
    const view = new DataView(bytes.buffer);
    const words = [this.w0, this.w1, this.w2, this.w3, this.idHi, this.idLo];
    for (let i = 0; i < words.length; i++) view.setInt32(i * 4, words[i]);
    bytes[24] = this.sampled ? 1 : 0;
    return bytes;
  }

  /** 32 lower-case hex digits. */
  get traceId(): string {
    return hex8(this.w0) + hex8(this.w1) + hex8(this.w2) + hex8(this.w3);
  }

  /** 16 lower-case hex digits; all zero when this context is the start of a trace. */
  get spanId(): string {
    return hex8(this.idHi) + hex8(this.idLo);
  }

  /** The header for an outgoing call. A context without a span gets a fresh span id, as the header requires one. */
  toTraceparent(): string {
    if (this.idHi !== 0 || this.idLo !== 0) return formatTraceparent(this.traceId, this.spanId, this.sampled);
    const idLo = reserveSpanIds(1);
    return formatTraceparent(this.traceId, hex8(spanIdPrefix()) + hex8(idLo), this.sampled);
  }

  /** The same place with another decision. */
  withSampled(sampled: boolean): SpanContext {
    const { w0, w1, w2, w3, idHi, idLo, isRemote, traceState } = this;
    return new SpanContext(w0, w1, w2, w3, idHi, idLo, sampled, isRemote, traceState);
  }
}
