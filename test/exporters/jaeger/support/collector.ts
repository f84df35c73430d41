// A Jaeger collector as far as the wire goes: an HTTP server that keeps the bodies it gets and answers what it is told.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The status it was answered with. */
  readonly status: number;
}

export interface HttpCollector {
  readonly endpoint: string;
  readonly received: Received[];
  /** Answers of the next requests, first to last; 202 when empty. 0 closes the connection without an answer. */
  readonly answers: { status: number; headers?: Record<string, string>; body?: string }[];
  close(): Promise<void>;
}

export const startCollector = async (): Promise<HttpCollector> => {
  const received: Received[] = [];
  const answers: HttpCollector['answers'] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { status, headers, body } = answers.shift() ?? { status: 202, headers: undefined, body: undefined };
    const { method = '', url: path = '' } = request;
    received.push({ method, path, headers: request.headers, body: Buffer.concat(chunks), status });
    if (status === 0) request.socket.destroy();
    else response.writeHead(status, headers).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/traces`,
    received,
    answers,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
