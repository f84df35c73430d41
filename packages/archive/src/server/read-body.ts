// Reads a request's body, inflated, within bounds: of the bytes that come, of those they inflate to, and of what all bodies together take. Neither
// the Content-Length nor the gzip trailer is trusted. What is beyond the bounds of the server is refused for now, before its bytes are read.

import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { HttpError, tryLater } from './http-error.js';

/** Bodies inflated at a time; others wait, compressed, in the order they came. */
const INFLATING = 2;

/** One for a server. */
export class BodyBudget {
  readonly #maxBytes: number;
  #buffered = 0;
  #inflating = 0;
  readonly #waiting: (() => void)[] = [];
  /** Requests that found no room. */
  refused = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Take room for bytes that are about to be kept. */
  take(bytes: number): void {
    if (this.#buffered + bytes > this.#maxBytes) {
      this.refused++;
      throw tryLater(429, 'too many requests at once: send again later');
    }
    this.#buffered += bytes;
  }

  give(bytes: number): void {
    this.#buffered -= bytes;
  }

  /** Run `work`, a few at a time. */
  async inflate<T>(work: () => Promise<T>): Promise<T> {
    if (this.#inflating >= INFLATING) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#inflating++;
    try {
      return await work();
    } finally {
      // The place is handed on, not given back, when someone waits.
      const next = this.#waiting.shift();
      if (next === undefined) this.#inflating--;
      else next();
    }
  }
}

const inflate = promisify(gunzip) as (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const tooLarge = (maxBytes: number): HttpError =>
  new HttpError(413, `the body is larger than ${maxBytes} bytes: send fewer spans at a time`);

/** Without a content encoding, or gzip. */
const isCompressed = ({ headers }: IncomingMessage): boolean => {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return false;
  if (encoding === 'gzip') return true;
  throw new HttpError(415, 'the content encoding must be gzip or none', { 'accept-encoding': 'gzip' });
};

/** Bytes as they come. Each chunk takes room as it arrives. */
const receive = async (request: IncomingMessage, maxBytes: number, take: (bytes: number) => void): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    // A refusal must not take the connection with it: the client is told why.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      take(chunk.length);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw new HttpError(400, 'the request ended before its body did');
  }
  return Buffer.concat(chunks, size);
};

const gunzipWithin = async (bytes: Buffer, maxBytes: number): Promise<Buffer> => {
  try {
    return await inflate(bytes, { maxOutputLength: maxBytes });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(maxBytes);
    throw new HttpError(400, 'the body is not valid gzip');
  }
};

/** Read the body and give it to `use`, which must be done with it when it returns. */
export const withBody = async <T>(
  request: IncomingMessage,
  maxBytes: number,
  budget: BodyBudget,
  use: (body: Buffer) => T,
): Promise<T> => {
  const compressed = isCompressed(request);
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > maxBytes) throw tooLarge(maxBytes);
  let taken = 0;
  const take = (bytes: number): void => {
    budget.take(bytes);
    taken += bytes;
  };
  try {
    const bytes = await receive(request, maxBytes, take);
    return compressed ? await budget.inflate(async () => use(await gunzipWithin(bytes, maxBytes))) : use(bytes);
  } finally {
    budget.give(taken);
  }
};
