// One signed request of an S3-compatible store: tried again where the failure may pass, with the store's time where ours is wrong, with fresh credentials
// where they expired. It must tell who asked whether an attempt without an answer may have been carried out, and never take a redirect: a signature is
// good for one server. Its connections hold no process, and are in no trace.
import { createHash } from 'node:crypto';
import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { addOwnAgent, type Backoff, backoffMs, onAbort, sleep, throwIfAborted, timers } from 'spanline/internal/base';
import {
  abortedBucket,
  type BucketError,
  bucketError,
  type Deed,
  isStale,
  mayPass,
  refusalOf,
} from './bucket-error.js';
import type { BucketCredentials, Credentials } from './s3-credentials.js';
import { errorOf } from './s3-xml.js';

/** What is asked. */
export interface StoreRequest {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  /** Address without a query. */
  readonly url: string;
  readonly query?: Readonly<Record<string, string>>;
  /** By lower-case name. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly deed: Deed;
  /** Statuses that are an answer, beside 200 and 204. */
  readonly accept?: readonly number[];
  readonly signal?: AbortSignal | undefined;
}

/** What is answered. */
export interface StoreAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** Whether an earlier attempt, whose answer was lost, may have been carried out. */
  readonly mayBeSecond: boolean;
}

/** How long and how often it is tried. */
export interface Patience {
  /** Attempts after the first. */
  readonly retries: number;
  /** Milliseconds without a byte after which an attempt is given up. */
  readonly stallMs: number;
  readonly delays: Backoff;
  /** Milliseconds after which a request to a store that has never answered yet is not tried again; undefined: as one to any other. */
  readonly firstAnswerMs: number | undefined;
}

/** What a store was asked for so far, and the bytes that came and went. */
export interface StoreStats {
  readonly requests: number;
  readonly bytesRead: number;
  readonly bytesWritten: number;
  /** Requests that repeat one. */
  readonly retries: number;
}

/** Requests under way at a time. */
const MAX_PARALLEL = 32;
/** Bytes of one answer at most: all of it is in memory. */
const MAX_ANSWER_BYTES = 512 * 1024 * 1024;

