// Abort controllers that follow a signal. They must be unlinked when their work is over: the signal may live as long as the process.
import { type Backoff, backoffMs, sleep, timers } from 'spanline/internal/base';
import { GraphError, TransportError } from '../graph-error.js';
import {
  type AnswerBody,
  answerBody,
  bodyWords,
  connectionFailure,
  PassingFailure,
  statusFailure,
} from './http-answer.js';
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
  else parent?.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    unlink: () => parent?.removeEventListener('abort', follow),
  };
};

/** Headers of a request by lower-case name. */
export type RequestHeaders = Readonly<Record<string, string>>;

/** Makes a request one that its server trusts: the headers to send for these. */
export type SignRequest = (url: string, headers: RequestHeaders) => Promise<Headers>;

/** How long and how often to try. */
export interface Patience {
  /** Milliseconds without a byte after which an attempt is given up. */
  readonly stallMs: number;
  /** Milliseconds for one range, all attempts together. */
  readonly timeoutMs: number;
  /** Attempts after the first. */
  readonly retries: number;
}

/** What is asked, and of whom. */
export interface GetterOptions extends Patience {
  /** For messages. */
  readonly name: string;
  readonly url: string;
  /** Sent to the origin of `url` only. */
  readonly headers: RequestHeaders;
  readonly sign?: SignRequest;
}

/** Turns an answer (200, 206, 412 or 416) into what the caller wants. */
export type TakeAnswer<T> = (response: Response, body: AnswerBody) => Promise<T>;

const MAX_REDIRECTS = 5;
const DELAYS: Backoff = { firstMs: 200, maxMs: 5_000, jitter: 1 };
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** What an address that a redirect led to answers when it is no longer good: signed addresses live for minutes. */
const EXPIRED = new Set([401, 403, 404, 410]);
const TAKEN = new Set([200, 206, 412, 416]);

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
      for (let attempt = 0; ; attempt++) {
        try {
          return await this.#attempt(headers, call.signal, take);
        } catch (thrown) {
          call.signal.throwIfAborted();
          const failure = connectionFailure(name, thrown);
          if (failure instanceof GraphError) throw failure;
          if (attempt >= retries) {
            throw new TransportError(`${failure.message}; given up after ${attempt + 1} attempts`, { cause: failure });
          }
          await sleep(delayMs(attempt + 1, failure), call.signal);
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
      response = await this.#answer(headers, signal, onBytes);
      watch.heard();
      if (TAKEN.has(response.status)) return await take(response, answerBody(name, response, onBytes));
      throw statusFailure(name, response, serverWords(await bodyWords(response, onBytes)));
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
    const { name, sign } = this.#options;
    let url = this.#target;
    for (let hops = 0; hops <= MAX_REDIRECTS; ) {
      this.#counts.requests++;
      const response = await fetch(url, { headers: await this.#headersFor(url, headers), redirect: 'manual', signal });
      if (EXPIRED.has(response.status) && hops === 0 && url !== this.#options.url) {
        url = this.#options.url;
        this.#target = url;
      } else if (REDIRECTS.has(response.status)) {
        hops++;
        if (sign !== undefined) {
          throw new TransportError(
            `${name} is served elsewhere (status ${response.status}): set its region or endpoint`,
          );
        }
        url = this.#redirected(url, response);
      } else {
        this.#target = url;
        return response;
      }
      await bodyWords(response, onBytes);
    }
    throw new TransportError(`${name} was redirected more than ${MAX_REDIRECTS} times`);
  }

  #redirected(from: string, response: Response): string {
    const { name } = this.#options;
    const location = response.headers.get('location');
    if (location === null || !URL.canParse(location, from)) {
      throw new TransportError(`${name} answered ${response.status} without an address to go to`);
    }
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

const delayMs = (failures: number, { retryAfterMs }: PassingFailure): number =>
  Math.min(DELAYS.maxMs, Math.max(retryAfterMs, backoffMs(failures, DELAYS)));

/** What an object store says is wrong, from its XML. */
const serverWords = (text: string): string =>
  ['Code', 'Message']
    .map((tag) => new RegExp(`<${tag}>([^<]{1,200})</${tag}>`).exec(text)?.[1] ?? '')
    .filter((part) => part !== '')
    .join(': ')
    .replace(/[^\x20-\x7e]/g, ' ');
