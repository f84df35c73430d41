// What the OTLP reporter has to account for. Every span it does not deliver is in one of these numbers.

import type { ReportError } from '../../collector/reporter.js';
import type { FinishedSpan } from '../../record/finished-span.js';
import type { HttpAnswer } from '../http/sender.js';
import { readPartialSuccess } from './server-words.js';

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
