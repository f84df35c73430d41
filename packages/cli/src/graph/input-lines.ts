// Lines `key parent parent…` out of a stream of bytes, compressed by gzip or not. It holds one line and one chunk at a time.
import { CommandError, ExitCode, wrongUsage } from '../exit-code.js';
import { bytesOf } from '../files.js';

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
export const inputNodes = async function* (chunks: AsyncIterable<Buffer>, name: string): AsyncGenerator<InputNode> {
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
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(LINE_BREAK); end >= 0; end = bytes.indexOf(LINE_BREAK, start)) {
      const node = nodeOf(bytes.subarray(start, end));
      if (node !== undefined) yield node;
      start = end + 1;
    }
    rest = bytes.subarray(start);
    if (rest.length > MAX_LINE_BYTES)
      throw wrongUsage(`line ${line + 1} of ${name} has more than ${MAX_LINE_BYTES} bytes: write a node a line`);
  }
  const last = nodeOf(rest);
  if (last !== undefined) yield last;
};

/** The nodes of a file, or of standard input for `-`. */
export const nodesOfFile = async function* (path: string, signal: AbortSignal): AsyncGenerator<InputNode> {
  const name = path === '-' ? 'standard input' : path;
  try {
    yield* inputNodes(bytesOf(path, signal), name);
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (!code.startsWith('Z_')) throw error;
    throw new CommandError('ERR_SPANLINE_FILE', `${name} is damaged gzip: ${message}`, ExitCode.store, {
      cause: error,
    });
  }
};
