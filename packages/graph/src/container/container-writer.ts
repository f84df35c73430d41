// Writes a container: header, bodies, table of contents, footer. Bodies come one after the other; nothing is ever changed that was
// written, so the same calls give the same bytes.

import { crc32 } from 'node:zlib';
import { wholeNumber } from 'spanline/internal/base';
import type { ByteSink } from './byte-sink.js';
import { type Compression, type Stored, store } from './codec.js';
import { BadOptionsError, badOptions } from './graph-error.js';
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
