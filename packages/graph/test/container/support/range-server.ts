// A real HTTP server on this host that serves one file by ranges, as slowly and as falsely as a test wants it to.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** Answers a request instead of the server; leaves it to the server by returning false. `n` counts from 1. */
export type Fault = (request: IncomingMessage, response: ServerResponse, n: number) => boolean | undefined;

export interface RangeServer {
  /** Address of the file. */
  readonly url: string;
  readonly origin: string;
  /** Requests as they came. */
  readonly requests: { readonly url: string; readonly headers: IncomingMessage['headers'] }[];
  /** Times that requests were answered, all that were asked together as one. Counted with a latency only. */
  readonly roundTrips: number;
  /** Most requests at one time. */
  readonly maxAtOnce: number;
  /** Requests whose answers are neither complete nor cut off. */
  readonly inFlight: number;
  file: Buffer;
  /** Sent with every answer. */
  etag: string | undefined;
  lastModified: string | undefined;
  /** Milliseconds without another request before those that wait are answered; 0 answers each at once. */
  latencyMs: number;
  fault: Fault;
  close(): Promise<void>;
}

const none: Fault = () => false;

/** First and last byte of `bytes=5-9` or `bytes=-5` in a file of `size` bytes. */
export const parseRange = (header: string | undefined, size: number): readonly [number, number] | undefined => {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (match === null) return undefined;
  if (match[1] === '') return [Math.max(0, size - Number(match[2])), size - 1];
  return [Number(match[1]), Math.min(size - 1, match[2] === '' ? size - 1 : Number(match[2]))];
};

const serve = (running: RangeServer, request: IncomingMessage, response: ServerResponse): void => {
  const { file, etag, lastModified } = running;
  const size = file.length;
  if (etag !== undefined) response.setHeader('etag', etag);
  if (lastModified !== undefined) response.setHeader('last-modified', lastModified);
  const range = parseRange(request.headers.range, size);
  if (range === undefined) response.writeHead(200, { 'content-length': size }).end(file);
  else if (range[0] >= size) response.writeHead(416, { 'content-range': `bytes */${size}` }).end();
  else {
    const [first, last] = range;
    const headers = { 'content-range': `bytes ${first}-${last}/${size}`, 'content-length': last - first + 1 };
    response.writeHead(206, headers).end(file.subarray(first, last + 1));
  }
};

export const startRangeServer = async (file: Buffer): Promise<RangeServer> => {
  const sockets = new Set<Socket>();
  const requests: RangeServer['requests'] = [];
  let inFlight = 0;
  let maxAtOnce = 0;
  let roundTrips = 0;
  const waiting: (() => void)[] = [];
  let quiet: NodeJS.Timeout | undefined;
  // All that was asked together is answered together, once nothing more came for a while: the number of round trips must not depend
  // on how busy this machine is. A timer may be late, so what has come in the meantime is let in first.
  const answerAll = async (): Promise<void> => {
    const { length } = waiting;
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    if (waiting.length !== length) return;
    roundTrips++;
    for (const answer of waiting.splice(0)) answer();
  };
  const server = createServer((request, response) => {
    requests.push({ url: request.url ?? '', headers: request.headers });
    const n = requests.length;
    maxAtOnce = Math.max(maxAtOnce, ++inFlight);
    let isOver = false;
    const over = (): void => {
      if (!isOver) inFlight--;
      isOver = true;
    };
    // The client cannot know of the end before `finish`; an answer that is cut off has only a `close`.
    response.on('finish', over).on('close', over);
    const answer = (): void => {
      if (running.fault(request, response, n) !== true) serve(running, request, response);
    };
    if (running.latencyMs === 0) {
      answer();
      return;
    }
    waiting.push(answer);
    clearTimeout(quiet);
    quiet = setTimeout(answerAll, running.latencyMs);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const running: RangeServer = {
    url: `${origin}/some.graph`,
    origin,
    requests,
    get roundTrips() {
      return roundTrips;
    },
    get maxAtOnce() {
      return maxAtOnce;
    },
    get inFlight() {
      return inFlight;
    },
    file,
    etag: '"one"',
    lastModified: undefined,
    latencyMs: 0,
    fault: none,
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
  return running;
};
