// Takes one request to its endpoint and its outcome to the client. Paths are compared part by part; nothing of them ever names a file. So many
// queries are answered at a time; others wait their turn, so many and so long, and the rest is asked to come again. Whatever a request holds,
// it ends in an answer or a closed connection, never in an exception that leaves this file.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { onAbort, timers, unlessAborted } from 'spanline/internal/base';
import { type ErrorForm, errorBody, sendBytes, sendJson, toHttpError } from './answer.js';
import type { Guard } from './guard.js';
import { HttpError, tryLater } from './http-error.js';
import { SeenDamage } from './ports.js';

/** Bounds of a queue. */
interface QueryLimits {
  readonly maxQueries: number;
  readonly maxWaitingQueries: number;
  readonly queryWaitMs: number;
}

/** One for a server. */
class QueryQueue {
  readonly #limits: QueryLimits;
  #running = 0;
  readonly #waiters = new Set<() => void>();
  /** Queries that were refused for now. */
  refused = 0;

  constructor(limits: QueryLimits) {
    this.#limits = limits;
  }

  /** Queries that wait now. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /** Take a place, which must be given back. Rejects when there is none in time, or none is wanted any more. */
  async take(signal: AbortSignal): Promise<void> {
    const { maxQueries, maxWaitingQueries } = this.#limits;
    if (this.#running < maxQueries) {
      this.#running++;
      return;
    }
    if (this.#waiters.size >= maxWaitingQueries || !(await this.#turn(signal))) {
      this.refused++;
      throw tryLater(429, `${maxQueries} queries are being answered, and others wait: ask again later`);
    }
  }

  give(): void {
    const [next] = this.#waiters;
    // The place is handed on, not given back, when someone waits.
    if (next === undefined) this.#running--;
    else next();
  }

  /** False when it took too long. */
  #turn(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (hasPlace: boolean): void => {
        this.#waiters.delete(go);
        timers.clearTimeout(timer);
        unlink();
        resolve(hasPlace);
      };
      const go = (): void => end(true);
      const giveUp = (): void => end(false);
      const timer = timers.setTimeout(giveUp, this.#limits.queryWaitMs);
      const unlink = onAbort(signal, giveUp);
      this.#waiters.add(go);
    });
  }
}

/** One request on its way. */
export interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: URLSearchParams;
  /** The parts of the path that stand for something, in their order. */
  readonly parts: readonly string[];
  /** Fires when the client went away or the time for an answer is over. */
  readonly signal: AbortSignal;
  /** How the archive is to be read for this request, and what of it could not be. */
  readonly damage: SeenDamage;
}

/** An endpoint. */
export interface Route {
  readonly method: 'GET' | 'POST';
  /** Parts of the path; `*` is any. */
  readonly path: readonly string[];
  /** Answered without a token: it tells nothing. */
  readonly isOpen?: boolean;
  /** Costs as much as what it finds: only some run at a time. */
  readonly isQuery: boolean;
  /** Its answer goes on as long as the client listens: no time bounds it. */
  readonly isEndless?: boolean;
  handle(call: Call): void | Promise<void>;
}

/** The endpoint of a query. */
export const queryRoute = (path: string, handle: Route['handle']): Route => ({
  method: 'GET',
  path: path.split('/').slice(1),
  isQuery: true,
  handle,
});

/** A request's path and parameters. */
interface Target {
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

/** Only the path and the parameters count, whatever host the request names. */
const parseTarget = (url: string): Target => {
  try {
    const { pathname, searchParams } = new URL(url.startsWith('/') ? `http://localhost${url}` : url);
    const path = pathname.split('/').slice(1).map(decodeURIComponent);
    // A slash at the end changes nothing.
    if (path.length > 1 && path.at(-1) === '') path.pop();
    return { path, query: searchParams };
  } catch {
    throw new HttpError(400, 'the path of the request is not valid');
  }
};

const matches = (pattern: readonly string[], path: readonly string[]): boolean =>
  pattern.length === path.length && pattern.every((part, i) => (part === '*' ? path[i] !== '' : part === path[i]));

/** The form of errors for a path that may have no route. */
const errorFormOf = (path: readonly string[]): ErrorForm => {
  if (path[0] === 'v1') return 'otlp';
  return path[0] === 'api' && path[1] !== 'v3' ? 'v1' : 'v3';
};

/** What was asked so far. */
export interface RequestStats {
  requests: number;
  /** Answers of 400 to 499. */
  refused: number;
  /** Answers of 500 to 599. */
  failed: number;
  /** Answers cut off, because the client went away or they took too long. */
  aborted: number;
}

/** The content type without its parameters. */
export const contentTypeOf = ({ headers }: IncomingMessage): string =>
  (headers['content-type'] ?? '').split(';', 1)[0].trim().toLowerCase();

const METHODS = { GET: 'GET, HEAD, OPTIONS', POST: 'POST, OPTIONS' } as const;

/** What preflight requests are told. */
const PREFLIGHT = { 'access-control-allow-headers': 'authorization, content-type', 'access-control-max-age': '600' };

/** Handles requests of one server. */
export class RequestHandler {
  readonly queue: QueryQueue;
  readonly stats: RequestStats;
  readonly #routes: readonly Route[];
  readonly #guard: Guard;
  readonly #endless = new Set<ServerResponse>();
  readonly #limits: QueryLimits & { readonly answerTimeoutMs: number };

