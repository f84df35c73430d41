// Files of commands: the bytes of one or of standard input, compressed with gzip, with zstd where this Node can, or not; and whether one could be
// written, asked before long work whose result it takes. Holds one chunk at a time. What is compressed otherwise must be refused: nobody means its
// bytes. The asking must not make the file, nor change it.
import { accessSync, constants, createReadStream, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline, Readable, type Transform } from 'node:stream';
import { text } from 'node:stream/consumers';
import * as zlib from 'node:zlib';
import { onAbort, placeOf, runSync, targetFailure } from 'spanline/internal/base';
import { unreadable, wrongUsage } from './exit-code.js';

/** How files begin that are compressed otherwise, and what makes bytes of them again. */
const OTHERS: readonly (readonly [name: string, head: Buffer, program: string])[] = [
  ['zstd', Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), 'zstd -dc'],
  ['xz', Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]), 'xz -dc'],
  ['lz4', Buffer.from([0x04, 0x22, 0x4d, 0x18]), 'lz4 -dc'],
  ['zip', Buffer.from([0x50, 0x4b, 0x03, 0x04]), 'unzip -p'],
];
const BZIP2 = /^BZh[1-9]1AY&SY/;
/** Bytes that tell. */
const HEAD_BYTES = 10;

/** Node 22.15 and later. */
const createZstd = (zlib as unknown as { readonly createZstdDecompress?: () => Transform }).createZstdDecompress;

/** What inflates bytes that begin so; undefined for those that are as they are. */
const inflaterOf = (head: Buffer): Transform | undefined => {
  if (head[0] === 0x1f && head[1] === 0x8b) return zlib.createGunzip();
  const isBzip2 = BZIP2.test(head.toString('latin1'));
  const other = isBzip2
    ? (['bzip2', head, 'bzip2 -dc'] as const)
    : OTHERS.find(([, begin]) => head.indexOf(begin) === 0);
  if (other === undefined) return undefined;
  const [name, , program] = other;
  if (name === 'zstd' && createZstd !== undefined) return createZstd();
  throw wrongUsage(
    `the input is compressed with ${name}, which is not read: give it gzip or none, such as ${program} FILE | spanline ... -`,
  );
};

/** The bytes, inflated when they begin as compressed ones do. */
const inflated = async function* (source: Readable): AsyncGenerator<Buffer> {
  const chunks: AsyncIterator<Buffer> = source[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  while (head.length < HEAD_BYTES) {
    const { value, done } = await chunks.next();
    if (done === true) break;
    head = Buffer.concat([head, value as Buffer]);
  }
  const rest = async function* (): AsyncGenerator<Buffer> {
    yield head;
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
  };
  const inflater = inflaterOf(head);
  if (inflater === undefined) {
    yield* rest();
    return;
  }
  // What fails on the way fails the reading of its end too.
  yield* pipeline(Readable.from(rest()), inflater, () => {}) as AsyncIterable<Buffer>;
};

/** The bytes of `file` (`-` is standard input), inflated when they are compressed. It is released whatever happens: an open standard input would keep the process from ending. */
export const bytesOf = async function* (file: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  const source: Readable = file === '-' ? process.stdin : createReadStream(file);
  const stop = (): void => {
    source.destroy(signal.reason as Error);
  };
  const unlink = onAbort(signal, stop);
  try {
    yield* inflated(source);
  } finally {
    unlink();
    source.destroy();
  }
};

/** The text of a file, or of standard input for `-`. */
export const readText = async (file: string): Promise<string> => {
  try {
    return file === '-' ? await text(process.stdin) : await readFile(file, 'utf8');
  } catch (cause) {
    throw unreadable(file, cause);
  }
};

/** Fails where `file` could not be written: to be asked before the work whose result it takes. */
export const requireWritable = (file: string): void => {
  try {
    const place = runSync(placeOf(file));
    accessSync(place === undefined ? file : dirname(place), constants.W_OK);
    if (place === undefined && statSync(file).isDirectory()) throw new Error('it is a directory');
  } catch (error) {
    throw targetFailure(`${file} cannot be written: ${(error as Error).message}`, error);
  }
};
