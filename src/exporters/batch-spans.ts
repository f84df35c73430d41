// A batch as exporters take it: its spans by one running number, which of them are undelivered, and requests of OTLP that are cut from it.
//
// What is left of a batch is cut in slices of time. A request holds consecutive spans, so that its success can be remembered as one range: a span
// that arrived, or that was given up and counted, must never be taken up a second time while the collector tries the batch again.
import { ByteWriter, WRITER_FULL } from '../base/bytes/byte-writer.js';
import { warn } from '../base/calls/attempt.js';
import { Slices } from '../base/calls/timers.js';
import { getOrMake } from '../base/maps/maps.js';
import type { PartBatch } from '../collector/pipeline.js';
import { type ReportBatch, ReportError, type Resource, type Trace } from '../collector/reporter.js';
import { TracePart } from '../collector/trace-part.js';
import { LIBRARY_VERSION, OWN_SCOPE, ownResource } from '../formats/library.js';
import type { OtlpFormat } from '../formats/otlp/messages.js';
import type { ArchivedProperties, ArchivedScope } from '../record/archived-span.js';
import type { FinishedSpan } from '../record/finished-span.js';
import { ObjectView } from '../record/object-view.js';
import type { SpanRecord } from '../record/record.js';
import { RowView } from '../record/row-view.js';

let isOtherNoted = false;

/** Rows of another copy of this package may be of another form: its records are read. */
const noteOther = (): void => {
  if (isOtherNoted) return;
  isOtherNoted = true;
  const message = `Two copies of spanline are loaded; spans that one records and the other (${LIBRARY_VERSION}) reports cost more. Install one version: npm ls spanline.`;
  warn(message, 'SPANLINE_TWO_COPIES');
};

/** A trace of the collector that shows its rows; undefined for one of another copy, or of anybody else. */
const ownPart = (trace: Trace): TracePart | undefined => {
  if (trace instanceof TracePart) return trace;
  if ('viewAt' in trace) noteOther();
  return undefined;
};

/** The traces of a batch of a collector, read by the library alone: what a program gets, it may keep. */
const tracesOf = (batch: ReportBatch): readonly Trace[] => (batch as PartBatch).parts ?? batch.traces;

/** The spans of a batch by one running number, made on demand. Reading in rising order costs one comparison a span. */
export class BatchSpans {
  readonly #traces: readonly Trace[];
  #trace = -1;
  /** Numbers of the first span of the current trace, and of the first behind it. */
  #first = 0;
  #end = 0;
  #part: TracePart | undefined;
  readonly #scope: ArchivedScope;

  readonly #rows: RowView;
  /** Of records: made when a trace of another copy comes. */
  #records: ObjectView | undefined;

  /** @param scope What the views name as their recorder. */
  constructor(batch: ReportBatch, scope: ArchivedScope = OWN_SCOPE) {
    this.#traces = tracesOf(batch);
    this.#rows = new RowView(ownResource(batch.resource), scope);
    this.#scope = scope;
  }

  at(index: number): SpanRecord {
    return this.#traceOf(index).spanAt(index - this.#first);
  }

  /** The same as a view, good until the next call: no record is made where rows are at hand. */
  viewAt(index: number): FinishedSpan {
    const trace = this.#traceOf(index);
    const at = index - this.#first;
    if (this.#part !== undefined) return this.#part.viewAt(at, this.#rows);
    this.#records ??= new ObjectView(this.#rows.resource, this.#scope);
    return this.#records.of(trace.spanAt(at));
  }

  #traceOf(index: number): Trace {
    while (index < this.#first) this.#enter(this.#trace - 1);
    while (index >= this.#end) this.#enter(this.#trace + 1);
    return this.#traces[this.#trace];
  }

  #enter(number: number): void {
    const trace = this.#traces[number];
    this.#first = number > this.#trace ? this.#end : this.#first - trace.spanCount;
    this.#end = this.#first + trace.spanCount;
    this.#trace = number;
    this.#part = ownPart(trace);
  }
}

/** Indices from `from` up to, not including, `to`. Spans are numbered through all traces of the batch. */
export interface SpanRange {
  readonly from: number;
  readonly to: number;
}

/** The spans of one batch that are not settled yet. */
export class Undelivered {
  #ranges: SpanRange[];
  /** Spans of this batch that a server took. */
  deliveredSpans = 0;

  constructor(spanCount: number) {
    this.#ranges = [{ from: 0, to: spanCount }];
  }

  /** In rising order. */
  get ranges(): readonly SpanRange[] {
    return this.#ranges;
  }

