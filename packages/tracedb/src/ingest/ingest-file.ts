// An ingest file as bytes: opened once, read as often as needed, uncompressed on the way. It must never give other bytes the
// second time than the first, because what is written was checked in the first reading; and never more than the limits:
// a file must not decide how much memory or time it takes.
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { throwIfAborted } from 'spanline/internal/base';
import { aborted, TraceDbError } from '../tracedb-error.js';
import { badFile, unreadableFile } from './shape.js';

/** Bounds of reading an ingest file, each with its default in `INGEST_LIMITS`. */
export interface IngestLimits {
  /** Bytes of a document that is read as a whole, uncompressed. */
  readonly maxDocumentBytes: number;
  /** Bytes of one line of JSON lines. */
  readonly maxLineBytes: number;
  /** Bytes of any file, uncompressed. */
  readonly maxBytes: number;
  /** Bytes that one byte of a gzip file may become; counts only beyond 16 MiB. */
  readonly maxExpansion: number;
}

const MIB = 1024 * 1024;

/** The defaults: 64 MiB for a document, 16 MiB for a line, 16 GiB for a file, and 200 times its size for a gzip file. */
export const INGEST_LIMITS: IngestLimits = Object.freeze({
  maxDocumentBytes: 64 * MIB,
  maxLineBytes: 16 * MIB,
  maxBytes: 16 * 1024 * MIB,
  maxExpansion: 200,
});

/** A gzip file may always become as large as this, however small it is. */
const FREE_EXPANSION_BYTES = 16 * MIB;

/** The largest document or line that can be asked for: the engine has no longer text. */
export const LARGEST_DOCUMENT_BYTES = 512 * MIB - 24;

const CHUNK_BYTES = 64 * 1024;

const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be read by this user',
  EISDIR: 'is a directory; name a file',
  ELOOP: 'is a loop of symbolic links',
  ENOTDIR: 'is below something that is not a directory',
  ENAMETOOLONG: 'is too long a name',
};

const cannotRead = (name: string, cause: unknown): TraceDbError => {
  const { code = 'unknown', message } = cause as NodeJS.ErrnoException;
  return unreadableFile(name, WHY[code] ?? `cannot be read: ${message}`, cause);
};

const openFile = async (path: string, name: string): Promise<FileHandle> => {
  try {
    // Without O_NONBLOCK a named pipe would wait for a writer for ever. Windows has no such flag, and no such pipes.
    return await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (cause) {
    throw cannotRead(name, cause);
  }
};

/** A file that is being read. */
export interface IngestFile {
  readonly name: string;
  /** When it was last written, in whole milliseconds since 1970. */
  readonly modifiedMs: number;
  /** The uncompressed bytes from the start; several readings may follow one another. */
  bytes(): AsyncGenerator<Buffer, void, undefined>;
  close(): Promise<void>;
}

/** Reads a file of `size` bytes, last written at `mtimeMs`; throws when somebody wrote to it since it was opened. */
async function* rawBytes(
  handle: FileHandle,
  name: string,
  { size, mtimeMs }: { readonly size: number; readonly mtimeMs: number },
): AsyncGenerator<Buffer, void, undefined> {
  for (let position = 0; position < size; ) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, position).catch((cause: unknown) => {
      throw cannotRead(name, cause);
    });
    // After the read: bytes are handed on only when nobody wrote to the file until they were read. Not by ctime: renaming a file, as
    // rotation does, changes nothing in it.
    const now = await handle.stat();
    if (now.size !== size || now.mtimeMs !== mtimeMs) {
      throw badFile(name, '', 'was changed while it was read; try again when nobody writes to it');
    }
    if (bytesRead === 0) throw badFile(name, '', 'ends before its size');
    position += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}

async function* unpacked(name: string, raw: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  const gunzip = createGunzip();
  // The pipeline ends both sides when either fails or the reader stops early; the reader sees the error.
  pipeline(Readable.from(raw), gunzip, () => {});
  try {
    yield* gunzip as AsyncIterable<Buffer>;
  } catch (cause) {
    if (cause instanceof TraceDbError) throw cause;
    throw badFile(name, '', `is not a whole gzip file: ${(cause as Error).message}`, cause);
  }
}

const isGzip = async (handle: FileHandle): Promise<boolean> => {
  const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0);
  return buffer[0] === 0x1f && buffer[1] === 0x8b;
};

/** Open a regular file; `name` stands for it in errors. */
export const openRegularFile = async (
  path: string,
  name: string,
  { maxBytes, maxExpansion }: IngestLimits,
  signal?: AbortSignal,
): Promise<IngestFile> => {
  const handle = await openFile(path, name);
  try {
    const stat = await handle.stat();
    if (stat.isDirectory()) throw unreadableFile(name, WHY.EISDIR);
    if (!stat.isFile()) throw unreadableFile(name, 'is not a regular file; save it as one, because it is read twice');
    if (stat.size === 0) throw badFile(name, '', 'is empty');
    const isPacked = await isGzip(handle);
    const expanded = isPacked ? Math.max(FREE_EXPANSION_BYTES, stat.size * maxExpansion) : Number.POSITIVE_INFINITY;
    const limit = Math.min(maxBytes, expanded);
    return {
      name,
      modifiedMs: Math.max(0, Math.floor(stat.mtimeMs)),
      async *bytes() {
        const raw = rawBytes(handle, name, stat);
        let total = 0;
        for await (const chunk of isPacked ? unpacked(name, raw) : raw) {
          throwIfAborted(signal, `reading ${name}`, aborted);
          total += chunk.length;
          if (total > limit) {
            const option = limit === maxBytes ? 'maxBytes' : 'maxExpansion';
            throw badFile(name, '', `becomes more than ${limit} bytes; raise ${option} if the file is trusted`);
          }
          yield chunk;
        }
      },
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error instanceof TraceDbError ? error : cannotRead(name, error);
  }
};
