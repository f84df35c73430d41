// Fills requests with spans up to a byte bound. A span that does not fit begins the next request; one that fits in none is
// told apart, so that it harms no other.
//
// What a request is made of, whichever of OTLP's two forms it has.
import { ByteWriter, WRITER_FULL } from '../../base/bytes/byte-writer.js';
import { ReportError, type Resource } from '../../collector/reporter.js';
import type { ArchivedProperties, ArchivedResource, ArchivedScope } from '../../record/archived-span.js';
import type { FinishedSpan } from '../../record/finished-span.js';
import { OWN_SCOPE, ownResource } from '../library.js';

/** The spans of a request that were recorded by one library, as they were written. */
export interface ScopedSpans {
  readonly scope: ArchivedScope;
  readonly spans: readonly Uint8Array[];
}

/** One form of OTLP's ExportTraceServiceRequest: one resource, spans by scope. */
export interface OtlpFormat {
  readonly contentType: string;
  /** Bytes that {@link OtlpFormat.end} may add. */
  readonly endBytes: number;
  /** Write what comes before the spans, into an empty writer. */
  begin(writer: ByteWriter, resource: ArchivedResource, scope: ArchivedScope): void;
  span(writer: ByteWriter, span: FinishedSpan, isFirst: boolean): void;
  /** Bytes between two spans. */
  readonly separatorBytes: number;
  /** A whole request for the resource of the last `begin`, of spans that were written after it. */
  grouped(writer: ByteWriter, groups: readonly ScopedSpans[]): void;
  /** Complete the request of one scope; gives the position where it begins. */
  end(writer: ByteWriter): number;
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
const bytesToName = ({ name, version, schemaUrl = '', properties }: ArchivedScope): number => {
  const hasMore = Object.keys(properties).length > 0;
  return 128 + 6 * (name.length + version.length + schemaUrl.length + (hasMore ? lengthOf(properties) : 0));
};

// With room for the names of types, which each value has in JSON.
const lengthOf = (properties: ArchivedProperties): number =>
  Object.entries(properties).reduce((sum, [key, value]) => sum + key.length + 40 + 4 * String(value).length, 0);

const FIRST_BYTES = 64 << 10;
/** Buffers kept for the next request. To allocate megabytes anew each time makes the garbage collector stop the program. */
const SPARE_BUFFERS = 2;

export type Added = 'added' | 'full' | 'invalid';

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
