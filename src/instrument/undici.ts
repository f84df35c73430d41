// Requests of undici and of the global `fetch`, by undici's channels: a span for each request, redirects too, and a part of their metric. Only the first
// message comes in the caller's context, and what comes of a request is handed to it in that context, traced or not. Node's own undici and the one from
// npm publish the same.
import type { TLSSocket } from 'node:tls';
import type { SpanQueue } from '../local-span/local-span.js';
import type { Span } from '../span/span.js';
import { allOff, callHook, callPredicate, InFlight, type Off, onMessage, quiet } from './channel.js';
import { type CallOptions, startCall } from './client-span.js';
import { fieldOf } from './failure.js';
import { addFailure, addHeader, addStatus, wantedHeaders } from './http/request-properties.js';
import { addressOf, knownMethod, nameOf, type Sent } from './http/url.js';
import { callerHere, callerKept, runningIn } from './in-context.js';
import { type MeasuredRequest, measureAnswer, measureRequest } from './measures.js';
import { addPeer } from './peer.js';
import { injectSpan, type Propagator } from './propagator.js';
import { type Method, type Prototype, prototypeOf, replaceMethod, SeenClasses } from './replace-method.js';
import { scopeOf } from './scope.js';

/** A request as undici shows it. */
export interface UndiciRequest {
  readonly origin?: string | URL;
  readonly path: string;
  readonly method: string;
  /** `name: value` lines, or names and values by turns. */
  readonly headers?: string | readonly (string | readonly string[])[];
  addHeader(name: string, value: string): void;
}

/** The head of an answer as undici shows it. */
export interface UndiciResponse {
  readonly statusCode: number;
  /** Names and values by turns. */
  readonly headers: readonly (Buffer | string)[];
}

/** Options of the instrumentation `undici`, which is that of `fetch` too. */
export interface UndiciOptions extends CallOptions<UndiciRequest, [response: UndiciResponse | undefined]> {
  /** True: this call is not traced, and no context goes out with it. */
  readonly ignore?: (request: UndiciRequest) => boolean;
  readonly responseHeaders?: readonly string[];
}

const CALL = { kind: 'client', scope: scopeOf('undici') } as const;
const SPAN = Symbol('spanline.span');
const RESPONSE = Symbol('spanline.response');
const SENT = Symbol('spanline.sent');
const MEASURED = Symbol('spanline.measured');
/** Null for a caller outside any span. */
const CALLER = Symbol('spanline.caller');
/** What undici calls with the connection: of HTTP/1.1, of HTTP/2, and from undici 8 on. */
const HANDOVERS = ['onUpgrade', 'onUpgradeResponse', 'onRequestUpgrade'] as const;
type Handovers = {
  [K in (typeof HANDOVERS)[number]]?: (statusCode: number, headers: unknown, ...rest: unknown[]) => unknown;
};

interface TracedRequest extends UndiciRequest, Handovers {
  readonly body?: unknown;
  /** The protocol that is asked for. */
  readonly upgrade?: unknown;
  [CALLER]?: SpanQueue | null;
  [SPAN]?: Span | undefined;
  [MEASURED]?: MeasuredRequest | undefined;
  [RESPONSE]?: UndiciResponse;
  /** Its body is out. */
  [SENT]?: true;
}

const sentTo = ({ origin, path }: UndiciRequest): Sent => {
  const address = String(origin ?? '');
  const end = address.indexOf('//');
  const slash = address.indexOf('/', end + 2);
  return [address.slice(0, end), slash < 0 ? address.slice(end + 2) : address.slice(end + 2, slash), path];
};

const headerOf = ({ headers }: UndiciResponse, name: string): string | undefined => {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i].toString().toLowerCase() === name) return headers[i + 1].toString();
  }
  return undefined;
};

const removeHeader = (request: UndiciRequest, name: string): void => {
  const { headers } = request;
  if (Array.isArray(headers)) {
    for (let i = headers.length - 2; i >= 0; i -= 2) {
      const given = String(headers[i]);
      if (given.length === name.length && given.toLowerCase() === name) headers.splice(i, 2);
    }
  } else if (typeof headers === 'string') {
    const lines = headers.split('\r\n').filter((line) => !line.toLowerCase().startsWith(`${name}:`));
    (request as { headers?: string }).headers = lines.join('\r\n');
  }
};

/** In place of what the program gave, which may be what it was sent itself: undici alone would add a second header. */
const setHeader = (request: UndiciRequest, name: string, value: string): void => {
  removeHeader(request, name.toLowerCase());
  request.addHeader(name, value);
};

/**
 * Whether `error` is the reason for which the program gave the request up: any value will do. What fails on the way has a code; what a body throws
 * that is still being sent may look the same.
 */
const isReason = ({ body, [SENT]: isSent }: TracedRequest, error: unknown): boolean => {
  if (typeof error !== 'object' || error === null) return true;
  const isOfUndici = typeof fieldOf(error, 'code') === 'string' || fieldOf(error, 'name') === 'TimeoutError';
  return !isOfUndici && (isSent === true || (body ?? null) === null);
};

