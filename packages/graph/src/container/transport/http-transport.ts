// A file on a web server, read by ranges. Credentials and signatures in its address must reach the server and nobody else: no message may show them.
// Bytes of two versions of the file must never be mixed.
import { abortedBy, attempt, inParallel, orThrow, wholeNumber } from 'spanline/internal/base';
import { aborted, BadOptionsError, badOptions, ChangedError, ClosedError, TransportError } from '../graph-error.js';
import {
  HttpGetter,
  type LinkedAbort,
  linkedAbort,
  type RequestHeaders,
  type SignRequest,
  type TakeAnswer,
} from './http-getter.js';
import {
  type ByteRange,
  checkRanges,
  dealOut,
  emptyResults,
  mergeRanges,
  type Tail,
  type Transport,
  type TransportReadOptions,
  type TransportStats,
} from './transport.js';

/** A percent sign that encodes nothing stands for itself. */
const decode = (text: string): string => attempt(() => decodeURIComponent(text)) ?? text;

/** An address as `fetch` takes it, and as it may be shown. */
const parseAddress = (
  text: string,
): { readonly url: string; readonly name: string; readonly headers: RequestHeaders } => {
  if (!URL.canParse(text)) throw new BadOptionsError(`${text.replace(/\/\/.*@/s, '//')} is not an address`);
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new BadOptionsError(`${url.protocol}// cannot be read, only http and https can`);
  }
  const { username, password } = url;
  url.username = '';
  url.password = '';
  url.hash = '';
  const shown = new URL(url);
  // Signed addresses carry their permission here.
  if (shown.search !== '') shown.search = '...';
  if (username === '' && password === '') return { url: url.href, name: shown.href, headers: {} };
  const user = Buffer.from(`${decode(username)}:${decode(password)}`).toString('base64');
  return { url: url.href, name: shown.href, headers: { authorization: `Basic ${user}` } };
};

/** The bytes of an answer; `size` is undefined where the server does not tell it. */
interface ContentRange {
  readonly start: number;
  /** Behind the last byte. */
  readonly end: number;
  readonly size: number | undefined;
}

/** `bytes 0-99/1234` and `bytes 0-99/*`; undefined for everything else, a range outside of its file included. */
export const parseContentRange = (text: string | null): ContentRange | undefined => {
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/i.exec(text?.trim() ?? '');
  if (match === null) return undefined;
  const [start, last] = [Number(match[1]), Number(match[2])];
  const size = match[3] === '*' ? undefined : Number(match[3]);
  const fits = start <= last && (size === undefined || last < size);
  return fits ? { start, end: last + 1, size } : undefined;
};

/** Options of {@link HttpTransport}. */
export interface HttpTransportOptions {
  /** Sent with every request to the origin of the address, and to no other. */
  readonly headers?: RequestHeaders;
  /** Ranges at most this many bytes apart share a request. Default 32 KiB. */
  readonly gapBytes?: number;
  /** Requests at one time. Default 6. */
  readonly maxParallel?: number;
  /** Milliseconds without a byte after which an attempt is given up. Default 15,000. */
  readonly stallMs?: number;
  /** Milliseconds for one request, all attempts together. Default 120,000. */
  readonly timeoutMs?: number;
  /** Attempts after the first when a server is busy or a connection breaks. Default 3. */
  readonly retries?: number;
}

const DEFAULTS = { gapBytes: 32 * 1024, maxParallel: 6, stallMs: 15_000, timeoutMs: 120_000, retries: 3 };

/** The least of each number that may be set. */
const NUMBERS = { gapBytes: 0, maxParallel: 1, stallMs: 1, timeoutMs: 1, retries: 0 };
type Numbers = typeof DEFAULTS;

const numbersOf = (options: HttpTransportOptions): Numbers => {
  const numbers = { ...DEFAULTS };
  for (const [name, min] of Object.entries(NUMBERS) as [keyof Numbers, number][]) {
    // Timers take no longer waits.
    numbers[name] = wholeNumber(name, options[name] ?? DEFAULTS[name], [min, 2 ** 31 - 1], badOptions);
  }
  return numbers;
};

