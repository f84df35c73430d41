// A refusal with an HTTP status. It ends a request; it must never leave the server. The command reads values of queries with it at each start, so that it
// stands apart from what knows formats and graphs.
import type { OutgoingHttpHeaders } from 'node:http';
import { SpanlineError } from 'spanline/internal/base';

/** Thrown by handlers: the answer is an error of this status, in the form of its endpoint. */
export class HttpError extends SpanlineError {
  override readonly name = 'HttpError';

  constructor(
    readonly status: number,
    message: string,
    readonly headers: OutgoingHttpHeaders = {},
  ) {
    super('ERR_SPANLINE_HTTP_STATUS', message);
  }
}

/** Seconds after which a refused sender may try again. */
const RETRY_AFTER_SECONDS = 2;

/** Too much at once: nothing is wrong with the request. */
export const tryLater = (status: 429 | 503, message: string): HttpError =>
  new HttpError(status, message, { 'retry-after': String(RETRY_AFTER_SECONDS) });
