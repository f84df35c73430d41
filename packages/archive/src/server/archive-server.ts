// The HTTP server of an archive. It must survive everything that comes in: the archive behind it belongs to others too.
import type { Server } from 'node:http';
import { sendJson } from './answer.js';
import { Guard } from './guard.js';
import { startHttpServer } from './http-server.js';
import { type IngestStats, ingestRoute } from './ingest.js';
import { BodyBudget } from './read-body.js';
import { healthRoute, queryRoute, RequestHandler, type RequestStats, type Route } from './request-handler.js';
import { type ArchiveServerOptions, type ResolvedServerOptions, resolveServerOptions } from './server-options.js';
import { v1Routes } from './v1-routes.js';
import { v3Routes } from './v3-routes.js';

/** Bodies held at a time, in the size of the largest. */
const BODIES_AT_A_TIME = 4;

/** What a server did. */
export interface ArchiveServerStats extends RequestStats {
  readonly otlp: Readonly<IngestStats>;
  /** Requests refused for now, because others' bodies took all the room. */
  readonly bodiesRefused: number;
  /** Queries that wait for others now, and those refused for now because they waited too long or too many did. */
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

/** What the servers of one process count and bound together: the port for queries tells what came by the one for OTLP. */
export class ServerCounts {
  readonly requests: RequestStats = { requests: 0, refused: 0, failed: 0, aborted: 0 };
  readonly otlp: IngestStats = { requests: 0, spans: 0, spansInvalid: 0, spansRefused: 0 };
  readonly acceptErrors: (() => number)[] = [];
  #budget: BodyBudget | undefined;

  /** The bound of all bodies, as the first server has it. */
  budget(maxBodyBytes: number): BodyBudget {
    this.#budget ??= new BodyBudget(maxBodyBytes * BODIES_AT_A_TIME);
    return this.#budget;
  }
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

/**
 * Serve an archive over HTTP: the query APIs of Jaeger (`/api/v3/...` and the older `/api/...`), which Jaeger's UI and Grafana read, and
 * OTLP/HTTP (`POST /v1/traces`), which any OpenTelemetry application sends to. Use it where traces shall be kept and looked at without
 * running a tracing backend. A success of OTLP means that the spans are on the disk. Without a token it listens to this machine only, and
 * refuses to start otherwise (`BadOptionsError`); `TransportError` when it cannot listen. Bodies, inflated sizes, times, connections,
 * queries and answers are bounded by the options. Source of the APIs: jaegertracing/jaeger-idl, api_v3; opentelemetry-proto.
 *
 * @example
 * ```ts
 * import { Archive, createArchiveServer } from '@spanline/archive';
 * const archive = await Archive.open('./traces');
 * const { url, close } = await createArchiveServer({ archive, port: 0 });
 * console.assert((await fetch(`${url}/api/v3/services`)).ok);
 * await close();
 * await archive.close();
 * ```
 */
export const createArchiveServer = (options: ArchiveServerOptions): Promise<ArchiveServer> =>
  startArchiveServer(options, []);

/** The same with further routes beside its own, which they go before: the page of `spanline ui`. Servers that are given the same `counts` count together. */
export const startArchiveServer = async (
  options: ArchiveServerOptions,
  further: readonly Route[],
  counts = new ServerCounts(),
): Promise<ArchiveServer> => {
  const resolved = resolveServerOptions(options);
  const { token, allowedHosts, corsOrigins, maxBodyBytes } = resolved;
  const { otlp } = counts;
  const budget = counts.budget(maxBodyBytes);
  const handler = new RequestHandler(
    [...further, ...routesOf(resolved, budget, otlp, () => stats())],
    new Guard(token, allowedHosts, corsOrigins),
    resolved,
    counts.requests,
  );
  const stats = (): ArchiveServerStats => ({
    ...handler.stats,
    otlp: { ...otlp },
    bodiesRefused: budget.refused,
    queriesWaiting: handler.queue.waiting,
    queriesRefused: handler.queue.refused,
    acceptErrors: counts.acceptErrors.reduce((sum, count) => sum + count(), 0),
  });
  const running = await startHttpServer(handler, resolved);
  counts.acceptErrors.push(running.acceptErrors);
  return { server: running.server, url: running.url, stats, close: running.close };
};
