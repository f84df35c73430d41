// What a server answered, and whether that means delivered, later, or never. Only the status decides; a body is words.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { timers } from '../../base/calls/timers.js';
import { quoteWords } from '../../base/text/escape-text.js';
import { ReportError } from '../../collector/reporter.js';

/** A server's answer with the status 2xx. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Empty when it was larger than 64 KiB or cut off: a part of a message is none. */
  readonly body: Buffer;
}

const MAX_BODY_BYTES = 64 << 10;

/** Too many requests, and a gateway or server that is away for now: the statuses the OTLP specification calls retryable. */
const RETRYABLE = new Set([429, 502, 503, 504]);

/**
 * Reads at most 64 KiB and closes the connection of a server that sends more. Never fails: a body that is cut off is an
 * empty one, for the status has been said by then, and to send again what a server accepted would double it.
 */
export const readBody = (response: IncomingMessage): Promise<Buffer> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const giveUp = (): void => resolve(Buffer.alloc(0));
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BODY_BYTES) chunks.push(chunk);
      else response.destroy();
    });
    response.on('end', () => resolve(Buffer.concat(chunks)));
    response.on('error', giveUp);
    response.on('close', giveUp);
  });

/** A server that asks for more is asked again after this long: a timer beyond 2^31 ms would fire at once. */
const MAX_WAIT_MS = 3_600_000;

/** The Retry-After header, seconds or an HTTP date: milliseconds to wait, 0 to one hour; undefined when there is no such header or it cannot be read. */
export const parseRetryAfter = (header: string | undefined, nowMs: number): number | undefined => {
  const text = header?.trim();
  if (!text) return undefined;
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), MAX_WAIT_MS);
};

const REMEDIES: Readonly<Record<number, string>> = {
  401: 'check the credentials in the headers option',
  403: 'check the credentials in the headers option',
  404: 'check the path of the endpoint',
  405: 'check the path of the endpoint',
  413: 'lower maxRequestBytes, or raise the limit of the server',
  415: 'the server does not take this protocol or compression; choose another',
};

/** Why an answer outside 2xx failed the report. `words` is what the server said, in plain text. */
export const toReportError = (url: string, response: IncomingMessage, words: string): ReportError => {
  const { statusCode: status = 0, headers } = response;
  if (status >= 300 && status < 400) {
    const target = headers.location === undefined ? '' : ` to ${quoteWords(headers.location)}`;
    return new ReportError(
      'ERR_SPANLINE_HTTP_REDIRECT',
      `${url} answered ${status}, a redirect${target}. Redirects are not followed, because they would carry spans and ` +
        'headers to another place: set the endpoint to the final address.',
      { retryable: false },
    );
  }
  const said = words === '' ? '' : `: "${quoteWords(words)}"`;
  const remedy = REMEDIES[status];
  return new ReportError(
    'ERR_SPANLINE_HTTP_STATUS',
    `${url} answered ${status} ${response.statusMessage ?? ''}`.trimEnd() + said + (remedy ? `; ${remedy}.` : '.'),
    { retryable: RETRYABLE.has(status), retryAfterMs: parseRetryAfter(headers['retry-after'], timers.wallMs()) },
  );
};
