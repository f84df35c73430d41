// An ingest file as bytes: opened once, read as often as needed, uncompressed on the way. It must never give other bytes the
// second time than the first, because what is written was checked in the first reading; and never more than the limits.
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { throwIfAborted } from '../../base/errors/aborted.js';
import { aborted, TraceDbError } from '../tracedb-error.js';
import { badFile, unreadableFile } from './bad-file.js';
import { FREE_EXPANSION_BYTES, type IngestLimits } from './ingest-limits.js';

const CHUNK_BYTES = 64 * 1024;

const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be read by this user',
  EISDIR: 'is a directory; name a file',
  ELOOP: 'is a loop of symbolic links',
  ENOTDIR: 'is below something that is no directory',
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
export class IngestFile {
  readonly name: string;
  /** When it was last written, in whole milliseconds since 1970. */
  readonly modifiedMs: number;
  readonly #handle: FileHandle;
  readonly #size: number;
  readonly #writtenMs: number;
  readonly #limits: IngestLimits;
  readonly #signal: AbortSignal | undefined;

  private constructor(
    name: string,
    handle: FileHandle,
    stat: { size: number; mtimeMs: number },
    limits: IngestLimits,
    signal: AbortSignal | undefined,
  ) {
    this.name = name;
    this.modifiedMs = Math.max(0, Math.floor(stat.mtimeMs));
    this.#handle = handle;
    this.#size = stat.size;
    this.#writtenMs = stat.mtimeMs;
    this.#limits = limits;
    this.#signal = signal;
  }

  /** Open a regular file; `name` stands for it in errors. */
  static async open(path: string, name: string, limits: IngestLimits, signal?: AbortSignal): Promise<IngestFile> {
    const handle = await openFile(path, name);
    try {
      const stat = await handle.stat();
      if (stat.isDirectory()) throw unreadableFile(name, WHY.EISDIR);
      if (!stat.isFile()) throw unreadableFile(name, 'is not a regular file; save it as one, because it is read twice');
      if (stat.size === 0) throw badFile(name, '', 'is empty');
      return new IngestFile(name, handle, stat, limits, signal);
    } catch (error) {
      await handle.close();
      throw error instanceof TraceDbError ? error : cannotRead(name, error);
    }
  }

  /** The uncompressed bytes from the start; several readings may follow one another. */
  async *bytes(): AsyncGenerator<Buffer, void, undefined> {
    const packed = await this.#isGzip();
    const { maxBytes, maxExpansion } = this.#limits;
    const expanded = packed ? Math.max(FREE_EXPANSION_BYTES, this.#size * maxExpansion) : Number.POSITIVE_INFINITY;
    const limit = Math.min(maxBytes, expanded);
    let total = 0;
    for await (const chunk of packed ? this.#unpacked() : this.#raw()) {
      throwIfAborted(this.#signal, `reading ${this.name}`, aborted);
      total += chunk.length;
      if (total > limit) {
        const option = limit === maxBytes ? 'maxBytes' : 'maxExpansion';
        throw badFile(this.name, '', `becomes more than ${limit} bytes; raise ${option} if the file is trusted`);
      }
      yield chunk;
    }
  }

  /** Throws when somebody wrote to the file since it was opened. */
  async checkUnchanged(): Promise<void> {
    // Not ctime: renaming a file, as rotation does, changes nothing in it.
    const { size, mtimeMs } = await this.#handle.stat();
    if (size !== this.#size || mtimeMs !== this.#writtenMs) {
      throw badFile(this.name, '', 'was changed while it was read; try again when nobody writes to it');
    }
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  async #isGzip(): Promise<boolean> {
    const head = Buffer.alloc(2);
    await this.#read(head, 0);
    return head[0] === 0x1f && head[1] === 0x8b;
  }

  async #read(into: Buffer, position: number): Promise<{ bytesRead: number }> {
    try {
      return await this.#handle.read(into, 0, into.length, position);
    } catch (cause) {
      throw cannotRead(this.name, cause);
    }
  }

  async *#raw(): AsyncGenerator<Buffer, void, undefined> {
    for (let position = 0; position < this.#size; ) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const { bytesRead } = await this.#read(chunk, position);
      // After the read: bytes are handed on only when nobody wrote to the file until they were read.
      await this.checkUnchanged();
      if (bytesRead === 0) throw badFile(this.name, '', 'ends before its size');
      position += bytesRead;
      yield chunk.subarray(0, bytesRead);
    }
  }

  async *#unpacked(): AsyncGenerator<Buffer, void, undefined> {
    const gunzip = createGunzip();
    // The pipeline ends both sides when either fails or the reader stops early; the reader sees the error.
    pipeline(Readable.from(this.#raw()), gunzip, () => {});
    try {
      yield* gunzip as AsyncIterable<Buffer>;
    } catch (cause) {
      if (cause instanceof TraceDbError) throw cause;
      throw badFile(this.name, '', `is not a whole gzip file: ${(cause as Error).message}`, cause);
    }
  }
}
