// An answer of a web server: its body, read up to a bound, and what can go wrong, sorted by whether asking again can help. It must never take
// more memory than was asked for, whatever the server sends; what is known to last must never be asked twice.
import { SpanlineError } from '../../base/errors/spanline-error.js';
import { GraphError, NotFoundError, TransportError } from '../graph-error.js';

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
