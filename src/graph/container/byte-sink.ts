// Where a graph file is written: memory, or a file that appears whole or not at all. A sink must leave nothing behind when it is
// aborted.

import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, realpathSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ClosedError, TransportError } from '../graph-error.js';

/** Takes bytes one after the other. */
export interface ByteSink {
  /** Bytes written so far. */
  readonly position: number;
  write(bytes: Uint8Array): void;
  /** Everything is written: make it visible, durably. */
  finish(): void;
  /** Forget everything; harmless after `finish`. */
  abort(): void;
}

/**
 * Keeps the file in memory: for small files, tests, and what is sent elsewhere.
 *
 * @example
 * ```ts
 * import { BufferSink, CompactGraphBuilder } from 'spanline/graph';
 * const sink = new BufferSink();
 * await new CompactGraphBuilder(sink, { graphs: [{ referenceLists: 0, order: 'child-first' }] }).finish();
 * console.assert(sink.toBuffer().length === sink.position);
 * ```
 */
export class BufferSink implements ByteSink {
  private chunks: Uint8Array[] = [];
  private isFinished = false;
  position = 0;

  write(bytes: Uint8Array): void {
    if (this.isFinished) throw new ClosedError('the buffer is finished already');
    // Writers reuse their buffers.
    this.chunks.push(Uint8Array.from(bytes));
    this.position += bytes.length;
  }

  finish(): void {
    this.isFinished = true;
  }

  abort(): void {
    if (this.isFinished) return;
    this.chunks = [];
    this.position = 0;
  }

  /** The whole file. */
  toBuffer(): Buffer {
    const whole = Buffer.concat(this.chunks);
    this.chunks = [whole];
    return whole;
  }
}

const BUFFER_BYTES = 1024 * 1024;

const failed = (path: string, cause: unknown): TransportError =>
  new TransportError(`${path} cannot be written: ${(cause as Error).message}; nothing of it was left behind`, {
    cause,
  });

/** Makes a rename survive a power failure. Not every file system can sync a directory; those that cannot need not. */
const syncDirectory = (path: string): void => {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, 'r');
    fsyncSync(descriptor);
  } catch {
    // The file itself is synced; only its name may be the old one after a power failure.
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
};

/** For clearing up: the failure that led here is the one to report. */
const removeQuietly = (path: string): void => {
  try {
    rmSync(path, { force: true });
  } catch {
    // A directory that cannot be written keeps the file; nobody reads its name.
  }
};

/**
 * Where a file of this name lies: links are followed, so that `/dev/stdout` is never replaced. What is no regular file cannot be renamed onto:
 * a pipe would get nothing, and `/dev/null` be gone.
 */
const placeOf = (path: string): string => {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return path;
  if (!found.isFile()) throw new Error('it is no regular file');
  return realpathSync(path);
};

/**
 * Writes beside `path` under a temporary name, and renames at the end: readers see the old file or the whole new one.
 *
 * Builders that are given a path make one of their own. Throws `TransportError` when the disk refuses, and has left nothing behind then.
 *
 * @example
 * ```ts
 * import { existsSync, mkdtempSync } from 'node:fs';
 * import { tmpdir } from 'node:os';
 * import { join } from 'node:path';
 * import { AtomicFileSink } from 'spanline/graph';
 * const path = join(mkdtempSync(join(tmpdir(), 'graph-')), 'file');
 * const sink = new AtomicFileSink(path);
 * sink.write(Buffer.from('bytes'));
 * console.assert(!existsSync(path));
 * sink.finish();
 * console.assert(existsSync(path));
 * ```
 */
export class AtomicFileSink implements ByteSink {
  position = 0;
  private readonly place: string;
  private readonly temporary: string;
  private descriptor: number | undefined;
  private readonly buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  private buffered = 0;

  constructor(readonly path: string) {
    try {
      this.place = placeOf(path);
      const name = `.${basename(this.place)}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`;
      this.temporary = join(dirname(this.place), name);
      this.descriptor = openSync(this.temporary, 'wx');
    } catch (cause) {
      throw failed(path, cause);
    }
  }

  write(bytes: Uint8Array): void {
    if (this.descriptor === undefined) throw new ClosedError(`${this.path} is finished or aborted already`);
    if (this.buffered + bytes.length > BUFFER_BYTES) this.flush();
    if (bytes.length > BUFFER_BYTES) this.writeAll(bytes);
    else {
      this.buffer.set(bytes, this.buffered);
      this.buffered += bytes.length;
    }
    this.position += bytes.length;
  }

  finish(): void {
    if (this.descriptor === undefined) throw new ClosedError(`${this.path} is finished or aborted already`);
    try {
      this.flush();
      const descriptor = this.descriptor;
      fsyncSync(descriptor);
      // Whatever closing says, the descriptor is gone afterwards.
      this.descriptor = undefined;
      closeSync(descriptor);
      renameSync(this.temporary, this.place);
      syncDirectory(dirname(this.place));
    } catch (cause) {
      this.abort();
      removeQuietly(this.temporary);
      throw cause instanceof TransportError ? cause : failed(this.path, cause);
    }
  }

  abort(): void {
    if (this.descriptor === undefined) return;
    const descriptor = this.descriptor;
    this.descriptor = undefined;
    try {
      closeSync(descriptor);
    } catch {
      // The bytes are not wanted any more.
    }
    removeQuietly(this.temporary);
  }

  private flush(): void {
    this.writeAll(this.buffer.subarray(0, this.buffered));
    this.buffered = 0;
  }

  private writeAll(bytes: Uint8Array): void {
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.descriptor as number, bytes, at);
    } catch (cause) {
      this.abort();
      throw failed(this.path, cause);
    }
  }
}
