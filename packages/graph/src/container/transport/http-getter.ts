// One GET of a web server: over redirects, tried again where the failure may pass, its body read up to a bound. It must never take more memory than was
// asked for, whatever the server sends, and never ask twice for what the server will say again. Signals are followed for as long as a call lasts: they
// may live as long as the process.
import { type Backoff, backoffMs, onAbort, SpanlineError, sleep, timers } from 'spanline/internal/base';
import { GraphError, NotFoundError, TransportError } from '../graph-error.js';
import type { TransportStats } from './transport.js';

/** An abort controller of a piece of work. */
export interface LinkedAbort {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** The work is over: follow the parent no longer. */
  unlink(): void;
}

/** A controller that is aborted with its parent, by what `toReason` makes of the parent's reason. */
export const linkedAbort = (
  parent: AbortSignal | undefined,
  toReason: (reason: unknown) => unknown = (reason) => reason,
): LinkedAbort => {
  const controller = new AbortController();
  const follow = (): void => controller.abort(toReason(parent?.reason));
  if (parent?.aborted) follow();
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    unlink: onAbort(parent, follow),
  };
};

/** Headers of a request by lower-case name. */
export type RequestHeaders = Readonly<Record<string, string>>;

/** Makes a request one that its server trusts: the headers to send for these. */
export type SignRequest = (url: string, headers: RequestHeaders) => Promise<Headers>;

/** What is asked, of whom, and how long and how often it is tried. */
interface GetterOptions {
  /** For messages. */
  readonly name: string;
  readonly url: string;
  /** Sent to the origin of `url` only. */
  readonly headers: RequestHeaders;
  readonly sign?: SignRequest;
  readonly stallMs: number;
  readonly timeoutMs: number;
  readonly retries: number;
}

/** Turns an answer (200, 206 or 416) into what the caller wants. `read` gives its body, which must have exactly so many bytes. */
export type TakeAnswer<T> = (response: Response, read: (length: number) => Promise<Buffer>) => Promise<T>;

const MAX_REDIRECTS = 5;
const DELAYS: Backoff = { firstMs: 200, maxMs: 5_000, jitter: 1 };
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** What an address that a redirect led to answers when it is no longer good: signed addresses live for minutes. */
const EXPIRED = new Set([401, 403, 404, 410]);
const TAKEN = new Set([200, 206, 416]);

/** A failure that may have passed a moment later. */
class PassingFailure extends SpanlineError {
  constructor(
    message: string,
    /** Milliseconds the server asked to be left alone. */
    readonly retryAfterMs = 0,
    options?: ErrorOptions,
  ) {
    super('PASSING', message, options);
  }
}

export class HttpGetter {
  readonly #options: GetterOptions;
  readonly #counts: { -readonly [Key in keyof TransportStats]: TransportStats[Key] };
  /** Where the last redirects led; asked directly, for every hop is a round trip. */
  #target: string;

  constructor(options: GetterOptions, counts: { -readonly [Key in keyof TransportStats]: TransportStats[Key] }) {
    this.#options = options;
    this.#counts = counts;
    this.#target = options.url;
  }

  /** What `take` makes of the answer. `parent` must be aborted with a `GraphError` as its reason. */
  async get<T>(headers: RequestHeaders, parent: AbortSignal, take: TakeAnswer<T>): Promise<T> {
    const { name, timeoutMs, retries } = this.#options;
    const call = linkedAbort(parent);
    const late = (): void => call.abort(new TransportError(`${name} did not answer in full within ${timeoutMs} ms`));
    const deadline = timers.setTimeout(late, timeoutMs);
    try {
      for (let failures = 1; ; failures++) {
        try {
          return await this.#attempt(headers, call.signal, take);
        } catch (thrown) {
          call.signal.throwIfAborted();
          const failure = toFailure(name, thrown);
          if (failure instanceof GraphError) throw failure;
          if (failures > retries)
            throw new TransportError(`${failure.message}; given up after ${failures} attempts`, { cause: failure });
          const delayMs = Math.max(failure.retryAfterMs, backoffMs(failures, DELAYS));
          await sleep(Math.min(DELAYS.maxMs, delayMs), call.signal);
        }
      }
    } finally {
      timers.clearTimeout(deadline);
      call.unlink();
    }
  }

