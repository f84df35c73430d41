// Requests that the program sends with `http` and `https`: a span each, from the call to the end of the answer, a part of their metric, and the context
// in its headers. Where Node has no channel at the moment when headers can still be added (before Node 22.12), the functions that make requests are wrapped.
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { isOwnAgent } from '../../base/own-agents.js';
import type { PropertyValue } from '../../rows/property.js';
import type { Span } from '../../span/span.js';
import { allOff, callHook, callPredicate, InFlight, type Off, onMessage, quiet } from '../channel.js';
import { startCall } from '../client-span.js';
import { fieldOf } from '../failure.js';
import { callerHere } from '../in-context.js';
import { type MeasuredRequest, measureAnswer, measureRequest } from '../measures.js';
import { addPeer } from '../peer.js';
import { injectSpan, type Propagator } from '../propagator.js';
import { scopeOf } from '../scope.js';
import { hasCreatedChannel, wrapRequests } from './created.js';
import { askFor, useMessages } from './message-context.js';
import type { HttpClientOptions } from './options.js';
import { addFailure, addHeader, addStatus, CUT_OFF, wantedHeaders } from './request-properties.js';
import { addressOf, knownMethod, nameOf, type Sent } from './url.js';

const CALL = { kind: 'client', scope: scopeOf('http') } as const;
const SPAN = Symbol('spanline.span');
const PORT = Symbol('spanline.port');
const MEASURED = Symbol('spanline.measured');
const TIMES_OUT = Symbol('spanline.times-out');
interface TracedRequest extends ClientRequest {
  [SPAN]?: Span | undefined;
  [MEASURED]?: MeasuredRequest | undefined;
  /** Where it cannot be seen from the request. */
  [PORT]?: number | undefined;
  /** Its time was up. */
  [TIMES_OUT]?: boolean;
  readonly agent?: unknown;
  readonly protocol: string;
  /** The answer, once its head is here. */
  readonly res: IncomingMessage | null;
}

const SWITCHING_PROTOCOLS = 101;
const TIMED_OUT = { code: 'TimeoutError', message: 'given up when its time was up' };

const isNamed = (request: TracedRequest): boolean =>
  typeof request.getHeader('host') === 'string' || !request.path.startsWith('/');

/** `port` where the request does not say it: its own `Host` header is missing, or was given in a list. */
const sentTo = (request: TracedRequest, port?: unknown): Sent => {
  const { path, protocol, host } = request;
  const header = request.getHeader('host');
  const bare = host.includes(':') ? `[${host}]` : host;
  const isUsual = port === undefined || port === (protocol === 'https:' ? 443 : 80);
  const authority = typeof header === 'string' ? header : isUsual ? bare : `${bare}:${String(port)}`;
  return [protocol, authority, path];
};

/** The port of its connection, or of the one that it did not get. */
const portUsed = (request: TracedRequest, error: unknown): unknown => request[PORT] ?? fieldOf(error, 'port');

/** While the connection is there: afterwards it does not say. */
const keepPort = quiet(function (this: TracedRequest, socket: Socket): void {
  const keep = (): void => {
    this[PORT] = socket.remotePort;
  };
  if (socket.connecting) socket.once('connect', keep);
  else keep();
});

const timesOut = quiet(function (this: TracedRequest): void {
  this[TIMES_OUT] = true;
});

/**
 * What a request failed by that has no answer. Where the program destroys it without an error of its own, it fails as if the server had hung up, but its
 * connection has neither ended nor failed: it is given up, or its time is up, as 'timeout' said before.
 */
const reasonBefore = (request: TracedRequest, error: unknown): unknown => {
  const { socket } = request;
  const isHungUp = socket ? socket.readableEnded || socket.errored !== null : false;
  if (fieldOf(error, 'code') !== 'ECONNRESET' || !request.destroyed || isHungUp) return error;
  return request[TIMES_OUT] ? TIMED_OUT : undefined;
};