  constructor(
    routes: readonly Route[],
    guard: Guard,
    limits: QueryLimits & { readonly answerTimeoutMs: number },
    stats: RequestStats = { requests: 0, refused: 0, failed: 0, aborted: 0 },
  ) {
    this.stats = stats;
    this.#routes = routes;
    this.#guard = guard;
    this.#limits = limits;
    this.queue = new QueryQueue(limits);
  }

  /** Never throws. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.stats.requests++;
    const controller = new AbortController();
    const abort = (): void => controller.abort();
    const timer = timers.setTimeout(abort, this.#limits.answerTimeoutMs);
    response.once('close', abort);
    // A client that went away is not an error of ours.
    response.on('error', abort);
    let form: ErrorForm = 'v3';
    try {
      const target = parseTarget(request.url ?? '/');
      form = errorFormOf(target.path);
      await this.#answer(request, response, target, controller.signal, () => {
        timers.clearTimeout(timer);
        this.#endless.add(response);
      });
    } catch (error) {
      this.#fail(request, response, error, form, controller.signal);
    }
    await this.#deliver(response, controller.signal);
    this.#endless.delete(response);
    timers.clearTimeout(timer);
    response.off('close', abort);
  }

  /** End the answers that would go on: the server closes. */
  endEndless(): void {
    for (const response of this.#endless) response.end();
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    { path, query }: Target,
    signal: AbortSignal,
    endTime: () => void,
  ): Promise<void> {
    const isAllowedOrigin = this.#guard.allowOrigin(request, response);
    const routes = this.#routes.filter((route) => matches(route.path, path));
    if (routes.length === 0) {
      this.#guard.check(request);
      throw new HttpError(404, 'there is nothing at this path');
    }
    const allow = routes.map(({ method }) => METHODS[method]).join(', ');
    if (request.method === 'OPTIONS') {
      const headers = isAllowedOrigin ? { ...PREFLIGHT, 'access-control-allow-methods': allow } : {};
      response.writeHead(204, { allow, ...headers }).end();
      return;
    }
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const route = routes.find((one) => one.method === method);
    if (route?.isOpen !== true) this.#guard.check(request);
    if (route === undefined) throw new HttpError(405, `the method must be one of ${allow}`, { allow });
    if (route.isEndless) endTime();
    const damage = new SeenDamage(signal);
    const parts = path.filter((_, i) => route.path[i] === '*');
    await this.#run(route, { request, response, query, parts, signal, damage });
  }

  async #run(route: Route, call: Call): Promise<void> {
    if (!route.isQuery) return unlessAborted(call.signal, Promise.resolve(route.handle(call)));
    await this.queue.take(call.signal);
    // The place is taken as long as the archive works, also when the client is told that it took too long.
    const work = Promise.resolve(route.handle(call)).finally(() => this.queue.give());
    return unlessAborted(call.signal, work);
  }

  /** The answer was given: until its last byte is taken its time goes on. */
  async #deliver(response: ServerResponse, signal: AbortSignal): Promise<void> {
    // That it took too long is said in a few bytes: the connection's own time does for them.
    if (response.writableFinished || response.destroyed || signal.aborted) return;
    await new Promise<void>((resolve) => {
      response.once('finish', resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    if (response.writableFinished) return;
    this.stats.aborted++;
    response.destroy();
  }

  #fail(
    request: IncomingMessage,
    response: ServerResponse,
    error: unknown,
    form: ErrorForm,
    signal: AbortSignal,
  ): void {
    if (response.headersSent || response.destroyed) {
      // What was sent looks like a part of a success: it must not look whole.
      this.stats.aborted++;
      response.destroy();
      return;
    }
    const { status, message, headers } =
      toHttpError(error, signal) ?? new HttpError(500, 'an internal error; nothing is known to be lost');
    if (status >= 500) this.stats.failed++;
    else this.stats.refused++;
    const { contentType, bytes } = errorBody(form, status, message, contentTypeOf(request));
    sendBytes(response, status, contentType, bytes, headers);
    // The rest of a body that nobody wants, so that the client gets to read the answer.
    if (!request.complete) request.resume();
  }
}

/** Tells that the server is there. */
export const healthRoute: Route = {
  method: 'GET',
  path: [''],
  isOpen: true,
  isQuery: false,
  handle: ({ response }) => sendJson(response, 200, { status: 'ok', server: 'spanline' }),
};
