// Requests that `http` and `https` servers answer: a root span each, by Node's own channels. A span ends once, whatever becomes of the request:
// answered, given up by the client, or cut off with its connection.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { lineStore } from '../../local-span/line-store.js';
import { Span } from '../../span/span.js';
import { type Off, onMessage, quiet } from '../channel.js';
import { isTold, tell } from '../hooks.js';
import { IGNORED } from '../ignored.js';
import { emitUnder } from '../in-context.js';
import type { Propagator } from '../propagator.js';
import { scopeOf } from '../scope.js';
import { UnderWay } from '../under-way.js';
import { addHeaders, wantedHeaders } from './headers.js';
import type { HttpServerOptions } from './options.js';
import { addAnswer, requestProperties } from './request-properties.js';
import { type RequestWithSpan, routeOf, SPAN } from './request-span.js';
import { nameOf } from './url.js';

interface Message {
  readonly request: RequestWithSpan;
  readonly response: ServerResponse;
  readonly socket: Socket;
}

/** Answers under way on a connection: one, but for clients that pipeline. */
const OPEN = Symbol('spanline.open-requests');
interface TracedSocket extends Socket {
  [OPEN]?: Set<ServerResponse>;
}

const ANSWER = { kind: 'server', scope: scopeOf('http') } as const;

// From Node 24 on, `data` and `end` of a body come in the context of the connection.
const hasBody = ({ headers }: IncomingMessage): boolean => {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  return encoding !== undefined || (length !== undefined && length !== '0');
};

/** Traces requests until it is taken back. */
export const traceServers = (options: HttpServerOptions, propagator: Propagator): Off => {
  const { ignore, enrich } = options;
  const wantedOfRequest = wantedHeaders('request', options.requestHeaders);
  const wantedOfResponse = wantedHeaders('response', options.responseHeaders);

  const underWay = new UnderWay();

  const end = (response: ServerResponse, socket: TracedSocket, isWhole: boolean): void => {
    const request = response.req as RequestWithSpan;
    const span = request[SPAN];
    if (span === undefined) return;
    request[SPAN] = undefined;
    socket[OPEN]?.delete(response);
    if (span.isRecording) {
      addAnswer(span, routeOf(request), response.headersSent ? response.statusCode : undefined, isWhole);
      addHeaders(
        wantedOfResponse,
        (name) => response.getHeader(name),
        (key, value) => span.addProperty(key, value),
      );
      tell(enrich, span, request, response);
    }
    span.end();
    underWay.ended();
  };

  const endAll = quiet(function (this: TracedSocket): void {
    for (const response of this[OPEN] ?? []) end(response, this, false);
  });

  const begin = (message: Message): void => {
    const { request } = message;
    const socket = message.socket as TracedSocket;
    if (isTold(ignore, request)) {
      lineStore.enter(IGNORED);
      if (hasBody(request)) emitUnder(IGNORED, request);
      return;
    }
    const span = Span.root(nameOf(request.method ?? ''), propagator.extract(request.headers), ANSWER);
    if (span === Span.noop()) return;
    const line = span.enterForGood(propagator.carried?.(request.headers));
    if (hasBody(request)) emitUnder(line, request);
    request[SPAN] = span;
    underWay.begun();
    if (span.isRecording) {
      span.describe(requestProperties(request, socket));
      addHeaders(
        wantedOfRequest,
        (name) => request.headers[name],
        (key, value) => span.addProperty(key, value),
      );
    }
    if (socket[OPEN] === undefined) {
      socket[OPEN] = new Set();
      socket.on('close', endAll);
    }
    socket[OPEN].add(message.response);
  };

  const stopBeginning = onMessage<Message>('http.server.request.start', begin);
  const stopEnding = onMessage<Message>('http.server.response.finish', ({ response, socket }) =>
    end(response, socket, true),
  );
  return underWay.off(stopBeginning, stopEnding);
};
