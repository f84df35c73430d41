// A real HTTP server on this host that keeps what it gets and answers what the test says.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The client's port: the same for requests over one connection. */
  readonly clientPort: number;
}

/** Answers one request; `n` counts from 1. */
export type Answer = (response: ServerResponse, request: ReceivedRequest, n: number) => void;

export interface TestServer {
  readonly url: string;
  readonly requests: ReceivedRequest[];
  answer: Answer;
  close(): Promise<void>;
}

const ok: Answer = (response) => response.end();

const receive = async (message: IncomingMessage): Promise<ReceivedRequest> => {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const { method = '', url: path = '', headers, socket } = message;
  return { method, path, headers, body: Buffer.concat(chunks), clientPort: socket.remotePort ?? 0 };
};

export const startServer = async (answer: Answer = ok): Promise<TestServer> => {
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(async (message, response) => {
    try {
      const request = await receive(message);
      requests.push(request);
      running.answer(response, request, requests.length);
    } catch {
      // The client went away in the middle of its request.
    }
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const running: TestServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer,
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
  return running;
};

/** An address of this host where nothing listens. */
export const deadUrl = async (): Promise<string> => {
  const server = await startServer();
  await server.close();
  return server.url;
};
