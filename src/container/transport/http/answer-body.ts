// The body of an answer, read up to a bound. It must never take more memory than was asked for, whatever the server sends.
import { TransportError } from '../../graph-error.js';
import { PassingFailure } from './http-failure.js';

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
