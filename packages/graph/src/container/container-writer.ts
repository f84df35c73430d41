// Writes a container (header, bodies, table of contents, footer) to a sink: memory, or a file that appears whole or not at all. Bodies come one
// after the other; nothing is ever changed that was written, so the same calls give the same bytes. A sink must leave nothing behind when it is
// aborted.

import { crc32 } from 'node:zlib';
import { type FsSteps, runSync, WholeFile, wholeNumber } from 'spanline/internal/base';
import { type Compression, type Stored, store } from './codec.js';
import { BadOptionsError, badOptions, ClosedError, TransportError } from './graph-error.js';
import {
  encodeFooter,
  encodeHeader,
  encodeToc,
  encodeWaymarks,
  FLAG_BLOCKED,
  FOOTER_BYTES,
  MAX_SECTIONS,
  NO_GRAPH,
  type SectionEntry,
} from './layout.js';

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
 * import { BufferSink, CompactGraphBuilder } from '@spanline/graph';
 * const sink = new BufferSink();
 * await new CompactGraphBuilder(sink, { graphs: [{ referenceLists: 0, order: 'child-first' }] }).finish();
 * console.assert(sink.toBuffer().length === sink.position);
 * ```
 */
export class BufferSink implements ByteSink {
  #chunks: Uint8Array[] = [];
  #isFinished = false;
  position = 0;

  write(bytes: Uint8Array): void {
    if (this.#isFinished) throw new ClosedError('the buffer is finished already');
    // Writers reuse their buffers.
    this.#chunks.push(Uint8Array.from(bytes));
    this.position += bytes.length;
  }

  finish(): void {
    this.#isFinished = true;
  }

  abort(): void {
    if (this.#isFinished) return;
    this.#chunks = [];
    this.position = 0;
  }

  /** The whole file. */
  toBuffer(): Buffer {
    const whole = Buffer.concat(this.#chunks);
    this.#chunks = [whole];
    return whole;
  }
}

const BUFFER_BYTES = 1024 * 1024;

/**
 * Writes beside `path` under a temporary name, and renames at the end: readers see the old file or the whole new one.
 *
 * Builders that are given a path make one of their own. Throws `TransportError` when the disk refuses, and has left nothing behind then.
 *
 * @example
 * ```ts
 * import { existsSync } from 'node:fs';
 * import { AtomicFileSink } from '@spanline/graph';
 * const path = './words.graph';
 * const sink = new AtomicFileSink(path);
 * sink.write(Buffer.from('bytes'));
 * console.assert(!existsSync(path));
 * sink.finish();
 * console.assert(existsSync(path));
 * ```
 */
export class AtomicFileSink implements ByteSink {
  position = 0;
  readonly #file: WholeFile;
  readonly #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  #buffered = 0;

  constructor(readonly path: string) {
    this.#file = this.#run(WholeFile.open(path));
  }

  write(bytes: Uint8Array): void {
    this.#requireOpen();
    if (this.#buffered + bytes.length > BUFFER_BYTES) this.#flush();
    if (bytes.length > BUFFER_BYTES) this.#run(this.#file.write(bytes));
    else {
      this.#buffer.set(bytes, this.#buffered);
      this.#buffered += bytes.length;
    }
    this.position += bytes.length;
  }

  finish(): void {
    this.#requireOpen();
    this.#flush();
    this.#run(this.#file.finish());
  }

  abort(): void {
    runSync(this.#file.abort());
  }

  #requireOpen(): void {
    if (!this.#file.isOpen) throw new ClosedError(`${this.path} is finished or aborted already`);
  }

  #flush(): void {
    this.#run(this.#file.write(this.#buffer.subarray(0, this.#buffered)));
    this.#buffered = 0;
  }

  #run<T>(steps: FsSteps<T>): T {
    try {
      return runSync(steps);
    } catch (cause) {
      const why = (cause as Error).message;
      throw new TransportError(`${this.path} cannot be written: ${why}; nothing of it was left behind`, { cause });
    }
  }
}

/** Names a section. */
export interface SectionName {
  readonly id: number;
  /** Number of the graph it belongs to; left out: all. */
  readonly graph?: number;
  readonly flags?: number;
}

/** A block as written: what a reader needs to fetch and check it. */
export interface WrittenBlock {
  readonly offset: number;
  readonly storedLength: number;
  readonly inflatedLength: number;
  readonly codec: number;
  readonly crc: number;
}

/**
 * Writes the sections of one file to a sink.
 *
 * Use it for a file of your own sections, or for a dictionary alone; `CompactGraphBuilder` makes graph files. Throws `BadOptionsError` for
 * a section that is there already, and what the sink throws.
 *
 * @example
 * ```ts
 * import { BufferSink, BufferTransport, Container, ContainerWriter } from '@spanline/graph';
 * const sink = new BufferSink();
 * const writer = new ContainerWriter(sink);
 * writer.section({ id: 1000 }, Buffer.from('anything'));
 * writer.finish();
 * const container = await Container.open(new BufferTransport(sink.toBuffer()));
 * const [bytes] = await container.read([container.need(1000)]);
 * console.assert(bytes.toString() === 'anything');
 * ```
 */
export class ContainerWriter {
  readonly #sink: ByteSink;
  readonly #entries: SectionEntry[] = [];
  /** Sections that have waymarks. */
  #marked = 0;

  constructor(
    sink: ByteSink,
    readonly compression: Compression = 'deflate',
  ) {
    this.#sink = sink;
    sink.write(encodeHeader());
  }

  /** Where the next bytes will be. */
  get position(): number {
    return this.#sink.position;
  }

  /** Write one block of a section that `blockedSection` names afterwards. `none` saves the time of trying where nothing can be gained. */
  block(bytes: Buffer, compression = this.compression): WrittenBlock {
    return this.storedBlock(store(bytes, compression));
  }

  /** The same for bytes that are in the form to be written already. */
  storedBlock({ bytes, codec, inflatedLength, crc }: Stored): WrittenBlock {
    const offset = this.#sink.position;
    this.#sink.write(bytes);
    return { offset, storedLength: bytes.length, inflatedLength, codec, crc };
  }

  /** Name the blocks written since `start` as a section. */
  blockedSection({ id, graph = NO_GRAPH, flags = 0 }: SectionName, start: number): void {
    const length = this.#sink.position - start;
    this.#enter({
      id,
      graph,
      flags: flags | FLAG_BLOCKED,
      codec: 0,
      offset: start,
      storedLength: length,
      inflatedLength: length,
      crc: 0,
    });
  }

  /** Write a whole section. */
  section({ id, graph = NO_GRAPH, flags = 0 }: SectionName, bytes: Buffer): void {
    this.#enter({ id, graph, flags, ...this.block(bytes) });
  }

  /** Repeat what the table of contents will say of the sections since the last call: salvage finds them by it when the end is lost. */
  waymark(): void {
    this.#sink.write(encodeWaymarks(this.#entries.slice(this.#marked)));
    this.#marked = this.#entries.length;
  }

  /** Write what closes a file, and finish the sink. */
  finish(): number {
    const toc = encodeToc(this.#entries);
    const tocOffset = this.#sink.position;
    const fileLength = tocOffset + toc.length + FOOTER_BYTES;
    this.#sink.write(toc);
    this.#sink.write(encodeFooter({ tocOffset, tocLength: toc.length, tocCrc: crc32(toc), fileLength }));
    this.#sink.finish();
    return fileLength;
  }

  abort(): void {
    this.#sink.abort();
  }

  #enter(entry: SectionEntry): void {
    for (const name of ['id', 'graph', 'flags'] as const)
      wholeNumber(`${name} of a section`, entry[name], [0, 0xffff], badOptions);
    if (this.#entries.length === MAX_SECTIONS) throw new BadOptionsError(`a file has at most ${MAX_SECTIONS} sections`);
    if (this.#entries.some(({ id, graph }) => id === entry.id && graph === entry.graph)) {
      throw new BadOptionsError(`section ${entry.id} of graph ${entry.graph} was written already`);
    }
    this.#entries.push(entry);
  }
}