  async #attempt<T>(headers: RequestHeaders, call: AbortSignal, take: TakeAnswer<T>): Promise<T> {
    const { name, stallMs } = this.#options;
    const { signal, abort, unlink } = linkedAbort(call);
    const watch = watchSilence(stallMs, () => abort(new PassingFailure(`${name} sent nothing for ${stallMs} ms`)));
    const onBytes = (count: number): void => {
      watch.heard();
      this.#counts.bytes += count;
    };
    let response: Response | undefined;
    try {
      const answer = await this.#answer(headers, signal, onBytes);
      response = answer;
      watch.heard();
      if (TAKEN.has(answer.status)) return await take(answer, (length) => readBody(name, answer, length, onBytes));
      throw statusFailure(name, answer, serverWords(await bodyText(answer, onBytes)));
    } catch (thrown) {
      throw signal.aborted ? signal.reason : thrown;
    } finally {
      watch.end();
      unlink();
      // An answer that nobody read must not hold its connection.
      if (response?.bodyUsed === false) await response.body?.cancel().catch(() => {});
    }
  }

  /** The first answer that is not a redirect. */
  async #answer(headers: RequestHeaders, signal: AbortSignal, onBytes: (count: number) => void): Promise<Response> {
    const { name, url: own, sign } = this.#options;
    let url = this.#target;
    for (let hops = 0; hops <= MAX_REDIRECTS; ) {
      this.#counts.requests++;
      const response = await fetch(url, { headers: await this.#headersFor(url, headers), redirect: 'manual', signal });
      if (EXPIRED.has(response.status) && hops === 0 && url !== own) url = own;
      else if (REDIRECTS.has(response.status)) {
        hops++;
        if (sign !== undefined)
          throw new TransportError(
            `${name} is served elsewhere (status ${response.status}): set its region or endpoint`,
          );
        url = this.#redirected(url, response);
      } else {
        this.#target = url;
        return response;
      }
      await bodyText(response, onBytes);
    }
    throw new TransportError(`${name} was redirected more than ${MAX_REDIRECTS} times`);
  }

  #redirected(from: string, response: Response): string {
    const { name } = this.#options;
    const location = response.headers.get('location');
    if (location === null || !URL.canParse(location, from))
      throw new TransportError(`${name} answered ${response.status} without an address to go to`);
    const to = new URL(location, from);
    const isSafe = to.protocol === 'https:' || (to.protocol === 'http:' && from.startsWith('http:'));
    if (!isSafe) throw new TransportError(`${name} was redirected to ${to.protocol}//, which is not followed`);
    return to.href;
  }

  async #headersFor(url: string, headers: RequestHeaders): Promise<RequestHeaders | Headers> {
    const { url: own, headers: given, sign } = this.#options;
    const all = new URL(url).origin === new URL(own).origin ? { ...given, ...headers } : headers;
    return sign === undefined ? all : sign(url, all);
  }
}

/** Turns of the event loop in which what has come to a socket is read and handed on. */
const TURNS = 5;

/**
 * Calls `onSilence` once nothing was heard for `ms`. Where this process stood still meanwhile, its timer comes before what waits in its
 * sockets, and that is not silence: they are read first.
 */
const watchSilence = (ms: number, onSilence: () => void): { heard(): void; end(): void } => {
  let turns: NodeJS.Immediate | undefined;
  const turn = (left: number): void => {
    turns = timers.setImmediate(() => (left === 0 ? onSilence() : turn(left - 1)));
  };
  const timer = timers.setTimeout(() => turn(TURNS), ms);
  return {
    heard() {
      timers.clearImmediate(turns);
      timer.refresh();
    },
    end() {
      timers.clearImmediate(turns);
      timers.clearTimeout(timer);
    },
  };
};

/** Statuses of a server that is busy or being repaired. */
const isPassingStatus = (status: number): boolean =>
  status === 408 || status === 429 || (status >= 500 && status !== 501 && status !== 505);

/** The error of an answer that brings no bytes. `words` are the server's own, cut short. */
const statusFailure = (name: string, { status, headers }: Response, words: string): PassingFailure | GraphError => {
  const answered = `${name} answered ${status}${words === '' ? '' : ` (${words})`}`;
  if (isPassingStatus(status)) return new PassingFailure(answered, 1000 * (Number(headers.get('retry-after')) || 0));
  if (status === 404 || status === 410) return new NotFoundError(`${name} is not there: status ${status}`);
  const isRefusal = status === 401 || status === 403;
  return new TransportError(
    isRefusal ? `${answered}: the server wants other credentials, or none may read this` : answered,
  );
};

/** What fetch or a body threw, as something to try again or as the error to report: what the system or the connection says may pass. */
const toFailure = (name: string, thrown: unknown): PassingFailure | GraphError => {
  if (thrown instanceof GraphError || thrown instanceof PassingFailure) return thrown;
  // fetch wraps what happened in an error that only says that something did.
  const cause = ((thrown as Error).cause ?? thrown) as NodeJS.ErrnoException;
  const message = `${name} could not be read: ${cause.message === '' ? (cause.code ?? cause.name) : cause.message}`;
  return cause.code === undefined ? new TransportError(message, { cause }) : new PassingFailure(message, 0, { cause });
};

type Chunks = AsyncIterable<Uint8Array>;

/** The body of an answer: exactly `length` bytes. Fewer are a failure that may pass, more are a lie. */
const readBody = async (
  name: string,
  { body }: Response,
  length: number,
  onBytes: (count: number) => void,
): Promise<Buffer> => {
  const bytes = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for await (const chunk of (body ?? []) as unknown as Chunks) {
    onBytes(chunk.length);
    if (at + chunk.length > length) throw new TransportError(`${name} sent more than the ${length} bytes it announced`);
    bytes.set(chunk, at);
    at += chunk.length;
  }
  if (at === length) return bytes;
  throw new PassingFailure(`${name} broke off after ${at} of ${length} bytes`);
};

/** Bodies without use that are read to the end, because the connection can be used again then. */
const DRAINED_BYTES = 16 * 1024;

/** The beginning of a body, as text; the rest of a short one is read, that of a long one refused. */
const bodyText = async ({ body }: Response, onBytes: (count: number) => void): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (body ?? []) as unknown as Chunks) {
    onBytes(chunk.length);
    chunks.push(chunk);
    length += chunk.length;
    // Leaving the loop cancels the body.
    if (length > DRAINED_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8');
};

/** What an object store says is wrong, from its XML. */
const serverWords = (text: string): string =>
  ['Code', 'Message']
    .map((tag) => new RegExp(`<${tag}>([^<]{1,200})</${tag}>`).exec(text)?.[1] ?? '')
    .filter((part) => part !== '')
    .join(': ')
    .replace(/[^\x20-\x7e]/g, ' ');
