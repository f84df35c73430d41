// The query service: HTTP in, JSON out. Every request is a trace that goes on from the caller's `traceparent`, and the CPU time of its
// work is that of its query in a profile.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Span, SpanContext } from 'spanline';
import { DynamicLabel } from 'spanline/profile';
import type { Benchmarks } from './benchmarks.js';
import { QUERIES, type Query } from './queries.js';

const respond = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

/** The query's work, from its parameters to the text of the answer, under the label that profiles know it by. */
const answer = async (query: Query, benchmarks: Benchmarks, url: URL, response: ServerResponse): Promise<void> => {
  using label = new DynamicLabel({ query: url.pathname.slice(1), 'url.query': url.search });
  await label.run(async () => respond(response, 200, await query(benchmarks, url.searchParams)));
};

const handle = async (benchmarks: Benchmarks, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const query = QUERIES[url.pathname.slice(1)];
  const { traceparent, tracestate } = request.headers;
  const root = Span.root(`GET ${url.pathname}`, SpanContext.fromTraceparent(traceparent, tracestate), {
    kind: 'server',
    properties: () => ({ 'url.query': url.search, 'http.request.method': request.method ?? '' }),
  });
  try {
    if (query === undefined) respond(response, 404, { error: `no query "${url.pathname}"` });
    else await root.run(() => answer(query, benchmarks, url, response));
    root.addProperty('http.response.status_code', response.statusCode);
  } catch (error) {
    root.recordException(error).setStatus('error', String(error));
    respond(response, 400, { error: String(error) });
  } finally {
    root.end();
  }
};

/** Start on a free port of the loopback. */
export const startService = async (benchmarks: Benchmarks): Promise<{ server: Server; port: number }> => {
  const server = createServer((request, response) => void handle(benchmarks, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, port: (server.address() as AddressInfo).port };
};
