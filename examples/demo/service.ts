// The query service: HTTP in, JSON out. It is traced from outside, by `node --import spanline/register`: what it adds is the route, which no
// framework names for it, and a label, by which the CPU time of its work is that of its query in a profile.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DynamicLabel } from '@spanline/profile';
import { setRoute } from 'spanline/instrument';
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
  if (query === undefined) {
    respond(response, 404, { error: `no query "${url.pathname}"` });
    return;
  }
  setRoute(request, url.pathname);
  try {
    await answer(query, benchmarks, url, response);
  } catch (error) {
    respond(response, 400, { error: String(error) });
  }
};

/** Start on a free port of the loopback. */
export const startService = async (benchmarks: Benchmarks): Promise<{ server: Server; port: number }> => {
  const server = createServer((request, response) => void handle(benchmarks, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, port: (server.address() as AddressInfo).port };
};