const lowerCase = (headers: RequestHeaders): RequestHeaders =>
  orThrow(
    () => Object.fromEntries(new Headers(headers)),
    (cause) => new BadOptionsError(`the headers cannot be sent: ${cause.message}`, { cause }),
  );

/**
 * Reads a graph file from a web server that serves ranges.
 *
 * What {@link openTransport} uses for http and https; make it by hand to send headers or to change its limits. Nothing is asked before
 * the first read. When the file is replaced on the server, reads reject with `ChangedError`.
 *
 * @example
 * ```ts
 * import { once } from 'node:events';
 * import { createServer } from 'node:http';
 * import type { AddressInfo } from 'node:net';
 * import { HttpTransport } from '@spanline/graph';
 * const server = createServer((_, response) => {
 *   response.writeHead(206, { 'content-range': 'bytes 6-10/11' }).end('world');
 * });
 * await once(server.listen(0), 'listening');
 * const { port } = server.address() as AddressInfo;
 * const transport = new HttpTransport(`http://localhost:${port}/file.graph`);
 * const { bytes, size } = await transport.readTail(5);
 * console.assert(bytes.toString() === 'world' && size === 11);
 * await transport.close();
 * server.close();
 * ```
 */
export class HttpTransport implements Transport {
  readonly name: string;
  readonly #gapBytes: number;
  readonly #maxParallel: number;
  readonly #counts = { requests: 0, ranges: 0, bytes: 0 };
  // What is known of the file: learnt from the first answer, compared ever after.
  #etag: string | undefined;
  #lastModified: string | undefined;
  #size: number | undefined;
  readonly #getter: HttpGetter;
  readonly #inFlight = new Set<LinkedAbort>();
  #isClosed = false;

  /** `sign` is for transports that prove who asks, such as those of object stores. */
  constructor(address: string, options: HttpTransportOptions = {}, sign?: SignRequest) {
    const { url, name, headers: own } = parseAddress(address);
    const { gapBytes, maxParallel, ...patience } = numbersOf(options);
    const headers = { ...own, ...lowerCase(options.headers ?? {}) };
    this.name = name;
    this.#gapBytes = gapBytes;
    this.#maxParallel = maxParallel;
    this.#getter = new HttpGetter({ ...patience, name, url, headers, sign }, this.#counts);
  }

  readRanges(ranges: readonly ByteRange[], options?: TransportReadOptions): Promise<Buffer[]> {
    return this.#call(options, async ({ signal, abort }) => {
      checkRanges(ranges, this.#size, this.name);
      const results = emptyResults(ranges);
      this.#counts.ranges += ranges.length;
      await inParallel(mergeRanges(ranges, this.#gapBytes), this.#maxParallel, async (merged) => {
        try {
          dealOut(ranges, merged, await this.#readRange(merged, signal), results);
        } catch (error) {
          // The batch has failed: what else is under way would come for nothing.
          abort(error);
          throw error;
        }
      });
      return results;
    });
  }

