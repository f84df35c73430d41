// A server for Prometheus: `GET /metrics`, answered with what was measured up to now. It listens on loopback unless the environment names another host, and
// there no web page may reach it by a name of its own. It is neither traced nor measured itself, and must keep no process alive nor one from starting:
// where its port is taken one line says so. What clients do, or leave undone, must cost the program a bounded number of connections and texts.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Slices, timers } from '../base/calls/timers.js';
import { hostName, isLocalName, isLoopback } from '../base/loopback.js';
import { getOrMake } from '../base/maps/maps.js';
import { addOwnServer } from '../base/own-agents.js';
import type { ArchivedProperties } from '../record/archived-span.js';
import type { Reader } from './reader.js';
import { CONTENT_TYPES, type TextFormat, textPieces } from './write-text.js';

/** Where to listen, and what is answered. */
export interface PrometheusServerOptions {
  readonly host: string;
  /** 0 for any. */
  readonly port: number;
  /** Further names by which requests may come while it listens on loopback, in lower case: of a proxy that hands them on. */
  readonly allowedHosts: readonly string[];
  readonly reader: Reader;
  /** Asked for at each scrape. */
  resource(): ArchivedProperties;
  /** How many ports above a taken one may be tried: processes of a cluster have one each. */
  readonly furtherPorts: number;
  /** Called with the address once it listens, and with what is wrong where it cannot. */
  listens(url: string): void;
  fails(reason: string): void;
}

const formatOf = ({ accept = '' }: IncomingMessage['headers']): TextFormat =>
  accept.includes('application/openmetrics-text') ? 'openmetrics' : 'prometheus';

const MAX_PORT = 65_535;
/** Each may hold a text. A Prometheus has one; a few of them, a person and the page are far from this. */
const MAX_CONNECTIONS = 32;
/** For a request to arrive, and for its answer to be taken: Prometheus gives up after ten seconds. */
const TIMEOUT_MS = 30_000;
/** Of the text, and a set of an instrument more, that is written at once. */
const PART_CHARACTERS = 64 * 1024;
const PLAIN = { 'content-type': 'text/plain; charset=utf-8' };

export class PrometheusServer {
  readonly #options: PrometheusServerOptions;
  readonly #server: Server;
  readonly #texts = new Map<TextFormat, Promise<readonly string[]>>();
  #port: number;
  /** Only this machine reaches it. */
  #isLocal = false;

  constructor(options: PrometheusServerOptions) {
    this.#options = options;
    this.#port = options.port;
    const { createServer } = process.getBuiltinModule('node:http');
    this.#server = addOwnServer(createServer({ requestTimeout: TIMEOUT_MS, headersTimeout: TIMEOUT_MS }));
    this.#server.maxConnections = MAX_CONNECTIONS;
    this.#server
      .once('drop', () =>
        options.fails(
          `Prometheus has more than ${MAX_CONNECTIONS} connections to ${this.url}: further ones are refused.`,
        ),
      )
      .on('request', (request, response) => this.#answer(request, response))
      // Scrapers keep their connections.
      .on('connection', (socket) => socket.unref())
      .on('error', (error: NodeJS.ErrnoException) => this.#failed(error))
      .on('listening', () => {
        this.#isLocal = isLoopback(this.#address.address);
        options.listens(this.url);
      });
    this.#listen();
  }

  /** Once it listens. */
  get url(): string {
    const { address, port } = this.#address;
    return `http://${address.includes(':') ? `[${address}]` : address}:${port}/metrics`;
  }

  get #address(): AddressInfo {
    return this.#server.address() as AddressInfo;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #listen(): void {
    // Exclusive: workers of a cluster would share one port, and each scrape would get another of them.
    this.#server.listen({ host: this.#options.host, port: this.#port, exclusive: true }).unref();
  }

  #failed(error: NodeJS.ErrnoException): void {
    const { port, furtherPorts, host, fails } = this.#options;
    if (error.code === 'EADDRINUSE' && this.#port !== 0 && this.#port < Math.min(port + furtherPorts, MAX_PORT)) {
      this.#port++;
      this.#listen();
      return;
    }
    const remedy = error.code === 'EADDRINUSE' ? '; set OTEL_EXPORTER_PROMETHEUS_PORT to a free one' : '';
    fails(`Prometheus cannot read metrics at ${host}:${this.#port}: ${error.message}${remedy}.`);
  }

  /** A page elsewhere could have made its own name point here. Of `host` the machine itself may say so, as Debian does of its own name. */
  #isMeant({ host }: IncomingMessage['headers']): boolean {
    if (!this.#isLocal || host === undefined) return true;
    const name = hostName(host);
    const { host: own, allowedHosts } = this.#options;
    return isLocalName(name) || name === own.toLowerCase() || allowedHosts.includes(name);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    if (!this.#isMeant(request.headers)) {
      response
        .writeHead(403, PLAIN)
        .end('Metrics are for localhost; name further hosts in SPANLINE_PROMETHEUS_ALLOWED_HOSTS.\n');
      return;
    }
    const [path] = (request.url ?? '').split('?');
    if (path !== '/metrics') {
      response.writeHead(404, PLAIN).end('Metrics are at /metrics.\n');
      return;
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { ...PLAIN, allow: 'GET, HEAD' }).end('GET /metrics\n');
      return;
    }
    const format = formatOf(request.headers);
    response.writeHead(200, { 'content-type': CONTENT_TYPES[format] });
    if (request.method === 'HEAD') response.end();
    else this.#write(response, format).catch(() => void response.destroy());
  }

  /** At the speed of the client, for a bounded time. */
  async #write(response: ServerResponse, format: TextFormat): Promise<void> {
    const timer = timers.setTimeout(() => response.destroy(), TIMEOUT_MS).unref();
    response.once('close', () => timers.clearTimeout(timer));
    const { pipeline, Readable } = process.getBuiltinModule('node:stream');
    // Whoever hangs up gets no more.
    pipeline(Readable.from(await this.#text(format)), response, () => {});
  }

  /** One at a time of each format: who asks while it is made gets the same. */
  #text(format: TextFormat): Promise<readonly string[]> {
    return getOrMake(this.#texts, format, () => this.#make(format).finally(() => this.#texts.delete(format)));
  }

  /** In slices: the text of thousands of sets takes a tenth of a second. In parts of a bounded size: one of them is what waits for a slow client. */
  async #make(format: TextFormat): Promise<readonly string[]> {
    const slices = new Slices();
    const parts: string[] = [];
    let text = '';
    for (const piece of textPieces(this.#options.reader.read(), this.#options.resource(), format)) {
      text += piece;
      if (text.length >= PART_CHARACTERS) {
        parts.push(text);
        text = '';
      }
      if (slices.isOver(piece.length)) await slices.next();
    }
    parts.push(text);
    return parts;
  }
}
