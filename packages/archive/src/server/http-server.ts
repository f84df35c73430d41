// A bare HTTP server for routes: connections, their times and bounds, and an orderly end. It knows neither archives nor pages, and it must
// survive everything that comes in: what stands behind it belongs to others too.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { TransportError } from '@spanline/graph';
import { isLoopback, timers } from 'spanline/internal/base';
import { errorBody } from './answer.js';
import type { RequestHandler } from './request-handler.js';

const MAX_HEADER_BYTES = 16 * 1024;
/** Milliseconds a connection stays open for the next request. */
const KEEP_ALIVE_MS = 15_000;
/** Milliseconds a client has to read why it was sent away. */
const LINGER_MS = 500;
/** Milliseconds requests have to end when the server closes. */
const CLOSE_MS = 5000;

/** Where a server listens, and how long and how many at a time. */
interface HttpServerOptions {
  readonly host: string;
  readonly port: number;
  readonly token?: string;
  readonly requestTimeoutMs: number;
  readonly answerTimeoutMs: number;
  readonly maxConnections: number;
}

/** A server that listens. */
export interface RunningHttpServer {
  readonly server: Server;
  /** Where it listens, such as `http://127.0.0.1:16686`. */
  readonly url: string;
  /** Connections that could not be accepted, for want of file descriptors. */
  acceptErrors(): number;
  /** End what is being answered, within seconds, and stop. */
  close(): Promise<void>;
}

const STATUS_OF: Readonly<Record<string, number>> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

/** Answer what is not HTTP, or came too slowly, on the bare socket. */
const answerBadClient = (error: NodeJS.ErrnoException, socket: Duplex, isAnswering: boolean): void => {
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswering) {
    socket.destroy();
    return;
  }
  const status = STATUS_OF[error.code ?? ''] ?? 400;
  const body = errorBody('v3', status, status === 408 ? 'the request took too long' : 'no valid HTTP request');
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, 'connection: close', `content-type: ${body.contentType}`];
  // A client that reads nothing does not hang up either.
  timers.setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.end(`${head.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body.bytes)}\r\n\r\n${body.bytes}`);
};

const makeServer = ({ requestTimeoutMs, answerTimeoutMs, maxConnections }: HttpServerOptions): Server => {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    requestTimeout: requestTimeoutMs,
    headersTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.max(10, Math.min(1000, requestTimeoutMs >> 2)),
    keepAliveTimeout: KEEP_ALIVE_MS,
  });
  server.maxConnections = maxConnections;
  // A connection on which nothing moves: neither request nor answer may take so long.
  server.timeout = Math.min(requestTimeoutMs + answerTimeoutMs, 2 ** 31 - 1);
  return server;
};

const listen = async (server: Server, { host, port }: HttpServerOptions): Promise<AddressInfo> => {
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const why = code === 'EADDRINUSE' ? 'another program listens there; choose another port' : message;
    throw new TransportError(`cannot listen on ${host}:${port}: ${why}`, { cause });
  }
  return server.address() as AddressInfo;
};

const closeServer = async (server: Server): Promise<void> => {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const timer = timers.setTimeout(() => server.closeAllConnections(), CLOSE_MS);
  await closed;
  timers.clearTimeout(timer);
};

/** Listen, and hand each request to the handler. `TransportError` when it cannot listen, or without a token listens to others than this machine. */
export const startHttpServer = async (
  handler: RequestHandler,
  options: HttpServerOptions,
): Promise<RunningHttpServer> => {
  const { host, token } = options;
  let acceptErrors = 0;
  const server = makeServer(options);
  const answering = new WeakMap<Duplex, ServerResponse>();
  let closing: Promise<void> | undefined;
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    answering.set(request.socket, response);
    if (closing !== undefined) response.setHeader('connection', 'close');
    void handler.handle(request, response);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const response = answering.get(socket);
    answerBadClient(error, socket, response?.headersSent === true && !response.writableFinished);
  });
  const { address, port, family } = await listen(server, options);
  server.on('error', () => {
    acceptErrors++;
  });
  if (token === undefined && !isLoopback(address)) {
    // A name may point anywhere.
    server.close();
    throw new TransportError(`${host} is ${address}, which is not of this machine alone: set a token`);
  }
  return {
    server,
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    acceptErrors: () => acceptErrors,
    close() {
      if (closing === undefined) {
        closing = closeServer(server);
        handler.endEndless();
      }
      return closing;
    },
  };
};
