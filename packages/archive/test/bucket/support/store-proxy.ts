// A way to an object store that a test can trouble, request by request: refused, cut before or after the store has carried it out, cut in the middle of
// its body, with another clock, with lists of what there was a while ago. What it lets through must reach the store as it was sent, for it is signed.
import { once } from 'node:events';
import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as the proxy sees it. */
export interface Passing {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  /** Counted from 1. */
  readonly n: number;
}

/** What becomes of it. */
export type Trouble =
  /** An answer of the proxy's own. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly code: string;
      readonly headers?: Record<string, string>;
    }
  /** Never reaches the store. */
  | { readonly kind: 'reset' }
  /** The store does it, and nobody hears of it. */
  | { readonly kind: 'lost' }
  /** The store gets half of the body. */
  | { readonly kind: 'half' }
  /** The store's answer is cut after so many bytes of its body. */
  | { readonly kind: 'cut'; readonly bytes: number };

export interface StoreProxy {
  /** Such as `http://127.0.0.1:7070`. */
  readonly endpoint: string;
  /** Requests so far. */
  readonly requests: readonly Passing[];
  /** Asked for each request; undefined lets it through. */
  trouble: (passing: Passing) => Trouble | undefined;
  /** Milliseconds added to the store's `Date`. */
  skewMs: number;
  /** Lists show what there was so many milliseconds ago: of what was put and deleted through this proxy, where it is not 0. */
  staleMs: number;
  close(): Promise<void>;
}

const xmlOf = (code: string): string =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>No.</Message></Error>`;

const bodyOf = async (message: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
};

interface PastObject {
  readonly size: number;
  readonly etag: string;
  readonly fromMs: number;
  untilMs: number;
}

const MAX_KEYS = 1000;

/** What was there when. */
class PastObjects {
  /** By key, without the bucket; the versions of each in order. */
  readonly #versions = new Map<string, PastObject[]>();

  put(url: string, size: number, etag: string): void {
    this.delete(url);
    const key = keyOf(url);
    const versions = this.#versions.get(key) ?? [];
    versions.push({ size, etag, fromMs: Date.now(), untilMs: Number.POSITIVE_INFINITY });
    this.#versions.set(key, versions);
  }

  delete(url: string): void {
    const last = this.#versions.get(keyOf(url))?.at(-1);
    if (last !== undefined) last.untilMs = Math.min(last.untilMs, Date.now());
  }

  /** The page of a list as it was at that time. */
  list(query: URLSearchParams, atMs: number): string {
    const prefix = query.get('prefix') ?? '';
    const after = query.get('continuation-token') ?? query.get('start-after') ?? '';
    const found = [...this.#versions].flatMap(([key, versions]) => {
      const version = versions.find(({ fromMs, untilMs }) => fromMs <= atMs && atMs < untilMs);
      return key.startsWith(prefix) && key > after && version !== undefined ? [{ key, ...version }] : [];
    });
    found.sort((a, b) => (a.key < b.key ? -1 : 1));
    const page = found.slice(0, MAX_KEYS);
    const contents = page.map(
      ({ key, size, etag, fromMs }) =>
        `<Contents><Key>${key}</Key><Size>${size}</Size><ETag>${etag.replaceAll('"', '&quot;')}</ETag><LastModified>${new Date(fromMs).toISOString()}</LastModified></Contents>`,
    );
    const isCut = found.length > page.length;
    const next = isCut ? `<NextContinuationToken>${page[MAX_KEYS - 1].key}</NextContinuationToken>` : '';
    return `<?xml version="1.0"?><ListBucketResult>${contents.join('')}<IsTruncated>${isCut}</IsTruncated>${next}</ListBucketResult>`;
  }
}

const keyOf = (url: string): string => decodeURIComponent(url.split('?')[0].split('/').slice(2).join('/'));

/** A proxy to the store at `endpoint`. */
export const startStoreProxy = async (endpoint: string): Promise<StoreProxy> => {
  const { hostname, port } = new URL(endpoint);
  const agent = new Agent({ keepAlive: true });
  const requests: Passing[] = [];
  const past = new PastObjects();

  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = request;
    const passing = { method, url, headers, n: requests.length + 1 };
    requests.push(passing);
    const trouble = proxy.trouble(passing);
    const cut = (): void => void request.socket.resetAndDestroy();
    const body = await bodyOf(request);
    if (trouble?.kind === 'reset') return cut();
    if (trouble?.kind === 'answer') {
      const date = new Date(Date.now() + proxy.skewMs).toUTCString();
      response.writeHead(trouble.status, { 'content-type': 'application/xml', date, ...trouble.headers });
      response.end(xmlOf(trouble.code));
      return;
    }
    const query = new URL(url, endpoint).searchParams;
    if (proxy.staleMs > 0 && query.get('list-type') === '2') {
      response.writeHead(200, { 'content-type': 'application/xml', date: new Date().toUTCString() });
      response.end(past.list(query, Date.now() - proxy.staleMs));
      return;
    }
    const isHalf = trouble?.kind === 'half';
    const sent = httpRequest({ hostname, port, method, path: url, headers, ...(isHalf ? {} : { agent }) });
    if (isHalf) {
      sent.on('error', () => {});
      sent.write(body.subarray(0, body.length >>> 1), () => {
        sent.destroy();
        cut();
      });
      return;
    }
    sent.end(body);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    const bytes = await bodyOf(answer);
    if (answer.statusCode === 200 && method === 'PUT') past.put(url, body.length, answer.headers.etag ?? '');
    if (answer.statusCode === 204 && method === 'DELETE') past.delete(url);
    if (trouble?.kind === 'lost') return cut();
    const date = new Date(Date.parse(answer.headers.date ?? '') + proxy.skewMs).toUTCString();
    response.writeHead(answer.statusCode ?? 500, { ...answer.headers, date });
    if (trouble?.kind === 'cut') response.write(bytes.subarray(0, trouble.bytes), cut);
    else response.end(bytes);
  };

  const server = createServer((request, response) => {
    pass(request, response).catch(() => request.socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: StoreProxy = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    trouble: () => undefined,
    skewMs: 0,
    staleMs: 0,
    close: async () => {
      server.closeAllConnections();
      server.close();
      agent.destroy();
      await once(server, 'close');
    },
  };
  return proxy;
};
