// What decoding spans of others has in common, whatever the format: its bounds, and the spans that are refused one by one while
// the others are taken. A refused span is always counted with its reason.
//
// Resources and scopes that were read before, by the bytes they came as: a process sends the same ones with every request, and the archive
// keeps one object once. Bounded: what is beyond makes the oldest leave, and large ones are never kept.
import { BoundedCache } from 'spanline/internal/base';
import type { ArchivedResource, ArchivedScope, ArchivedSpan } from 'spanline/internal/record';
import { documentApart } from '../shared-ids.js';
import { UINT64_END } from './json-fields.js';
import { TraceFormatError, tooLarge } from './trace-format-error.js';

/** Why a single span is refused. */
export type RefusalReason =
  | 'bad trace id'
  | 'bad span id'
  | 'bad parent span id'
  | 'bad link'
  | 'bad field'
  | 'end before start'
  | 'time beyond 64 bits'
  | 'values nested too deep'
  | 'a key comes twice'
  | 'text is not UTF-8'
  | 'unknown kind'
  | 'unknown status code';

/** Bounds of one document, against those that take far more memory than bytes. */
export interface DecodeLimits {
  /** Spans, events, links and values together. Default 1,000,000. */
  readonly maxItems?: number;
  /** Lists and maps inside each other in one property; a span with deeper ones is refused. Default 64. */
  readonly maxDepth?: number;
}

export const DECODE_LIMITS = { maxItems: 1_000_000, maxDepth: 64 } as const;

/** What a document held. */
export interface DecodedTraces {
  readonly spans: ArchivedSpan[];
  /** Spans that were refused; the others are in `spans`. */
  readonly refused: number;
  /** How many for which reason. */
  readonly reasons: Readonly<Partial<Record<RefusalReason, number>>>;
  /** What was wrong with the first `bad field`: its name, and what it must be. */
  readonly badField?: string;
}

/** `3 bad trace id, 1 bad field (duration must be a whole number, not number)` */
export const describeRefusals = ({ reasons, badField }: Pick<DecodedTraces, 'reasons' | 'badField'>): string =>
  Object.entries(reasons)
    .map(([reason, count]) => `${count} ${reason}${reason === 'bad field' && badField ? ` (${badField})` : ''}`)
    .join(', ');

/** A sender may have put a long key into the message. */
const MAX_MESSAGE = 200;

export const NO_TRACE_ID = '0'.repeat(32);
export const NO_SPAN_ID = '0'.repeat(16);

/** One decoding: counts items, gathers spans. */
export class DecodeContext implements DecodedTraces {
  spans: ArchivedSpan[] = [];
  readonly reasons: Partial<Record<RefusalReason, number>> = {};
  refused = 0;
  badField?: string;
  readonly maxDepth: number;
  readonly maxItems: number;
  /** Something in the span that is being read forbids to keep it. */
  #fault: RefusalReason | undefined;
  #items = 0;
  readonly #flawed = new WeakMap<object, RefusalReason>();

  constructor({ maxItems = DECODE_LIMITS.maxItems, maxDepth = DECODE_LIMITS.maxDepth }: DecodeLimits = {}) {
    this.maxItems = maxItems;
    this.maxDepth = maxDepth;
  }

  /** Count one thing that takes memory. */
  item(): void {
    if (++this.#items > this.maxItems)
      throw tooLarge(
        `more than ${this.maxItems} spans, events, links and values in one document: send fewer at a time`,
      );
  }

  /** The span that is being read will be refused. */
  flaw(reason: RefusalReason): void {
    this.#fault ??= reason;
  }

  /** The span that is being read will be refused for what reading one of its fields threw. What is not a fault of a field is thrown again. */
  flawBy(error: unknown): void {
    if (!(error instanceof TraceFormatError) || error.code !== 'ERR_SPANLINE_TRACE_FORMAT') throw error;
    this.badField ??= error.message.slice(0, MAX_MESSAGE);
    this.flaw('bad field');
  }

  /** The span could not be read to its end: count it as refused for what that threw. */
  refuse(error: unknown): void {
    this.flawBy(error);
    this.#count(this.#fault ?? 'bad field');
  }

  /** What was read is shared by spans: with a flaw none of them can be kept, and it must not be used for another document. */
  shared<T extends object>(part: T): T {
    if (this.#fault !== undefined) this.#flawed.set(part, this.#fault);
    this.#fault = undefined;
    return part;
  }

  /** Whether a shared part has no flaw. */
  isSound(part: object): boolean {
    return !this.#flawed.has(part);
  }

  /** Keep the span, unless it has a flaw. Ids are lower-case hex; of another length when they were wrong. */
  take(span: ArchivedSpan): void {
    const reason = this.#fault ?? this.#flawed.get(span.resource) ?? this.#flawed.get(span.scope) ?? flawOf(span);
    if (reason !== undefined) this.#count(reason);
    else this.spans.push(span);
  }

  /** What the document held, each span of it under an id of its own. */
  done(): DecodedTraces {
    this.spans = documentApart(this.spans);
    return this;
  }

  #count(reason: RefusalReason): void {
    this.#fault = undefined;
    this.refused++;
    this.reasons[reason] = (this.reasons[reason] ?? 0) + 1;
  }
}

const flawOf = ({ traceId, spanId, startUnixNs, endUnixNs, events }: ArchivedSpan): RefusalReason | undefined => {
  if (traceId.length !== 32 || traceId === NO_TRACE_ID) return 'bad trace id';
  if (spanId.length !== 16 || spanId === NO_SPAN_ID) return 'bad span id';
  if (endUnixNs < startUnixNs) return 'end before start';
  // A format with microseconds can say it; OTLP and the archive have no room for it.
  if (endUnixNs >= UINT64_END || events.some(({ timeUnixNs }) => timeUnixNs >= UINT64_END))
    return 'time beyond 64 bits';
  return undefined;
};

const MAX_PARTS = 1000;
const MAX_KEY_LENGTH = 16 * 1024;

/** A bounded map from a message as it came to what it means. */
export class SharedParts<T> extends BoundedCache<string, T> {
  constructor() {
    super(MAX_PARTS);
  }

  override set(key: string, part: T): void {
    if (key.length <= MAX_KEY_LENGTH) super.set(key, part);
  }
}

/** Resources and scopes of earlier requests, so that equal ones stay one object. */
export interface KnownParts {
  readonly resources: SharedParts<ArchivedResource>;
  readonly scopes: SharedParts<ArchivedScope>;
}

export const newKnownParts = (): KnownParts => ({ resources: new SharedParts(), scopes: new SharedParts() });