/** Traces calls until it is taken back. */
export const traceCalls = (options: HttpClientOptions, propagator: Propagator): Off => {
  const { ignore, enrich, requireParent = false } = options;
  const wantedOfRequest = wantedHeaders('request', options.requestHeaders);
  const wantedOfResponse = wantedHeaders('response', options.responseHeaders);
  const messages = useMessages();
  const inFlight = new InFlight();

  const begin = (request: TracedRequest): void => {
    if (request[SPAN] !== undefined || request[MEASURED] !== undefined || isOwnAgent(request.agent)) return;
    messages.begin();
    askFor(callerHere(), request);
    if (callPredicate(ignore, request)) return;
    const measured = measureRequest();
    if (measured !== undefined) {
      request[MEASURED] = measured;
      follow(request);
    }
    const span = startCall(nameOf(request.method), CALL, requireParent);
    if (span === undefined) return;
    if (span.isRecording) {
      request[SPAN] = span;
      if (measured === undefined) follow(request);
    }
    // Headers given as a list are on their way already, and so are those of a request that waits for 100-continue.
    if (!request.headersSent) {
      injectSpan(
        propagator,
        span,
        (name, value) => request.setHeader(name, value),
        (name) => request.removeHeader(name),
      );
    }
    if (!span.isRecording) return;
    const properties = ['http.request.method', knownMethod(request.method)] as (string | PropertyValue)[];
    if (isNamed(request)) properties.push(...addressOf(sentTo(request)));
    span.describe(properties);
    for (const [name, key] of wantedOfRequest) addHeader(span, key, request.getHeader(name));
  };

  const follow = (request: TracedRequest): void => {
    inFlight.begun(request);
    request.once('close', closed).once('timeout', timesOut);
    if (!isNamed(request)) request.once('socket', keepPort);
  };

  const end = (request: TracedRequest, error: unknown): void => {
    if (!inFlight.has(request)) return;
    inFlight.ended(request);
    const measured = request[MEASURED];
    if (measured !== undefined) {
      request[MEASURED] = undefined;
      const sent = sentTo(request, isNamed(request) ? undefined : portUsed(request, error));
      const { statusCode: status, httpVersion: version } = request.res ?? {};
      measureAnswer(measured, request.method, sent, { status, failure: error, version }, request[SPAN]);
    }
    const span = request[SPAN];
    if (span === undefined) return;
    request[SPAN] = undefined;
    const response = request.res ?? undefined;
    if (!isNamed(request)) {
      const address = addressOf(sentTo(request, portUsed(request, error)));
      for (let i = 0; i < address.length; i += 2) span.addProperty(address[i] as string, address[i + 1]);
    }
    if (response !== undefined) describe(span, request, response);
    if (error !== undefined) addFailure(span, error);
    callHook(enrich, span, request, response);
    span.endForGood();
  };

  /** An answer that did not come whole: cut off by its server, unless the program had enough of it. */
  const cutOff = ({ aborted, socket }: TracedRequest, { errored }: IncomingMessage): unknown => {
    const isLeft = errored === null || aborted || (socket?.readableEnded === false && socket.errored === null);
    return isLeft ? undefined : errored;
  };

  // The head of the answer comes before its body, which may be cut off without an error anywhere: the request is over when it closes.
  const closed = quiet(function (this: TracedRequest): void {
    const { res, method } = this;
    const isWhole = res !== null && (res.complete || method === 'HEAD' || res.statusCode === SWITCHING_PROTOCOLS);
    end(this, isWhole ? undefined : res === null ? CUT_OFF : cutOff(this, res));
  });

  const describe = (span: Span, { socket }: TracedRequest, response: IncomingMessage): void => {
    const { statusCode = 0, httpVersion } = response;
    addStatus(span, statusCode);
    span.addProperty('network.protocol.version', httpVersion);
    addPeer(span, socket ?? {});
    for (const [name, key] of wantedOfResponse) addHeader(span, key, response.headers[name]);
  };

  const stopBeginning = allOff([
    messages.off,
    hasCreatedChannel()
      ? onMessage<{ request: TracedRequest }>('http.client.request.created', ({ request }) => begin(request))
      : wrapRequests((request) => begin(request as TracedRequest)),
  ]);
  const stopEnding = onMessage<{ request: TracedRequest; error: unknown }>(
    'http.client.request.error',
    ({ request, error }) => end(request, request.res === null ? reasonBefore(request, error) : error),
  );
  return inFlight.off(stopBeginning, stopEnding);
};
