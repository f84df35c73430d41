// An answer of a web server: which bytes of which version of an object it has, its body, read up to a bound, and what can go wrong, sorted by
// whether asking again can help. It must never take more memory than was asked for, whatever the server sends; bytes of two versions must
// never be mixed; what is known to last must never be asked twice.

import { SpanlineError } from 'spanline/internal/base';
import { ChangedError, GraphError, NotFoundError, TransportError } from '../graph-error.js';

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

/** The size in the `bytes * /1234` of an answer that has no such bytes. */
export const sizeWithoutRange = (text: string | null): number | undefined => {
  const match = /^bytes \*\/(\d{1,15})$/i.exec(text?.trim() ?? '');
  return match === null ? undefined : Number(match[1]);
};

/** What is known of the object: learnt from the first answer, asked for and compared ever after. */
export class ObjectIdentity {
  readonly #name: string;
  #etag: string | undefined;
  #lastModified: string | undefined;
  /** Bytes of the object, once known. */
  size: number | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  /** Headers that make a server refuse (412) when the object is another one by now. */
  conditions(): Record<string, string> {
    // A weak tag never matches here, by the rules of HTTP; it is compared in the answer.
    if (this.#etag !== undefined) return this.#etag.startsWith('W/') ? {} : { 'if-match': this.#etag };
    return this.#lastModified === undefined ? {} : { 'if-unmodified-since': this.#lastModified };
  }

  /** Throws `ChangedError` unless an answer fits those before it. */
  check(headers: Headers, size: number | undefined): void {
    const etag = headers.get('etag') ?? undefined;
    const lastModified = headers.get('last-modified') ?? undefined;
    this.#etag ??= etag;
    this.#lastModified ??= lastModified;
    this.size ??= size;
    if (etag !== undefined && etag !== this.#etag) throw this.changed(`its tag was ${this.#etag} and is ${etag}`);
    // Servers of one object may disagree about its time, but not about its tag.
    if (etag === undefined && lastModified !== undefined && lastModified !== this.#lastModified) {
      throw this.changed(`it was modified ${lastModified}, before that ${this.#lastModified}`);
    }
    if (size !== undefined && size !== this.size) throw this.changed(`it had ${this.size} bytes and has ${size}`);
  }

  changed(how: string): ChangedError {
    return new ChangedError(`${this.#name} changed while it was open: ${how}; open it again`);
  }
}

/** A failure that may have passed a moment later. */
export class PassingFailure extends SpanlineError {
  constructor(
    message: string,
    /** Milliseconds the server asked to be left alone. */
    readonly retryAfterMs = 0,
    options?: ErrorOptions,
  ) {
    super('PASSING', message, options);
  }
}

const PASSING_CODES = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
]);

/** Statuses of a server that is busy or being repaired. */
const isPassingStatus = (status: number): boolean =>
  status === 408 || status === 429 || (status >= 500 && status !== 501 && status !== 505);

const retryAfterMs = (headers: Headers): number => {
  const seconds = Number(headers.get('retry-after') ?? 0);
  return seconds > 0 ? seconds * 1000 : 0;
};

/** The error of an answer that brings no bytes. `words` are the server's own, cut short. */
export const statusFailure = (name: string, response: Response, words: string): PassingFailure | GraphError => {
  const { status, headers } = response;
  const says = `${name} answered ${status}${words === '' ? '' : ` (${words})`}`;
  if (isPassingStatus(status)) return new PassingFailure(says, retryAfterMs(headers));
  switch (status) {
    case 404:
    case 410:
      return new NotFoundError(`${name} is not there: status ${status}`);
    case 401:
    case 403:
      return new TransportError(`${says}: the server wants other credentials, or none may read this`);
    default:
      return new TransportError(says);
  }
};

/** What fetch or a body threw, as something to try again or as the error to report. */
export const connectionFailure = (name: string, thrown: unknown): PassingFailure | GraphError => {
  if (thrown instanceof GraphError || thrown instanceof PassingFailure) return thrown;
  // fetch wraps what happened in an error that only says that something did.
  const cause = ((thrown as Error).cause ?? thrown) as NodeJS.ErrnoException;
  const what = cause.message === '' ? (cause.code ?? cause.name) : cause.message;
  const message = `${name} could not be read: ${what}`;
  return cause.code !== undefined && PASSING_CODES.has(cause.code)
    ? new PassingFailure(message, 0, { cause })
    : new TransportError(message, { cause });
};

/** A body that tells how much of it came. */
export interface AnswerBody {
  /** Exactly `length` bytes; fewer are a failure that may pass, more are a lie. */
  read(length: number): Promise<Buffer>;
}

/** Bodies without use that are read to the end, because the connection can be used again then. */
const DRAINED_BYTES = 16 * 1024;

type Chunks = AsyncIterable<Uint8Array>;

/** Reads the body of `response`; `onBytes` hears of every piece. */
export const answerBody = (name: string, response: Response, onBytes: (count: number) => void): AnswerBody => ({
  async read(length) {
    const bytes = Buffer.allocUnsafeSlow(length);
    let at = 0;
    for await (const chunk of (response.body ?? []) as unknown as Chunks) {
      onBytes(chunk.length);
      if (at + chunk.length > length)
        throw new TransportError(`${name} sent more than the ${length} bytes it announced`);
      bytes.set(chunk, at);
      at += chunk.length;
    }
    if (at === length) return bytes;
    throw new PassingFailure(`${name} broke off after ${at} of ${length} bytes`);
  },
});

/** The beginning of a body, as text; the rest of a short one is read, that of a long one refused. */
export const bodyWords = async (response: Response, onBytes: (count: number) => void): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (response.body ?? []) as unknown as Chunks) {
    onBytes(chunk.length);
    chunks.push(chunk);
    length += chunk.length;
    // Leaving the loop cancels the body.
    if (length > DRAINED_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8');
};