/** A failure that may have passed a moment later. */
class Passing extends Error {
  constructor(
    message: string,
    /** Whether the store may have done what was asked. */
    readonly mayBeDone: boolean,
    readonly retryAfterMs = 0,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The moment of a `Date` header, and when it came. */
interface Reading {
  readonly storeMs: number;
  readonly atMs: number;
}

const datetimeOf = (ms: number): string => new Date(ms).toISOString().replace(/[:-]|\.\d{3}/g, '');

export class S3Client {
  readonly #credentials: Credentials;
  readonly #region: string;
  readonly #patience: Patience;
  readonly #counts = { requests: 0, bytesRead: 0, bytesWritten: 0, retries: 0 };
  readonly #signingKeys = new Map<string, ArrayBuffer>();
  readonly #agents = {
    http: addOwnAgent(new HttpAgent({ keepAlive: true, maxSockets: MAX_PARALLEL })),
    https: addOwnAgent(new HttpsAgent({ keepAlive: true, maxSockets: MAX_PARALLEL })),
  };
  #reading: Reading | undefined;
  /** Added to this machine's time when a request is signed: not zero once the store did not believe it. */
  #skewMs = 0;
  #hasAnswered = false;

  constructor(credentials: Credentials, region: string, patience: Patience) {
    this.#credentials = credentials;
    this.#region = region;
    this.#patience = patience;
  }

  /** The store's clock by its last answer; undefined before the first. It may be behind by the age of that answer's way, never ahead. */
  get clockMs(): number | undefined {
    return this.#reading && this.#reading.storeMs + timers.monotonicMs() - this.#reading.atMs;
  }

  stats(): StoreStats {
    return { ...this.#counts };
  }

  close(): void {
    this.#agents.http.destroy();
    this.#agents.https.destroy();
  }

  /** The answer; throws a `BucketError` for everything else. */
  async ask(request: StoreRequest): Promise<StoreAnswer> {
    const { deed, signal } = request;
    let mayBeSecond = false;
    let isRefreshed = false;
    let isCorrected = false;
    const startMs = timers.monotonicMs();
    for (let failures = 0; ; ) {
      throwIfAborted(signal, deed.what, abortedBucket);
      const credentials = await this.#credentials.get();
      try {
        const answer = await this.#attempt(request, credentials);
        if (isExpected(request, answer.status)) return { ...answer, mayBeSecond };
        const { code } = errorOf(answer.bytes);
        if (isStale(code) && !isRefreshed) {
          isRefreshed = true;
          this.#credentials.forget(credentials);
        } else if (code === 'RequestTimeTooSkewed' && !isCorrected && this.#reading !== undefined) {
          isCorrected = true;
          this.#skewMs = this.#reading.storeMs - timers.wallMs();
        } else if (mayPass(answer.status, code)) {
          const words = `the store answered ${answer.status}${code === '' ? '' : ` (${code})`}`;
          const seconds = Number(answer.headers['retry-after']);
          throw new Passing(words, answer.status >= 500 && code !== 'SlowDown', 1000 * (seconds || 0));
        } else throw refusalOf(deed, answer.status, answer.bytes, await mayList(deed, answer.status));
      } catch (error) {
        if (!(error instanceof Passing)) throw error;
        failures++;
        mayBeSecond ||= error.mayBeDone;
        if (failures > this.#patience.retries || this.#isSilent(startMs))
          throw givenUp(deed, failures, error, this.#hasAnswered);
        const waitMs = Math.max(error.retryAfterMs, backoffMs(failures, this.#patience.delays));
        await pause(Math.min(waitMs, this.#patience.delays.maxMs), deed, signal);
      }
      this.#counts.retries++;
    }
  }

  /** Whether a store that has never answered is waited for no longer. */
  #isSilent(startMs: number): boolean {
    const { firstAnswerMs } = this.#patience;
    return !this.#hasAnswered && firstAnswerMs !== undefined && timers.monotonicMs() - startMs >= firstAnswerMs;
  }

  /** How long an attempt may hear nothing. */
  get #stallMs(): number {
    const { stallMs, firstAnswerMs = stallMs } = this.#patience;
    return this.#hasAnswered ? stallMs : Math.min(stallMs, firstAnswerMs);
  }

  async #attempt(request: StoreRequest, credentials: BucketCredentials): Promise<Omit<StoreAnswer, 'mayBeSecond'>> {
    const { method, url, query = {}, body } = request;
    const target = new URL(url);
    for (const [name, value] of Object.entries(query)) target.searchParams.set(name, value);
    const { AwsV4Signer } = await import('aws4fetch');
    const signer = new AwsV4Signer({
      method,
      url: target.href,
      headers: {
        ...request.headers,
        'x-amz-content-sha256': createHash('sha256')
          .update(body ?? '')
          .digest('hex'),
      },
      accessKeyId: credentials.accessKeyId,
      secretAccessKey: credentials.secretAccessKey,
      ...(credentials.sessionToken === undefined ? {} : { sessionToken: credentials.sessionToken }),
      service: 's3',
      region: this.#region,
      cache: this.#signingKeys,
      datetime: datetimeOf(timers.wallMs() + this.#skewMs),
    });
    const signed = await signer.sign();
    // As it is signed: a space is %20 there, and + in what URL makes of it.
    signed.url.search = signed.url.search.replaceAll('+', '%20');
    return this.#send(signed.url, Object.fromEntries(signed.headers), request);
  }

  #send(
    url: URL,
    headers: Record<string, string>,
    { method, body, deed, signal }: StoreRequest,
  ): Promise<Omit<StoreAnswer, 'mayBeSecond'>> {
    this.#counts.requests++;
    this.#counts.bytesWritten += body?.length ?? 0;
    const isSecure = url.protocol === 'https:';
    const length = body === undefined && method !== 'PUT' ? {} : { 'content-length': String(body?.length ?? 0) };
    return new Promise((resolve, reject) => {
      const fail = (cause: Error): void => {
        unlink();
        const { code, message } = cause as NodeJS.ErrnoException;
        const words = message === '' ? (code ?? cause.name) : message;
        reject(
          cause instanceof Passing || signal?.aborted === true
            ? abortedOr(cause, deed, signal)
            : new Passing(words, true, 0, { cause }),
        );
      };
      const sent = (isSecure ? httpsRequest : httpRequest)(url, {
        method,
        headers: { ...headers, ...length },
        agent: isSecure ? this.#agents.https : this.#agents.http,
      });
      const abort = (): void => void sent.destroy(new Error('aborted'));
      const unlink = onAbort(signal, abort);
      const stallMs = this.#stallMs;
      sent.setTimeout(stallMs, () => sent.destroy(new Error(`nothing came for ${stallMs} ms`)));
      sent.on('error', fail);
      sent.on('response', (response) => {
        this.#hasAnswered = true;
        this.#readClock(response);
        this.#readBody(response).then((bytes) => {
          unlink();
          resolve({ status: response.statusCode as number, headers: response.headers, bytes });
        }, fail);
      });
      sent.end(body);
    });
  }

  async #readBody(response: IncomingMessage): Promise<Buffer> {
    const announced = Number(response.headers['content-length'] ?? 0);
    const chunks: Buffer[] = [];
    let length = 0;
    if (announced > MAX_ANSWER_BYTES) response.destroy();
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      this.#counts.bytesRead += chunk.length;
      if (length > MAX_ANSWER_BYTES) response.destroy();
    }
    if (!response.complete) throw new Error(`the answer broke off after ${length} bytes`);
    return Buffer.concat(chunks, length);
  }

  #readClock({ headers }: IncomingMessage): void {
    const storeMs = Date.parse(headers.date ?? '');
    if (!Number.isNaN(storeMs)) this.#reading = { storeMs, atMs: timers.monotonicMs() };
  }
}

const mayList = async (deed: Deed, status: number): Promise<boolean | undefined> =>
  status === 403 ? deed.mayList?.() : undefined;

const isExpected = ({ accept = [] }: StoreRequest, status: number): boolean =>
  status === 200 || status === 204 || accept.includes(status);

const abortedOr = (cause: Error, deed: Deed, signal: AbortSignal | undefined): Error =>
  signal?.aborted === true ? abortedBucket(`${deed.what} was aborted`, { cause: signal.reason }) : cause;

const givenUp = ({ what }: Deed, attempts: number, failure: Passing, hasAnswered: boolean): BucketError =>
  bucketError(
    'UNAVAILABLE',
    `${what}: ${failure.message}; given up after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}${hasAnswered ? '' : '. The store has not answered once: correct its endpoint (AWS_ENDPOINT_URL_S3) or region, or see to the network'}`,
    { cause: failure },
  );

const pause = (ms: number, { what }: Deed, signal: AbortSignal | undefined): Promise<void> =>
  sleep(ms, signal).catch(() => throwIfAborted(signal, what, abortedBucket));
