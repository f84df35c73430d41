// Starts a server of an archive for a test and closes it behind it.
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { type ArchiveServer, createArchiveServer } from '../../src/server/archive-server.js';
import type { ArchiveServerOptions } from '../../src/server/server-options.js';
import { MemoryArchive } from './memory-archive.js';

/** Run behind the test, the last first. */
export const onCleanUp = (cleanUp: () => unknown): void => {
  onTestFinished(async () => void (await cleanUp()));
};

export interface Served extends ArchiveServer {
  readonly archive: MemoryArchive;
}

/** A server on a free port, of an archive in memory unless the test has its own. */
export const serve = async (options: Partial<ArchiveServerOptions> = {}): Promise<Served> => {
  const archive = new MemoryArchive();
  const server = await createArchiveServer({ archive, port: 0, ...options });
  onCleanUp(async () => {
    server.server.closeAllConnections();
    await server.close();
  });
  return { ...server, archive };
};

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  readonly json: unknown;
}

/** What was answered; rejects when the answer was cut off. */
export const answerOf = (sent: ClientRequest): Promise<Answer> =>
  new Promise((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', async (response) => {
      try {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk as Buffer);
        const body = Buffer.concat(chunks);
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body,
          get json() {
            return JSON.parse(body.toString());
          },
        });
      } catch (error) {
        reject(error);
      }
    });
  });

/** One request as it is, over a connection of its own. */
export const ask = (
  url: string,
  {
    method = 'GET',
    headers = {},
    body,
  }: { method?: string; headers?: Record<string, string>; body?: Uint8Array | string } = {},
): Promise<Answer> => {
  const { hostname, port } = new URL(url);
  // Not parsed again: the path must arrive as it is.
  const path = url.slice(url.indexOf('/', 'http://'.length));
  const sent = request({ hostname: hostname.replace(/^\[|\]$/g, ''), port, path, method, headers, agent: false });
  const answer = answerOf(sent);
  sent.end(body);
  return answer;
};

/** A bare connection, and all that comes back until it is closed. */
export const dial = (url: string): { readonly socket: Socket; readonly received: Promise<string> } => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const received = new Promise<string>((resolve) => {
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
  });
  onCleanUp(() => socket.destroy());
  return { socket, received };
};
