// Writes answers: JSON at once, or in pieces no faster than the client reads them. An answer that fails half-way is cut off, never closed
// as if it were whole.
import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** Characters gathered before a write. */
const PIECE_LENGTH = 64 * 1024;

const HEADERS: OutgoingHttpHeaders = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

/** Answer with bytes. */
export const sendBytes = (
  response: ServerResponse,
  status: number,
  contentType: string,
  body: Uint8Array | string,
  headers: OutgoingHttpHeaders = {},
): void => {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  response.writeHead(status, {
    ...HEADERS,
    'content-type': contentType,
    'content-length': bytes.length,
    ...headers,
  });
  response.end(bytes);
};

/** Answer with a value as JSON. */
export const sendJson = (
  response: ServerResponse,
  status: number,
  value: unknown,
  headers?: OutgoingHttpHeaders,
): void => sendBytes(response, status, 'application/json', `${JSON.stringify(value)}\n`, headers);

/** An answer of status 200 that is written in pieces. */
export class JsonStream {
  readonly #response: ServerResponse;
  readonly #signal: AbortSignal;
  #pending = '';

  constructor(response: ServerResponse, signal: AbortSignal) {
    this.#response = response;
    this.#signal = signal;
  }

  /** Write; waits while the client is behind. Throws when it went away or its time is over. */
  async write(text: string): Promise<void> {
    this.#pending += text;
    if (this.#pending.length >= PIECE_LENGTH) await this.#push();
  }

  async end(): Promise<void> {
    await this.#push();
    this.#response.end();
  }

  async #push(): Promise<void> {
    const [response, signal, pending] = [this.#response, this.#signal, this.#pending];
    signal.throwIfAborted();
    this.#pending = '';
    if (!response.headersSent) response.writeHead(200, HEADERS);
    if (!response.write(pending)) await once(response, 'drain', { signal });
  }
}
