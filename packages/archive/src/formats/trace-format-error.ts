// The error for spans of others that cannot be read: their bytes are not what their format says.
import { SpanlineError } from 'spanline/internal/base';

/** Stable codes: the bytes are no such document, or it is beyond a bound. */
export type TraceFormatErrorCode = 'ERR_SPANLINE_TRACE_FORMAT' | 'ERR_SPANLINE_TRACE_TOO_LARGE';

/**
 * What reading traces in the formats of others throws: OTLP and Jaeger JSON. Sending the same bytes again fails again.
 *
 * @example
 * ```ts
 * import { decodeOtlpJson, TraceFormatError } from '@spanline/archive';
 * try {
 *   decodeOtlpJson(Buffer.from('{"resourceSpans":5}'));
 * } catch (error) {
 *   console.assert(error instanceof TraceFormatError && error.code === 'ERR_SPANLINE_TRACE_FORMAT');
 * }
 * ```
 */
export class TraceFormatError extends SpanlineError<TraceFormatErrorCode> {
  override readonly name = 'TraceFormatError';
}

/** The bytes are no such document. */
export const malformed = (message: string, cause?: unknown): TraceFormatError =>
  new TraceFormatError('ERR_SPANLINE_TRACE_FORMAT', message, cause === undefined ? undefined : { cause });

/** The document is beyond a bound. */
export const tooLarge = (message: string): TraceFormatError =>
  new TraceFormatError('ERR_SPANLINE_TRACE_TOO_LARGE', message);
