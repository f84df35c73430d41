// The HTTP server of an archive. It must survive everything that comes in: the archive behind it belongs to others too.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { TransportError } from '../../container/graph-error.js';
import { sendJson } from './answer.js';
import { BodyBudget } from './body-budget.js';
import { errorBody } from './errors.js';
import { Guard, isLoopback } from './guard.js';
import { type IngestStats, ingestRoute } from './ingest.js';
import { healthRoute, RequestHandler, type RequestStats } from './request-handler.js';
import { queryRoute, type Route } from './route.js';
import { type ArchiveServerOptions, type ResolvedServerOptions, resolveServerOptions } from './server-options.js';
import { v1Routes } from './v1-routes.js';
import { v3Routes } from './v3-routes.js';

/** Bodies held at a time, in the size of the largest. */
const BODIES_AT_A_TIME = 4;
const MAX_HEADER_BYTES = 16 * 1024;
/** Milliseconds a connection stays open for the next request. */
const KEEP_ALIVE_MS = 15_000;
/** Milliseconds a client has to read why it was sent away. */
const LINGER_MS = 500;
/** Milliseconds requests have to end when the server closes. */
const CLOSE_MS = 5000;

/** What a server did. */
export interface ArchiveServerStats extends RequestStats {
  readonly otlp: Readonly<IngestStats>;
  /** Requests told to come again, because others' bodies took all the room. */
  readonly bodiesRefused: number;
  /** Queries that wait for others now, and those told to come again because they waited too long or too many did. */
  readonly queriesWaiting: number;
  readonly queriesRefused: number;
  /** Connections that could not be accepted, for want of file descriptors. */
  readonly acceptErrors: number;
}

/** A running server. */
export interface ArchiveServer {
  readonly server: Server;
  /** Where it listens, such as `http://127.0.0.1:16686`. */
  readonly url: string;
  stats(): ArchiveServerStats;
  /** End what is being answered, within seconds, and stop. The archive stays open. */
  close(): Promise<void>;
}

const routesOf = (
  options: ResolvedServerOptions,
  budget: BodyBudget,
  otlp: IngestStats,
  stats: () => ArchiveServerStats,
): Route[] => {
  const { archive, endpoints, maxTraces, maxBodyBytes } = options;
  return [
    healthRoute,
    // What the server and the archive did, for people and monitoring.
    queryRoute('/stats', async ({ response }) =>
      sendJson(response, 200, { server: stats(), archive: await archive.stats?.() }),
    ),
    ...(endpoints === 'ingest' ? [] : [...v3Routes(archive, maxTraces), ...v1Routes(archive, maxTraces)]),
    ...(endpoints === 'query' ? [] : [ingestRoute(archive, maxBodyBytes, budget, otlp)]),
  ];
};

const STATUS_OF: Readonly<Record<string, number>> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

/** Answer what is no HTTP, or came too slowly, on the bare socket. */
const answerBadClient = (error: NodeJS.ErrnoException, socket: Duplex, isAnswering: boolean): void => {
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswering) {
    socket.destroy();
    return;
  }
  const status = STATUS_OF[error.code ?? ''] ?? 400;
  const body = errorBody('v3', status, status === 408 ? 'the request took too long' : 'no valid HTTP request');
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, 'connection: close', `content-type: ${body.contentType}`];
  // A client that reads nothing does not hang up either.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.end(`${head.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body.bytes)}\r\n\r\n${body.bytes}`);
};

const makeServer = ({ requestTimeoutMs, answerTimeoutMs, maxConnections }: ResolvedServerOptions): Server => {
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

const listen = async (server: Server, { host, port }: ResolvedServerOptions): Promise<AddressInfo> => {
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
  const timer = setTimeout(() => server.closeAllConnections(), CLOSE_MS);
  await closed;
  clearTimeout(timer);
};

/**
 * Serve an archive over HTTP: the query APIs of Jaeger (`/api/v3/...` and the older `/api/...`), which Jaeger's UI and Grafana read, and
 * OTLP/HTTP (`POST /v1/traces`), which any OpenTelemetry application sends to. Use it where traces shall be kept and looked at without
 * running a tracing backend. A success of OTLP means that the spans are on the disk. Without a token it listens to this machine only, and
 * refuses to start otherwise (`BadOptionsError`); `TransportError` when it cannot listen. Bodies, inflated sizes, times, connections,
 * queries and answers are bounded by the options. Source of the APIs: jaegertracing/jaeger-idl, api_v3; opentelemetry-proto.
 *
 * @example
 * ```ts
 * import { Archive, createArchiveServer } from 'spanline/archive';
 * const archive = await Archive.open('./traces');
 * const { url, close } = await createArchiveServer({ archive, port: 0 });
 * console.assert((await fetch(`${url}/api/v3/services`)).ok);
 * await close();
 * await archive.close();
 * ```
 */
export const createArchiveServer = async (options: ArchiveServerOptions): Promise<ArchiveServer> => {
  const resolved = resolveServerOptions(options);
  const { token, allowedHosts, corsOrigins, maxBodyBytes, host } = resolved;
  const otlp: IngestStats = { requests: 0, spans: 0, spansInvalid: 0, spansRefused: 0 };
  const budget = new BodyBudget(maxBodyBytes * BODIES_AT_A_TIME);
  const handler = new RequestHandler(
    routesOf(resolved, budget, otlp, () => stats()),
    new Guard(token, allowedHosts, corsOrigins),
    resolved,
  );
  let acceptErrors = 0;
  const stats = (): ArchiveServerStats => ({
    ...handler.stats,
    otlp: { ...otlp },
    bodiesRefused: budget.refused,
    queriesWaiting: handler.queue.waiting,
    queriesRefused: handler.queue.refused,
    acceptErrors,
  });
  const server = makeServer(resolved);
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
  const { address, port, family } = await listen(server, resolved);
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
    stats,
    close() {
      closing ??= closeServer(server);
      return closing;
    },
  };
};
