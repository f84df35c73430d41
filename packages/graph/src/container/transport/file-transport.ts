// A graph file that is at hand: on a local disk, a stretch of a bigger file, or in memory, where it counts as a file would. The descriptor must
// never be closed under a read in flight, for its number may be another file's by then; what is in memory must never be copied.

import { constants, fstatSync, type Stats } from 'node:fs';
import { type FsSteps, inParallel, runAsync, runSync } from 'spanline/internal/base';
import {
  BadOptionsError,
  ChangedError,
  ClosedError,
  GraphError,
  NotFoundError,
  TransportError,
  TruncatedError,
} from '../graph-error.js';
import {
  type ByteRange,
  checkGap,
  checkRanges,
  checkSignal,
  dealOut,
  emptyResults,
  mergeRanges,
  readMerged,
  type SyncTransport,
  type Tail,
  type TransportReadOptions,
  type TransportStats,
  tailRange,
} from './transport.js';

/** Options of {@link FileTransport}. */
export interface FileTransportOptions {
  /** Byte of the file where the graph file begins. Default 0. */
  readonly offset?: number;
  /** Bytes of the graph file. Default: up to the end of the file. A bigger file may grow behind them. */
  readonly length?: number;
  /** Ranges at most this many bytes apart are read by one call. Default 8 KiB. */
  readonly gapBytes?: number;
}

const DEFAULT_GAP_BYTES = 8 * 1024;
/** As many as Node has threads for files. */
const MAX_PARALLEL = 4;
/** A single call cannot read 2 GiB. */
const MAX_READ_BYTES = 1024 * 1024 * 1024;
// Opening a pipe would wait for a writer for ever; regular files do not care.
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

const GONE = new Set(['ENOENT', 'ENOTDIR', 'ESTALE']);

const failed = (path: string, cause: unknown): GraphError => {
  if (cause instanceof GraphError) return cause;
  const { code, message } = cause as NodeJS.ErrnoException;
  return code !== undefined && GONE.has(code)
    ? new NotFoundError(`${path} is not there: ${message}`, { cause })
    : new TransportError(`${path} cannot be read: ${message}`, { cause });
};

const closing = function* (descriptor: number): FsSteps<void> {
  yield ['close', descriptor];
};

/** The stretch of a file that is the graph file. */
interface Stretch {
  readonly start: number;
  readonly length: number;
  /** Bytes the whole file must keep; undefined when it may grow. */
  readonly fileSize: number | undefined;
}

const stretchOf = (path: string, stats: Stats, { offset = 0, length }: FileTransportOptions): Stretch => {
  if (!stats.isFile()) throw new BadOptionsError(`${path} is not a regular file`);
  checkRanges([{ offset, length: length ?? 0 }], stats.size, path);
  return length === undefined
    ? { start: offset, length: stats.size - offset, fileSize: stats.size }
    : { start: offset, length, fileSize: undefined };
};

/**
 * Reads a graph file from a local disk, at once or by promises.
 *
 * What {@link openTransport} uses for paths; open it by hand to read a graph that lies inside a bigger file. A request is one read
 * call. A file that is replaced by a rename stays readable as it was; one that is changed in place gives `ChangedError` or
 * `TruncatedError`.
 *
 * @example
 * ```ts
 * import { FileTransport } from '@spanline/graph';
 * const transport = await FileTransport.open(process.execPath);
 * const [magic] = await transport.readRanges([{ offset: 0, length: 4 }]);
 * await transport.close();
 * console.assert(magic.length === 4);
 * ```
 */
export class FileTransport implements SyncTransport {
  readonly #descriptor: number;
  readonly #stretch: Stretch;
  readonly #gapBytes: number;
  readonly #counts = { requests: 0, ranges: 0, bytes: 0 };
  #closing: Promise<void> | undefined;
  readonly #inFlight = new Set<Promise<unknown>>();

  private constructor(
    readonly name: string,
    descriptor: number,
    stretch: Stretch,
    gapBytes: number,
  ) {
    this.#descriptor = descriptor;
    this.#stretch = stretch;
    this.#gapBytes = gapBytes;
  }

