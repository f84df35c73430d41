// Spans over HTTP. HttpSender POSTs bodies to one address over connections that are kept and used again. It never follows a redirect, never retries
// what was answered, and no socket of it keeps the process alive: whoever awaits a flush holds the process. A kept connection that breaks before an answer is
// tried again once, by a new one. Only the status of an answer decides whether it means delivered, later, or never; a body is words.
//
// QueuedReporter is what reporters share that wait, and QueuedHttpReporter what those over HTTP share.
import type { ClientRequest, Agent as HttpAgent, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import { promisify } from 'node:util';
import { timers } from '../../base/calls/timers.js';
import { addOwnAgent } from '../../base/own-agents.js';
import { quoteWords } from '../../base/text/escape-text.js';
import { type ReportBatch, ReportError, type Reporter } from '../../collector/reporter.js';
import { type ExitOutcome, sendAtExit, type TlsOptions } from './send-at-exit.js';

/** A server's answer with the status 2xx. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Bytes of the body that was sent. */
  readonly sentBytes: number;
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

/** The fastest level: four fifths of the gain of the default for a third of its time. */
const GZIP = { level: 1, chunkSize: 64 << 10 };

const zlib = (): typeof import('node:zlib') => process.getBuiltinModule('node:zlib');

/** Options of {@link HttpSender}. */
export interface HttpSenderOptions {
  /** The whole address, http or https. */
  readonly endpoint: string;
  /** Sent with every request; `content-type` belongs here. */
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds one request may take, from the look-up of the name to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Connections at one time. */
  readonly maxConnections?: number;
  readonly tls?: TlsOptions;
  /** Bodies go out in gzip; the header that says so belongs to `headers`. */
  readonly isZipped?: boolean;
  /** Turns the body of a failure into words for the error's message; by default the text of a text/* answer. */
  readonly toWords?: (body: Buffer, contentType: string) => string;
}

const textToWords = (body: Buffer, contentType: string): string =>
  contentType.startsWith('text/plain') || contentType.includes('json') ? body.toString('utf8') : '';

/** Credentials in a URL must not reach a log; a query may hold a key. */
const withoutCredentials = (url: URL): string => {
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  if (shown.search !== '') shown.search = '...';
  return shown.href;
};

export class HttpSender {
  readonly #url: URL;
  /** The address as a message may show it. */
  readonly shownUrl: string;
  // Made with the first request.
  #agent: HttpAgent | HttpsAgent | undefined;
  readonly #options: HttpSenderOptions;

  constructor(options: HttpSenderOptions) {
    this.#options = options;
    this.#url = new URL(options.endpoint);
    this.shownUrl = withoutCredentials(this.#url);
  }

  /** Resolves on 2xx; otherwise rejects with a {@link ReportError} that says whether to try again and when. */
  async post(body: Uint8Array, signal: AbortSignal): Promise<HttpAnswer> {
    const { timeoutMs, isZipped } = this.#options;
    const sent = isZipped ? await promisify(zlib().gzip)(body, GZIP) : body;
    const deadline = AbortSignal.timeout(timeoutMs);
    const either = AbortSignal.any([signal, deadline]);
    try {
      return await this.#attempt(sent, either, false);
    } catch (error) {
      if (error instanceof ReportError) throw error;
      if (signal.aborted) throw aborted(this.shownUrl, signal);
      if (deadline.aborted) throw timedOut(this.shownUrl, timeoutMs);
      throw unreachable(this.shownUrl, error);
    }
  }

  /** Where nothing asynchronous runs any more: this thread waits. `bytes` are those of each body that is sent. */
  postAtExit(all: readonly Uint8Array[], timeoutMs: number): ExitOutcome & { readonly bytes: readonly number[] } {
    const { endpoint: url, headers, tls, isZipped } = this.#options;
    const bodies = isZipped ? all.map((body) => zlib().gzipSync(body, GZIP)) : all;
    return { ...sendAtExit({ url, headers, tls, bodies, timeoutMs }), bytes: bodies.map(({ length }) => length) };
  }

  /** Closes idle connections, and those in flight. */
  close(): void {
    this.#agent?.destroy();
  }

  async #attempt(body: Uint8Array, signal: AbortSignal, isSecond: boolean): Promise<HttpAnswer> {
    const request = this.#open(body, signal);
    let response: IncomingMessage;
    try {
      response = await answerOf(request, body);
    } catch (error) {
      // A server may close an idle connection at the moment it is used again; a new one shows whether it is still there.
      if (isSecond || signal.aborted || !request.reusedSocket || !isClosing(error)) throw error;
      return this.#attempt(body, signal, true);
    }
    const answer = await readBody(response);
    const { statusCode: status = 0, headers } = response;
    if (status >= 200 && status < 300) return { status, headers, body: answer, sentBytes: body.length };
    const { toWords = textToWords } = this.#options;
    throw toReportError(this.shownUrl, response, toWords(answer, headers['content-type'] ?? ''));
  }

  #open(body: Uint8Array, signal: AbortSignal): ClientRequest {
    const { headers, maxConnections = 1, tls } = this.#options;
    const isSecure = this.#url.protocol === 'https:';
    const { Agent, request: send } = isSecure
      ? process.getBuiltinModule('node:https')
      : process.getBuiltinModule('node:http');
    this.#agent ??= addOwnAgent(
      new Agent({ keepAlive: true, maxSockets: maxConnections, maxFreeSockets: 1, ...(isSecure ? tls : undefined) }),
    );
    const request = send(this.#url, {
      method: 'POST',
      agent: this.#agent,
      signal,
      headers: { ...headers, 'content-length': body.byteLength },
    });
    // The agent takes a reference again each time it hands out a kept socket, so this is said for every request.
    request.on('socket', (socket) => socket.unref());
    return request;
  }
}

