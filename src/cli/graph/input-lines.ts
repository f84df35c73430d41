// Lines `key parent parent…` out of a stream of bytes, compressed by gzip or not. It holds one line and one chunk at a time.
import { createReadStream } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { CommandError, ExitCode } from '../exit-code.js';

/** Bytes of a line at most: no node has that many parents. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

const LINE_BREAK = 0x0a;
const COMMENT = 0x23;
/** What some editors and shells put before UTF-8. */
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** A node of the input. */
export interface InputNode {
  /** Where it stands, from 1. */
  readonly line: number;
  /** Its key, then the keys it refers to: a character for each byte (`latin1`), for keys need not be UTF-8. */
  readonly words: readonly string[];
}

/** The words of lines; blank lines and comments (`#`) have none and are left out. */
export const inputNodes = async function* (chunks: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<InputNode> {
  let rest: Buffer = Buffer.alloc(0);
  let line = 0;
  const nodeOf = (raw: Buffer): InputNode | undefined => {
    const isMarked = line++ === 0 && raw.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
    const bytes = isMarked ? raw.subarray(BYTE_ORDER_MARK.length) : raw;
    if (bytes[0] === COMMENT) return undefined;
    const words = bytes.toString('latin1').split(/[ \t\r]+/);
    const kept = words.filter((word) => word !== '');
    return kept.length === 0 ? undefined : { line, words: kept };
  };
  for await (const chunk of chunks) {
    const bytes =
      rest.length === 0 ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length) : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(LINE_BREAK); end >= 0; end = bytes.indexOf(LINE_BREAK, start)) {
      const node = nodeOf(bytes.subarray(start, end));
      if (node !== undefined) yield node;
      start = end + 1;
    }
    rest = bytes.subarray(start);
    if (rest.length > MAX_LINE_BYTES)
      throw new CommandError(
        'ERR_SPANLINE_USAGE',
        `line ${line + 1} of ${name} has more than ${MAX_LINE_BYTES} bytes: write a node a line`,
        ExitCode.usage,
      );
  }
  const last = nodeOf(rest);
  if (last !== undefined) yield last;
};

/** The bytes of `source`, inflated when they begin as gzip does. */
const inflated = async (source: Readable): Promise<AsyncIterable<Uint8Array>> => {
  const chunks = source[Symbol.asyncIterator]() as AsyncIterableIterator<Buffer>;
  const first = await chunks.next();
  if (first.done === true) return Readable.from([]);
  const all = async function* (): AsyncGenerator<Buffer> {
    yield first.value;
    yield* chunks;
  };
  if (first.value[0] !== 0x1f || first.value[1] !== 0x8b) return all();
  // Its errors come out of the end that is read.
  return pipeline(Readable.from(all()), createGunzip(), () => {});
};

/** The nodes of a file, or of standard input for `-`. */
export const nodesOfFile = async function* (path: string): AsyncGenerator<InputNode> {
  const isStdin = path === '-';
  const name = isStdin ? 'standard input' : path;
  try {
    yield* inputNodes(await inflated(isStdin ? process.stdin : createReadStream(path)), name);
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (!code.startsWith('Z_')) throw error;
    throw new CommandError('ERR_SPANLINE_FILE', `${name} is damaged gzip: ${message}`, ExitCode.store, {
      cause: error,
    });
  }
};