  /** Nothing is left to do about these spans. */
  settle({ from, to }: SpanRange): void {
    this.#ranges = this.#ranges.flatMap((range) =>
      [
        { from: range.from, to: Math.min(range.to, from) },
        { from: Math.max(range.from, to), to: range.to },
      ].filter((rest) => rest.from < rest.to),
    );
  }
}

/** Remembers {@link Undelivered} for each batch. Held weakly, so that a dropped batch leaves nothing behind. */
export class UndeliveredByBatch {
  readonly #byBatch = new WeakMap<ReportBatch, Undelivered>();

  of(batch: ReportBatch): Undelivered {
    return getOrMake(this.#byBatch, batch, () => new Undelivered(batch.spanCount));
  }
}

/** Room is made for the longest text a string could become, so a write may ask for more than it uses. */
const SLACK_BYTES = 8 << 10;

/** Consecutive spans that one library recorded. */
interface Run {
  readonly scope: ArchivedScope;
  readonly from: number;
  to: number;
}

// At most, in either form: every character may take six bytes in JSON.
const bytesToName = ({ name, version, schemaUrl = '', properties }: ArchivedScope): number =>
  128 + 6 * (name.length + version.length + schemaUrl.length + lengthOf(properties));

// With room for the names of types, which each value has in JSON.
const lengthOf = (properties: ArchivedProperties): number =>
  Object.entries(properties).reduce((sum, [key, value]) => sum + key.length + 40 + 4 * String(value).length, 0);

const FIRST_BYTES = 64 << 10;
/** Buffers kept for the next request. To allocate megabytes anew each time makes the garbage collector stop the program. */
const SPARE_BUFFERS = 2;

export type Added = 'added' | 'full' | 'invalid';

/** Fills one request up to a byte bound: a span that does not fit begins the next, and one that fits in none is told apart, so that it harms no other. */
export class RequestBuilder {
  readonly #format: OtlpFormat;
  readonly #writer: ByteWriter;
  readonly #maxBytes: number;
  readonly #spare: Buffer<ArrayBuffer>[] = [];
  spanCount = 0;
  // The spans so far by who recorded them: where each run of one scope is in the writer.
  readonly #runs: Run[] = [];
  #scopes = new Set<ArchivedScope>();
  // What naming them takes, beyond the first.
  #scopeBytes = 0;

  constructor(format: OtlpFormat, maxBytes: number) {
    this.#format = format;
    this.#maxBytes = maxBytes;
    this.#writer = new ByteWriter(FIRST_BYTES, maxBytes + SLACK_BYTES);
  }

  get contentType(): string {
    return this.#format.contentType;
  }

  /** Bytes written so far. */
  get byteLength(): number {
    return this.#writer.length;
  }

  begin(resource: Resource): void {
    this.spanCount = 0;
    this.#runs.length = 0;
    this.#scopes.clear();
    this.#scopeBytes = 0;
    this.#writer.length = 0;
    try {
      this.#format.begin(this.#writer, ownResource(resource), OWN_SCOPE);
    } catch (error) {
      if (error !== WRITER_FULL) throw error;
      throw new ReportError(
        'ERR_SPANLINE_RESOURCE_TOO_LARGE',
        `The attributes of the resource alone take more than ${this.#maxBytes} bytes, the bound of one request. ` +
          'Shorten resourceAttributes or OTEL_RESOURCE_ATTRIBUTES.',
        { retryable: false },
      );
    }
  }

  /** Writes the whole span, or nothing of it and says why. */
  add(span: FinishedSpan): Added {
    const { scope } = span;
    const start = this.#writer.length;
    const scopeBytes = scope === OWN_SCOPE || this.#scopes.has(scope) ? 0 : bytesToName(scope);
    try {
      this.#format.span(this.#writer, span, this.spanCount === 0);
    } catch (error) {
      this.#writer.length = start;
      // Anything else is a value the types forbid, from an untyped caller: it must not hold up the spans around it.
      return error === WRITER_FULL ? 'full' : 'invalid';
    }
    if (this.#writer.length + this.#format.endBytes + this.#scopeBytes + scopeBytes > this.#maxBytes) {
      this.#writer.length = start;
      return 'full';
    }
    this.#scopeBytes += scopeBytes;
    this.#place(scope, start);
    this.spanCount++;
    return 'added';
  }

