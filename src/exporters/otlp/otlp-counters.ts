// What the OTLP reporter has to account for. Every span it does not deliver is in one of these numbers.
//
// What an OTLP server says in a body: a partial success, or the message of a failure; in protobuf or in JSON. A body that
// cannot be read is not an error, because the HTTP status already decides what became of the spans.
import { ByteReader } from '../../base/bytes/byte-reader.js';
import type { ReportError } from '../../collector/reporter.js';
import type { FinishedSpan } from '../../record/finished-span.js';
import type { HttpAnswer } from '../http/sender.js';

/** A success with a reservation. */
export interface PartialSuccess {
  readonly rejectedSpans: number;
  /** With 0 rejected spans it is a warning. */
  readonly message: string;
}

/** Field number, and the number or bytes it holds; other wire types are passed over. */
const readFields = function* (body: Buffer): Generator<[field: number, value: number | Buffer]> {
  const reader = new ByteReader(body, (reason) => new RangeError(reason));
  while (reader.left > 0) {
    const tag = reader.varint();
    const field = Math.floor(tag / 8);
    const wireType = tag % 8;
    if (wireType === 0) yield [field, reader.varint()];
    else if (wireType === 2) yield [field, Buffer.from(reader.raw(reader.varint()))];
    else if (wireType === 1) reader.raw(8);
    else if (wireType === 5) reader.raw(4);
    else throw reader.corrupt('no such wire type');
  }
};

const partialFromProtobuf = (body: Buffer): PartialSuccess => {
  let rejectedSpans = 0;
  let message = '';
  for (const [field, partial] of readFields(body)) {
    if (field !== 1 || typeof partial === 'number') continue;
    for (const [inner, value] of readFields(partial)) {
      if (inner === 1 && typeof value === 'number') rejectedSpans = value;
      if (inner === 2 && typeof value !== 'number') message = value.toString('utf8');
    }
  }
  return { rejectedSpans, message };
};

const partialFromJson = (body: Buffer): PartialSuccess => {
  const partial = JSON.parse(body.toString('utf8'))?.partialSuccess ?? {};
  // An int64 is a string in OTLP/JSON; not every server writes it so.
  const rejectedSpans = Number(partial.rejectedSpans ?? 0);
  return {
    rejectedSpans: Number.isFinite(rejectedSpans) ? rejectedSpans : 0,
    message: String(partial.errorMessage ?? ''),
  };
};

/** Of the body of a success; undefined when there is none or it cannot be read. */
export const readPartialSuccess = (body: Buffer, contentType: string): PartialSuccess | undefined => {
  if (body.length === 0) return undefined;
  try {
    const partial = contentType.includes('json') ? partialFromJson(body) : partialFromProtobuf(body);
    return partial.rejectedSpans > 0 || partial.message !== '' ? partial : undefined;
  } catch {
    return undefined;
  }
};

/** The message of a failure: google.rpc.Status in protobuf or JSON, or plain text; empty when there is none. */
export const readFailure = (body: Buffer, contentType: string): string => {
  try {
    if (contentType.startsWith('text/')) return contentType.startsWith('text/html') ? '' : body.toString('utf8');
    if (contentType.includes('json')) return String(JSON.parse(body.toString('utf8'))?.message ?? '');
    if (!contentType.includes('protobuf')) return '';
    for (const [field, value] of readFields(body)) {
      if (field === 2 && typeof value !== 'number') return value.toString('utf8');
    }
  } catch {
    // Not what its content-type says: there are no words to pass on.
  }
  return '';
};

/** Says what is wrong, at once where the process is about to end. */
export type Warn = (message: string, isExiting: boolean) => void;

export const warnProcess: Warn = (message, isExiting) => {
  const warning = Object.assign(new Error(message), { name: 'SpanlineWarning', code: 'ERR_SPANLINE_OTLP' });
  try {
    // At the exit nothing comes after this.
    if (isExiting) process.emit('warning', warning);
    else process.emitWarning(warning);
  } catch {
    // Programs replace both.
  }
};

export class OtlpCounters {
  readonly #warn: Warn;
  /** What the user should know last; empty when nothing went wrong. */
  lastError = '';
  requestsFailed = 0;
  #requestsSent = 0;
  #spansSent = 0;
  #bytesSent = 0;
  #rejectedSpans = 0;
  #refusedSpans = 0;
  #spansTooLarge = 0;
  #spansInvalid = 0;
  #hasWarned = false;
  /** Somebody has answered, or it was said that nobody does. */
  #isAnswerKnown = false;

  constructor(warn: Warn = warnProcess) {
    this.#warn = warn;
  }

  /** @param answer Undefined where nobody could read it. */
  sent(spanCount: number, bytes: number, answer: HttpAnswer | undefined): void {
    this.#isAnswerKnown = true;
    this.#requestsSent++;
    this.#spansSent += spanCount;
    this.#bytesSent += bytes;
    const partial = answer && readPartialSuccess(answer.body, answer.headers['content-type'] ?? '');
    if (partial === undefined) return;
    const { rejectedSpans, message } = partial;
    this.#rejectedSpans += rejectedSpans;
    const verdict = rejectedSpans > 0 ? `rejected ${rejectedSpans} of ${spanCount} spans` : 'took all spans and warns';
    this.#note(`The OTLP server ${verdict}: ${message || 'it gave no reason'}`);
  }

  refused(spanCount: number, error: ReportError): void {
    this.#refusedSpans += spanCount;
    this.#note(error.message);
  }

  /** Said of the first request, once: later ones are in the counters, and a collector may come up after the service. */
  unanswered(what: string, endpointName: string, isExiting: boolean): void {
    if (this.#isAnswerKnown) return;
    this.#isAnswerKnown = true;
    const remedy =
      endpointName === ''
        ? 'That is the default: set OTEL_EXPORTER_OTLP_ENDPOINT to where yours listens, or OTEL_TRACES_EXPORTER=none under register.'
        : `The address is that of ${endpointName.replace(/^O(?=ption )/, 'o')}.`;
    this.#warn(`No collector answers, so spans wait and the oldest are dropped. ${what} ${remedy}`, isExiting);
  }

  leftOut(span: FinishedSpan, reason: 'too-large' | 'invalid', maxBytes: number): void {
    const which = `OtlpReporter left out span ${JSON.stringify(String(span.name).slice(0, 100))} of trace ${span.traceId}`;
    if (reason === 'too-large') {
      this.#spansTooLarge++;
      this.#note(`${which}: it needs more than maxRequestBytes, ${maxBytes}; record less on it or raise the option`);
    } else {
      this.#spansInvalid++;
      this.#note(`${which}: its name or a property has a type that spans cannot have`);
    }
  }

  snapshot(): Readonly<Record<string, number>> {
    return {
      requestsSent: this.#requestsSent,
      requestsFailed: this.requestsFailed,
      spansSent: this.#spansSent,
      bytesSent: this.#bytesSent,
      rejectedSpans: this.#rejectedSpans,
      refusedSpans: this.#refusedSpans,
      spansTooLarge: this.#spansTooLarge,
      spansInvalid: this.#spansInvalid,
    };
  }

  // Warned of once: what is wrong with one request is wrong with many. The others are in stats().
  #note(message: string): void {
    this.lastError = message;
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#warn(message, false);
  }
}