// `onData`, `onResponseData` and so on, as the versions name them: by these a connection hands a request what is for it.
const HANDS_ON = /^on[A-Z]/;

const handingOn = (method: Method): Method =>
  runningIn(method, (request, here) => callerKept((request as TracedRequest)[CALLER], here));

const watchRequests = (prototype: Prototype): Off => {
  const names = Object.getOwnPropertyNames(prototype).filter((name) => HANDS_ON.test(name));
  return allOff(names.map((name) => replaceMethod(prototype, name, handingOn)));
};

export const instrumentUndici = (options: UndiciOptions, propagator: Propagator): Off => {
  const { ignore, enrich, requireParent = false } = options;
  const wanted = wantedHeaders('response', options.responseHeaders);
  const inFlight = new InFlight();
  // In each copy of undici, whose requests are not public.
  const requests = new SeenClasses();

  /** Whether it is traced or measured here, and not over. */
  const isFollowed = (request: TracedRequest): boolean => inFlight.has(request);

  const begin = (request: TracedRequest): void => {
    requests.patch(prototypeOf(request), watchRequests);
    request[CALLER] = callerHere() ?? null;
    if (callPredicate(ignore, request)) return;
    const measured = measureRequest();
    if (measured !== undefined) request[MEASURED] = measured;
    const span = startCall(nameOf(request.method), CALL, requireParent);
    if (span?.isRecording === true) request[SPAN] = span;
    if (measured !== undefined || request[SPAN] !== undefined) inFlight.begun(request);
    if (span !== undefined) {
      injectSpan(
        propagator,
        span,
        (name, value) => setHeader(request, name, value),
        (name) => removeHeader(request, name),
      );
    }
    if (!isFollowed(request)) return;
    request[SPAN]?.describe(['http.request.method', knownMethod(request.method), ...addressOf(sentTo(request))]);
    if ((request.upgrade ?? null) !== null || request.method === 'CONNECT') endAtHandover(request);
  };

  const handedOver = quiet((request: TracedRequest, statusCode: number, headers: unknown) => {
    answered(request, { statusCode, headers: Array.isArray(headers) ? headers : [] });
    end(request);
  });

  /** A request whose connection becomes the program's has no body to end with, and older versions publish nothing of it. */
  const endAtHandover = (request: TracedRequest): void => {
    for (const name of HANDOVERS) {
      const original = request[name];
      if (typeof original !== 'function') continue;
      request[name] = function (this: unknown, statusCode, headers, ...rest) {
        handedOver(request, statusCode, headers);
        return Reflect.apply(original, this, [statusCode, headers, ...rest]);
      };
    }
  };

  const answered = (request: TracedRequest, response: UndiciResponse): void => {
    const span = request[SPAN];
    if (!isFollowed(request)) return;
    request[RESPONSE] = response;
    if (span === undefined) return;
    addStatus(span, response.statusCode);
    for (const [name, key] of wanted) addHeader(span, key, headerOf(response, name));
  };

  const sent = (request: TracedRequest, socket: TLSSocket): void => {
    if (!isFollowed(request)) return;
    // Of what undici offers a server, that alone is not HTTP/1.1.
    const version = socket.alpnProtocol === 'h2' ? '2' : '1.1';
    const { [SPAN]: span, [MEASURED]: measured } = request;
    if (measured !== undefined) measured.version = version;
    if (span === undefined) return;
    span.addProperty('network.protocol.version', version);
    addPeer(span, socket);
  };

  const end = (request: TracedRequest, error?: unknown): void => {
    if (!isFollowed(request)) return;
    const { [SPAN]: span, [MEASURED]: measured } = request;
    request[SPAN] = undefined;
    request[MEASURED] = undefined;
    const failure = error !== undefined && isReason(request, error) ? undefined : error;
    if (measured !== undefined) {
      const outcome = { status: request[RESPONSE]?.statusCode, failure, version: measured.version };
      measureAnswer(measured, request.method, sentTo(request), outcome, span);
    }
    if (span !== undefined) {
      if (failure !== undefined) addFailure(span, failure);
      callHook(enrich, span, request, request[RESPONSE]);
      span.endForGood();
    }
    inFlight.ended(request);
  };

  const stopBeginning = onMessage<{ request: TracedRequest }>('undici:request:create', ({ request }) => begin(request));
  const stopEnding = allOff([
    requests.off,
    onMessage<{ request: TracedRequest; socket: TLSSocket }>('undici:client:sendHeaders', ({ request, socket }) =>
      sent(request, socket),
    ),
    onMessage<{ request: TracedRequest }>('undici:request:bodySent', ({ request }) => {
      if (isFollowed(request)) request[SENT] = true;
    }),
    onMessage<{ request: TracedRequest; response: UndiciResponse }>('undici:request:headers', ({ request, response }) =>
      answered(request, response),
    ),
    onMessage<{ request: TracedRequest }>('undici:request:trailers', ({ request }) => end(request)),
    onMessage<{ request: TracedRequest; error: unknown }>('undici:request:error', ({ request, error }) =>
      end(request, error),
    ),
  ]);
  return inFlight.off(stopBeginning, stopEnding);
};