const isClosing = (error: unknown): boolean => {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ECONNRESET' || code === 'EPIPE';
};

const answerOf = (request: ClientRequest, body: Uint8Array): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    // Stays for good: an error after the answer (a reset, an abort) must not become an uncaught one.
    request.on('error', reject);
    request.on('response', resolve);
    request.end(body);
  });

const unreachable = (url: string, cause: unknown): ReportError => {
  // Where several addresses were tried, each failed in its own way and the outer error has no message.
  const errors: NodeJS.ErrnoException[] = cause instanceof AggregateError ? cause.errors : [cause];
  const detail = errors.map((one) => one.message).join(', ');
  const isRefused = errors.some((one) => one.code === 'ECONNREFUSED');
  const hint = isRefused ? ' Nothing listens there: start the server, or set the endpoint.' : '';
  return new ReportError('ERR_SPANLINE_CONNECT', `${url} could not be reached: ${detail}.${hint}`, { cause });
};

const timedOut = (url: string, timeoutMs: number): ReportError =>
  new ReportError(
    'ERR_SPANLINE_HTTP_TIMEOUT',
    `${url} did not answer within ${timeoutMs} ms. Raise timeoutMs when the server is only slow.`,
  );

const aborted = (url: string, { reason }: AbortSignal): ReportError =>
  reason instanceof ReportError
    ? reason
    : new ReportError('ERR_SPANLINE_ABORTED', `The request to ${url} was aborted.`, { cause: reason });

/** One report at a time: one that timed out still winds up while the collector begins the next. A report that fails must not fail the next. */
export abstract class QueuedReporter implements Reporter {
  abstract readonly name: string;
  /** @internal */
  readonly keepsNoTrace = true;
  #last: Promise<void> = Promise.resolve();

  report(batch: ReportBatch): Promise<void> {
    // Read now: the collector gives the batch a new signal when it tries again.
    const { signal } = batch;
    const report = this.#last.then(() => this.deliver(batch, signal));
    this.#last = report.catch(() => {});
    return report;
  }

  async flush(): Promise<void> {
    await this.idle();
  }

  async shutdown(): Promise<void> {
    await this.idle();
    await this.close();
  }

  abstract stats(): Readonly<Record<string, number>>;

  /** The signal is that of this attempt. */
  protected abstract deliver(batch: ReportBatch, signal: AbortSignal): Promise<void>;

  /** Give back what is open; may give a promise to wait for. */
  protected close(): unknown {
    return undefined;
  }

  /** Resolves once all reports so far have ended, in whatever way. It does not keep the process alive. */
  protected idle(): Promise<void> {
    return this.#last;
  }
}

/** Over HTTP, where sockets never hold the process: it stays alive while somebody waits for a delivery. */
export abstract class QueuedHttpReporter extends QueuedReporter {
  protected override async idle(): Promise<void> {
    const hold = timers.setInterval(() => {}, 1 << 30);
    await super.idle();
    timers.clearInterval(hold);
  }
}
