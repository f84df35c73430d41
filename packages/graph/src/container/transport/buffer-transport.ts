// A graph file in memory. It counts as a file would, so that what a test measures on a buffer holds for a file. It must never copy:
// what it hands out are views of the buffer.
import { ClosedError } from '../graph-error.js';
import { checkGap, readMerged, tailRange } from './range-plan.js';
import {
  type ByteRange,
  checkSignal,
  type SyncTransport,
  type Tail,
  type TransportReadOptions,
  type TransportStats,
} from './transport.js';

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
    const size = this.#bytes.length;
    const tail = tailRange(length, size, this.name);
    this.#counts.ranges++;
    return { bytes: this.#take(tail), offset: tail.offset, size };
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