  readTail(length: number, options?: TransportReadOptions): Promise<Tail> {
    return this.#call(options, async ({ signal }) => {
      checkRanges([{ offset: 0, length }], undefined, this.name);
      this.#counts.ranges++;
      // HTTP has no tail of no bytes, but its size is worth a byte.
      const wanted = Math.max(1, length);
      const tail = await this.#getter.get({ range: `bytes=-${wanted}` }, signal, this.#takeTail(wanted));
      const size = this.#size as number;
      // Some servers know ranges but no tails; now that the size is known they can be asked otherwise.
      const start = Math.max(0, size - wanted);
      const bytes = tail ?? (await this.#readRange({ offset: start, length: size - start }, signal));
      const asked = bytes.subarray(bytes.length - Math.min(length, size));
      return { bytes: asked, offset: size - asked.length, size };
    });
  }

  stats(): TransportStats {
    return { ...this.#counts };
  }

  /** Ends the requests under way, whose callers get `ClosedError`. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const call of this.#inFlight) call.abort(this.#closed());
  }

  async #call<T>({ signal }: TransportReadOptions = {}, work: (call: LinkedAbort) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw this.#closed();
    const call = linkedAbort(signal, () => abortedBy(signal, `reading ${this.name}`, aborted));
    call.signal.throwIfAborted();
    this.#inFlight.add(call);
    try {
      return await work(call);
    } finally {
      this.#inFlight.delete(call);
      call.unlink();
    }
  }

  #readRange({ offset, length }: ByteRange, signal: AbortSignal): Promise<Buffer> {
    const end = offset + length;
    return this.#getter.get({ range: `bytes=${offset}-${end - 1}` }, signal, async (response, read) => {
      if (response.status === 200) throw this.#withoutRanges();
      const size = this.#checkAnswer(response);
      if (size !== undefined) checkRanges([{ offset, length }], size, this.name);
      const range = parseContentRange(response.headers.get('content-range'));
      if (range === undefined || range.start !== offset || range.end !== end) throw this.#otherBytes(response);
      return read(length);
    });
  }

  /** The tail; undefined when the server told nothing but the size. */
  #takeTail(wanted: number): TakeAnswer<Buffer | undefined> {
    return async (response, read) => {
      const size = this.#checkAnswer(response);
      if (size === undefined) throw response.status === 200 ? this.#withoutRanges() : this.#otherBytes(response);
      if (size === 0) return Buffer.alloc(0);
      if (response.status === 416) return undefined;
      if (response.status === 200) {
        // All of a short file is its tail.
        return size <= wanted ? read(size) : undefined;
      }
      const range = parseContentRange(response.headers.get('content-range'));
      const length = Math.min(size, wanted);
      if (range?.end !== size || range.start !== size - length) throw this.#otherBytes(response);
      return read(length);
    };
  }

  /** The size of the file by this answer, which must be one of the version that was read before. */
  #checkAnswer(response: Response): number | undefined {
    const { status, headers } = response;
    const encoding = headers.get('content-encoding') ?? 'identity';
    if (encoding.toLowerCase() !== 'identity') {
      throw new TransportError(`${this.name} is sent in the encoding ${encoding}, of which no ranges can be read`);
    }
    const size = sizeOf(response);
    // The headers of a 416 are about the answer, not the file.
    this.#checkVersion(status === 416 ? new Headers() : headers, size);
    return size;
  }

  #checkVersion(headers: Headers, size: number | undefined): void {
    const etag = headers.get('etag') ?? undefined;
    const lastModified = headers.get('last-modified') ?? undefined;
    this.#etag ??= etag;
    this.#lastModified ??= lastModified;
    this.#size ??= size;
    if (etag !== undefined && etag !== this.#etag) throw this.#changed(`its tag was ${this.#etag} and is ${etag}`);
    // Servers of one object may disagree about its time, but not about its tag.
    if (etag === undefined && lastModified !== undefined && lastModified !== this.#lastModified)
      throw this.#changed(`it was modified ${lastModified}, before that ${this.#lastModified}`);
    if (size !== undefined && size !== this.#size) throw this.#changed(`it had ${this.#size} bytes and has ${size}`);
  }

  #changed(how: string): ChangedError {
    return new ChangedError(`${this.name} changed while it was open: ${how}; open it again`);
  }

  #withoutRanges(): TransportError {
    return new TransportError(
      `the server of ${this.name} does not serve ranges: download the file, or use a server that does`,
    );
  }

  #otherBytes({ status, headers }: Response): TransportError {
    const range = headers.get('content-range');
    return new TransportError(
      `${this.name} sent other bytes than it was asked for: status ${status}, ${range === null ? 'no content-range' : `content-range ${range}`}`,
    );
  }

  #closed(): ClosedError {
    return new ClosedError(`${this.name} was closed: open it again`);
  }
}

/** Bytes of the whole file by what an answer says. */
const sizeOf = ({ status, headers }: Response): number | undefined => {
  const range = headers.get('content-range');
  if (status === 206) return parseContentRange(range)?.size;
  // `bytes */1234` where there are no such bytes.
  const text = status === 416 ? /^bytes \*\/(\d+)$/i.exec(range?.trim() ?? '')?.[1] : headers.get('content-length');
  return /^\d{1,15}$/.test(text ?? '') ? Number(text) : undefined;
};
