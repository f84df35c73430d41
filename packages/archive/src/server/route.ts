// What an endpoint is, and which one a request means. Paths are compared part by part; nothing of them ever names a file.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorForm } from './errors.js';
import { HttpError } from './http-error.js';
import type { SeenDamage } from './ports.js';

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
export interface Target {
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

/** Only the path and the parameters count, whatever host the request names. */
export const parseTarget = (url: string): Target => {
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

/** All routes of a path, of whatever method. */
export const routesAt = (routes: readonly Route[], path: readonly string[]): Route[] =>
  routes.filter((route) => matches(route.path, path));

export const partsOf = (route: Route, path: readonly string[]): string[] =>
  path.filter((_, i) => route.path[i] === '*');

/** The form of errors for a path that may have no route. */
export const errorFormOf = (path: readonly string[]): ErrorForm => {
  if (path[0] === 'v1') return 'otlp';
  return path[0] === 'api' && path[1] !== 'v3' ? 'v1' : 'v3';
};
