// Requests that `http` and `https` servers answer: a root span each, and a part of their metrics, by Node's own channels. A span ends once, whatever
// becomes of the request: answered, given up by the client, or cut off with its connection.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isOwnServer } from '../../base/own-agents.js';
import { queueStore } from '../../local-span/local-span.js';
import { Span } from '../../span/span.js';
import { allOff, callHook, callPredicate, InFlight, type Off, onMessage, quiet } from '../channel.js';
import { measures } from '../measures.js';
import { IGNORED } from '../other-context.js';
import { carriedBy, extractFrom, type Propagator } from '../propagator.js';
import { scopeOf } from '../scope.js';
import { answerUnder, useMessages } from './message-context.js';
import type { HttpServerOptions } from './options.js';
import { addHeader, type ReceivingSocket, requestProperties, schemeOf, wantedHeaders } from './request-properties.js';
import { MEASURED, noteAnswer, type RequestWithSpan, SPAN } from './request-span.js';
import { knownMethod, nameOf } from './url.js';

interface Message {
  readonly request: RequestWithSpan;
  readonly response: ServerResponse;
  readonly socket: Socket;
  readonly server: object;
}

/** Answers in flight on a connection: one at most, null between two, but for clients that pipeline. A set of one would be filled anew for each. */
const OPEN = Symbol('spanline.open-requests');
/** What ends them when it closes. */
const AT_CLOSE = Symbol('spanline.at-close');
interface TracedSocket extends Socket {
  [OPEN]?: ServerResponse | Set<ServerResponse> | null;
  [AT_CLOSE]?: () => void;
}

const addOpen = (socket: TracedSocket, response: ServerResponse): void => {
  const open = socket[OPEN];
  if (open instanceof Set) open.add(response);
  else socket[OPEN] = open ? new Set([open, response]) : response;
};

const removeOpen = (socket: TracedSocket, response: ServerResponse): void => {
  const open = socket[OPEN];
  if (open === response) socket[OPEN] = null;
  else if (open instanceof Set) open.delete(response);
};

const ANSWER = { kind: 'server', scope: scopeOf('http') } as const;

/** Traces requests until it is taken back. */
export const traceServers = (options: HttpServerOptions, propagator: Propagator): Off => {
  const { ignore, enrich } = options;
  const wantedOfRequest = wantedHeaders('request', options.requestHeaders);
  const wantedOfResponse = wantedHeaders('response', options.responseHeaders);

  const inFlight = new InFlight();
  const messages = useMessages();

  const end = (response: ServerResponse, socket: TracedSocket, isWhole: boolean): void => {
    const request = response.req as RequestWithSpan;
    const span = request[SPAN];
    if (span === undefined || !inFlight.has(request)) return;
    request[SPAN] = undefined;
    removeOpen(socket, response);
    const status = response.headersSent ? response.statusCode : undefined;
    noteAnswer(request, span, { status, isWhole, version: request.httpVersion });
    if (span.isRecording) {
      for (const [name, key] of wantedOfResponse) addHeader(span, key, response.getHeader(name));
      callHook(enrich, span, request, response);
    }
    span.endForGood();
    inFlight.ended(request);
  };

  const endAll = quiet(function (this: TracedSocket): void {
    const open = this[OPEN];
    for (const response of open instanceof Set ? open : open ? [open] : []) end(response, this, false);
  });

  const begin = (message: Message): void => {
    const { request } = message;
    const socket = message.socket as TracedSocket;
    const metrics = measures();
    messages.begin();
    if ((metrics !== undefined && isOwnServer(message.server)) || callPredicate(ignore, request)) {
      queueStore.enter(IGNORED);
      answerUnder(IGNORED, request, message.response);
      return;
    }
    const span = Span.root(nameOf(request.method ?? ''), extractFrom(propagator, request.headers), ANSWER);
    if (span !== Span.noop()) {
      const queue = span.enterForGood(carriedBy(propagator, request.headers));
      answerUnder(queue, request, message.response);
    } else if (metrics === undefined) return;
    if (metrics !== undefined) {
      const { method = '', headers } = request;
      request[MEASURED] = metrics.serverBegan(knownMethod(method), schemeOf(headers, socket as ReceivingSocket));
    }
    request[SPAN] = span;
    inFlight.begun(request);
    if (span.isRecording) {
      span.describe(requestProperties(request, socket));
      for (const [name, key] of wantedOfRequest) addHeader(span, key, request.headers[name]);
    }
    if (socket[AT_CLOSE] !== endAll) {
      socket.on('close', endAll);
      socket[AT_CLOSE] = endAll;
    }
    addOpen(socket, message.response);
  };

  const stopBeginning = onMessage<Message>('http.server.request.start', begin);
  const stopEnding = allOff([
    messages.off,
    onMessage<Message>('http.server.response.finish', ({ response, socket }) => end(response, socket, true)),
  ]);
  return inFlight.off(stopBeginning, stopEnding);
};