  /** The request's bytes, the caller's until it calls {@link RequestBuilder.release}. */
  end(): Buffer<ArrayBuffer> {
    if (this.#runs.length > 1 || (this.spanCount > 0 && this.#runs[0].scope !== OWN_SCOPE)) return this.#grouped();
    const start = this.#format.end(this.#writer);
    const request = this.#writer.bytes.subarray(start, this.#writer.length);
    this.#writer.use(this.#spare.pop() ?? Buffer.allocUnsafe(FIRST_BYTES));
    return request;
  }

  #place(scope: ArchivedScope, start: number): void {
    const to = this.#writer.length;
    const last = this.#runs.at(-1);
    if (last?.scope === scope) {
      last.to = to;
      return;
    }
    this.#scopes.add(scope);
    this.#runs.push({ scope, from: this.spanCount === 0 ? start : start + this.#format.separatorBytes, to });
  }

  // Spans come in the order of their ends, those of several libraries mixed: each library is named once.
  #grouped(): Buffer<ArrayBuffer> {
    const { bytes, length } = this.#writer;
    const groups = Array.from(this.#scopes, (scope) => ({
      scope,
      spans: this.#runs.filter((run) => run.scope === scope).map(({ from, to }) => bytes.subarray(from, to)),
    }));
    const out = new ByteWriter(length + this.#scopeBytes + SLACK_BYTES);
    this.#format.grouped(out, groups);
    return out.bytes.subarray(0, out.length);
  }

  /** The memory of a request that is sent and forgotten may be written again. */
  release({ buffer }: Buffer<ArrayBuffer>): void {
    if (this.#spare.length < SPARE_BUFFERS) this.#spare.push(Buffer.from(buffer));
  }

  /** Keep no more memory than one request needs. */
  trim(): void {
    this.#spare.length = 0;
  }
}

/** One request, ready to be sent. */
export interface EncodedRequest {
  /** To be given back with `release` of the builder. */
  readonly body: Buffer<ArrayBuffer>;
  /** The spans in it; those left out between them are settled already. */
  readonly range: SpanRange;
  readonly spanCount: number;
}

/** Called with a span that fits in no request. */
export type LeftOut = (span: FinishedSpan, reason: 'too-large' | 'invalid') => void;

// Spans, and bytes, between two places to pause: to yield for each span costs as much as to encode a small one.
const PAUSE_SPANS = 16;
const PAUSE_BYTES = 16 << 10;

/**
 * Yields the requests for all spans of `undelivered` as they are complete, and between them the bytes written since, where the caller may pause. What
 * is left out is settled, or a retry would take it up again.
 */
export const encodeSteps = function* (
  batch: ReportBatch,
  undelivered: Undelivered,
  builder: RequestBuilder,
  maxSpans: number,
  leftOut: LeftOut,
): Generator<EncodedRequest | number, void> {
  const spans = new BatchSpans(batch);
  let from = 0;
  let spansSince = 0;
  let bytesSince = 0;
  builder.begin(batch.resource);
  const cut = (to: number): EncodedRequest => {
    const request = { body: builder.end(), range: { from, to }, spanCount: builder.spanCount };
    builder.begin(batch.resource);
    from = to;
    return request;
  };
  for (const range of undelivered.ranges) {
    from = range.from;
    for (let i = range.from; i < range.to; i++) {
      const span = spans.viewAt(i);
      const before = builder.byteLength;
      let added = builder.add(span);
      if (added === 'full' && builder.spanCount > 0) {
        yield cut(i);
        added = builder.add(span);
      }
      if (added !== 'added') {
        undelivered.settle({ from: i, to: i + 1 });
        leftOut(span, added === 'full' ? 'too-large' : 'invalid');
      }
      bytesSince += Math.max(0, builder.byteLength - before);
      if (++spansSince === PAUSE_SPANS || bytesSince > PAUSE_BYTES) {
        yield bytesSince;
        spansSince = 0;
        bytesSince = 0;
      }
      if (builder.spanCount === maxSpans) yield cut(i + 1);
    }
    if (builder.spanCount > 0) yield cut(range.to);
  }
};

/** The same requests, with pauses. Stops when the signal is aborted. */
export const encodeRequests = async function* (
  batch: ReportBatch,
  undelivered: Undelivered,
  builder: RequestBuilder,
  maxSpans: number,
  leftOut: LeftOut,
  signal: AbortSignal,
): AsyncGenerator<EncodedRequest, void> {
  const slices = new Slices();
  for (const step of encodeSteps(batch, undelivered, builder, maxSpans, leftOut)) {
    if (typeof step === 'number') {
      if (slices.isPast) await slices.next();
    } else {
      yield step;
      // To write megabytes takes as long as a slice.
      await slices.next();
    }
    if (signal.aborted) return;
  }
};
