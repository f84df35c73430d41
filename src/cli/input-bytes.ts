// The bytes of a file or of standard input, compressed with gzip or not. Holds one chunk at a time.
import { createReadStream } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** The bytes, inflated when they begin as gzip does. */
const inflated = async function* (source: Readable): AsyncGenerator<Buffer> {
  const chunks: AsyncIterator<Buffer> = source[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  while (head.length < 2) {
    const { value, done } = await chunks.next();
    if (done === true) break;
    head = Buffer.concat([head, value as Buffer]);
  }
  const rest = async function* (): AsyncGenerator<Buffer> {
    yield head;
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
  };
  if (head.length < 2 || head[0] !== 0x1f || head[1] !== 0x8b) {
    yield* rest();
    return;
  }
  // What fails on the way fails the reading of its end too.
  yield* pipeline(Readable.from(rest()), createGunzip(), () => {}) as AsyncIterable<Buffer>;
};

/** The bytes of `file` (`-` is standard input), inflated when they are gzip. It is released whatever happens: an open standard input would keep the process from ending. */
export const bytesOf = async function* (file: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  const source: Readable = file === '-' ? process.stdin : createReadStream(file);
  const stop = (): void => {
    source.destroy(signal.reason as Error);
  };
  signal.addEventListener('abort', stop);
  try {
    yield* inflated(source);
  } finally {
    signal.removeEventListener('abort', stop);
    source.destroy();
  }
};
