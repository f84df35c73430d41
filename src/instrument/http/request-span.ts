// What belongs to an incoming request: its span, what its metric needs, and the route that a framework found for it. Kept on the request itself: frameworks
// wrap it, and hand on the same object. Every copy of this package must find them: a bundler, or Nitro, gives the program a copy of its own.
import type { IncomingMessage } from 'node:http';
import { state } from '../../context/process-state.js';
import type { ServedRequest } from '../../metrics/library-metrics.js';
import { Counter, count } from '../../rows/counters.js';
import type { Span } from '../../span/span.js';
import { type Off, quiet } from '../channel.js';
import { addAnswer, answerError } from './request-properties.js';

export const SPAN = Symbol.for('spanline.request.span');
export const ROUTE = Symbol.for('spanline.request.route');
export const MEASURED = Symbol.for('spanline.request.measured');

export interface RequestWithSpan extends IncomingMessage {
  /** The span that records nothing, where it is only measured. */
  [SPAN]?: Span | undefined;
  [MEASURED]?: ServedRequest;
  [ROUTE]?: string | (() => string | undefined);
  // Of express, in all its versions.
  readonly route?: { readonly path?: unknown };
  readonly baseUrl?: string;
  // Of HTTP/2: there the stream has the span.
  readonly stream?: RequestWithSpan;
}

const holderOf = (request: RequestWithSpan): RequestWithSpan | undefined => {
  // A program may keep a stream of its own under that name.
  if (request[SPAN] !== undefined) return request;
  return request.stream?.[SPAN] === undefined ? undefined : request.stream;
};

/** Say which route answers a request: a template such as `/users/:id`, with the prefixes of routers around it. The last one said counts. */
export const setRoute = (request: IncomingMessage, route: string): void => {
  const holder = holderOf(request);
  if (holder !== undefined) holder[ROUTE] = route;
};

/**
 * The same for a framework: what {@link setRoute} has set stays. One that has it only later gives a function, which is asked at the end of the answer.
 */
export const offerRoute = (request: IncomingMessage, route: string | (() => string | undefined)): void => {
  const holder = holderOf(request);
  if (holder !== undefined) holder[ROUTE] ??= route;
};

/** What express calls the path of a route: a text, an expression, or a list of them. */
const pathText = (path: unknown): string | undefined => {
  if (typeof path === 'string') return path;
  if (Array.isArray(path)) return path.map((one) => pathText(one) ?? '').join(',');
  return path instanceof RegExp ? String(path) : undefined;
};

/** A route's path behind the prefix of the routers around it: `/orders` for `/` behind `/orders`. Undefined for what is not a path. */
export const expressRoute = (prefix: string | undefined, path: unknown): string | undefined => {
  const text = pathText(path);
  if (text === undefined || prefix === undefined || prefix === '') return text;
  return text === '/' ? prefix : `${prefix}${text}`;
};

type RouteReader = (request: RequestWithSpan, span: Span) => string | undefined;
// A list: to go through a set costs each request more than to ask. Shared: another copy may trace the servers.
const readers = state.routeReaders as RouteReader[];

/** Ask `reader` for the route of a request that no framework has named, at the end of its answer. */
export const onRoute = (reader: RouteReader): Off => {
  readers.push(reader);
  return () => {
    const at = readers.indexOf(reader);
    if (at >= 0) readers.splice(at, 1);
  };
};

const askLate = quiet((late: () => string | undefined) => late());

/** The template of the route of a request that `span` stands for, when a framework gives one. */
const routeOf = (request: RequestWithSpan, span: Span): string | undefined => {
  const known = request[ROUTE];
  if (known !== undefined) return typeof known === 'function' ? askLate(known) : known;
  for (let i = 0; i < readers.length; i++) {
    try {
      const route = readers[i](request, span);
      if (route !== undefined) return route;
    } catch {
      count(Counter.instrumentationErrors);
    }
  }
  return undefined;
};

/** What became of a request: its status, or none where nothing was sent, and whether its answer is whole. */
interface Answered {
  readonly status: number | undefined;
  readonly isWhole: boolean;
  readonly version: string;
}

/** What became of a request, for its metric and on `span`, which is its span. */
export const noteAnswer = (request: RequestWithSpan, span: Span, { status, isWhole, version }: Answered): void => {
  const measured = request[MEASURED];
  if (measured === undefined && !span.isRecording) return;
  const route = routeOf(request, span);
  const errorType = answerError(status, isWhole);
  measured?.metrics.serverEnded(measured, route, { status, errorType, version }, span);
  if (span.isRecording) addAnswer(span, route, status, isWhole);
};