  static open(path: string, options: FileTransportOptions = {}): Promise<FileTransport> {
    return runAsync(FileTransport.#opening(path, options));
  }

  static openSync(path: string, options: FileTransportOptions = {}): FileTransport {
    return runSync(FileTransport.#opening(path, options));
  }

  static *#opening(path: string, options: FileTransportOptions): FsSteps<FileTransport> {
    const gapBytes = checkGap(options.gapBytes ?? DEFAULT_GAP_BYTES);
    let descriptor: number | undefined;
    try {
      const opened: number = yield ['open', path, OPEN_FLAGS];
      descriptor = opened;
      return new FileTransport(path, opened, stretchOf(path, yield ['fstat', opened], options), gapBytes);
    } catch (cause) {
      if (descriptor !== undefined) yield ['close', descriptor];
      throw failed(path, cause);
    }
  }

  async readRanges(ranges: readonly ByteRange[], options?: TransportReadOptions): Promise<Buffer[]> {
    this.#checkOpen();
    checkRanges(ranges, this.#stretch.length, this.name);
    const results = emptyResults(ranges);
    this.#counts.ranges += ranges.length;
    const reading = inParallel(mergeRanges(ranges, this.#gapBytes), MAX_PARALLEL, async (merged) => {
      checkSignal(this.name, options);
      dealOut(ranges, merged, await runAsync(this.#read(merged)), results);
    });
    this.#inFlight.add(reading);
    await reading.finally(() => this.#inFlight.delete(reading));
    checkSignal(this.name, options);
    this.#checkSize();
    return results;
  }

  async readTail(length: number, options?: TransportReadOptions): Promise<Tail> {
    this.#checkOpen();
    const range = tailRange(length, this.#stretch.length, this.name);
    const [bytes] = await this.readRanges([range], options);
    return { bytes, offset: range.offset, size: this.#stretch.length };
  }

  readRangesSync(ranges: readonly ByteRange[]): Buffer[] {
    this.#checkOpen();
    const { name } = this;
    const results = readMerged(ranges, { size: this.#stretch.length, name, gapBytes: this.#gapBytes }, (merged) =>
      runSync(this.#read(merged)),
    );
    this.#counts.ranges += ranges.length;
    this.#checkSize();
    return results;
  }

  readTailSync(length: number): Tail {
    this.#checkOpen();
    const range = tailRange(length, this.#stretch.length, this.name);
    const [bytes] = this.readRangesSync([range]);
    return { bytes, offset: range.offset, size: this.#stretch.length };
  }

  stats(): TransportStats {
    return { ...this.#counts };
  }

  /** Close the file, once the reads under way are over. Later reads throw `ClosedError`. */
  close(): Promise<void> {
    this.#closing ??= Promise.allSettled(this.#inFlight).then(() => runAsync(closing(this.#descriptor)));
    return this.#closing;
  }

  *#read({ offset, length }: ByteRange): FsSteps<Buffer> {
    const bytes = Buffer.allocUnsafeSlow(length);
    try {
      for (let at = 0; at < length; ) {
        const wanted = Math.min(length - at, MAX_READ_BYTES);
        const position = this.#stretch.start + offset + at;
        at += this.#counted(yield ['read', this.#descriptor, bytes, at, wanted, position], offset + length);
      }
    } catch (cause) {
      throw failed(this.name, cause);
    }
    return bytes;
  }

  #counted(bytesRead: number, end: number): number {
    this.#counts.requests++;
    this.#counts.bytes += bytesRead;
    if (bytesRead > 0) return bytesRead;
    const size = Math.max(0, fstatSync(this.#descriptor).size - this.#stretch.start);
    throw new TruncatedError(`${this.name} was cut to ${size} bytes while it was open, byte ${end} is gone`, end, size);
  }

  /** A call on an open descriptor is answered from memory, so it is made after every batch and not counted. */
  #checkSize(): void {
    const { fileSize } = this.#stretch;
    if (fileSize === undefined || this.#closing !== undefined) return;
    const { size } = fstatSync(this.#descriptor);
    if (size === fileSize) return;
    throw new ChangedError(`${this.name} had ${fileSize} bytes and has ${size} now: open it again`);
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new ClosedError(`${this.name} was closed: open it again`);
  }
}

/** Options of {@link BufferTransport}. */
export interface BufferTransportOptions {
  /** For messages. Default `a buffer`. */
  readonly name?: string;
  /** Ranges at most this many bytes apart count as one request. Default 8 KiB, as for files. */
  readonly gapBytes?: number;
}

/**
 * Reads a graph file that is in memory.
 *
 * For files that were built or downloaded a moment ago, and for tests. The bytes must not change afterwards.
 *
 * @example
 * ```ts
 * import { BufferTransport } from '@spanline/graph';
 * const transport = new BufferTransport(Buffer.from('hello world'));
 * const [word] = transport.readRangesSync([{ offset: 6, length: 5 }]);
 * console.assert(word.toString() === 'world' && transport.stats().requests === 1);
 * ```
 */
export class BufferTransport implements SyncTransport {
  readonly name: string;
  readonly #bytes: Buffer;
  readonly #gapBytes: number;
  readonly #counts = { requests: 0, ranges: 0, bytes: 0 };
  #isClosed = false;

  constructor(bytes: Uint8Array, { name = 'a buffer', gapBytes = 8 * 1024 }: BufferTransportOptions = {}) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.name = name;
    this.#gapBytes = checkGap(gapBytes);
  }

  async readRanges(ranges: readonly ByteRange[], options?: TransportReadOptions): Promise<Buffer[]> {
    checkSignal(this.name, options);
    return this.readRangesSync(ranges);
  }

  async readTail(length: number, options?: TransportReadOptions): Promise<Tail> {
    checkSignal(this.name, options);
    return this.readTailSync(length);
  }

  readRangesSync(ranges: readonly ByteRange[]): Buffer[] {
    this.#checkOpen();
    const { name } = this;
    const results = readMerged(ranges, { size: this.#bytes.length, name, gapBytes: this.#gapBytes }, (merged) =>
      this.#take(merged),
    );
    this.#counts.ranges += ranges.length;
    return results;
  }

  readTailSync(length: number): Tail {
    this.#checkOpen();
    const range = tailRange(length, this.#bytes.length, this.name);
    const [bytes] = this.readRangesSync([range]);
    return { bytes, offset: range.offset, size: this.#bytes.length };
  }

  stats(): TransportStats {
    return { ...this.#counts };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  #take({ offset, length }: ByteRange): Buffer {
    this.#counts.requests++;
    this.#counts.bytes += length;
    return this.#bytes.subarray(offset, offset + length);
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new ClosedError(`${this.name} was closed: open it again`);
  }
}
