// Reads a container: one read of the tail brings footer, table of contents and, usually, all that describes the rest. Every byte is
// checked before it is used; nothing outside the file is ever asked for.

import { wholeNumber } from 'spanline/internal/base';
import { isClustered } from './cluster-map.js';
import { checkForm, DEFAULT_MAX_INFLATED_BYTES, type Place, restore, type StoredForm } from './codec.js';
import { BadOptionsError, badOptions, CorruptError, isDamage, NotFoundError } from './graph-error.js';
import {
  checkHeader,
  decodeFooter,
  decodeToc,
  FLAG_BLOCKED,
  FOOTER_BYTES,
  HEADER_BYTES,
  NO_GRAPH,
  type SectionEntry,
  sectionName,
} from './layout.js';
import { ClusteredTransport } from './transport/clustered-transport.js';
import {
  type ByteRange,
  beforeTail,
  checkSignal,
  longerTail,
  type SyncTransport,
  type Tail,
  type Transport,
  type TransportReadOptions,
} from './transport/transport.js';

/** How a container is opened. */
export interface ContainerOptions extends TransportReadOptions {
  /** Bytes of the first read. Default 64 KiB. */
  readonly tailBytes?: number;
  /** Inflated bytes of one block or section at most. Default 64 MiB. */
  readonly maxBlockBytes?: number;
}

/** A block to read. */
export interface BlockRef extends StoredForm {
  readonly offset: number;
  /** Section id and number of the block, for messages. */
  readonly section: number;
  readonly block: number;
}

/**
 * An operation that needs bytes of a container, written once and run either way: it yields ranges, is resumed with their bytes as stored and
 * unchecked, by a promise or at once, and returns its result. It must not know which, and cannot catch what a read throws.
 */
export type Reading<T> = Generator<readonly ByteRange[], T, readonly Buffer[]>;

const DEFAULT_TAIL_BYTES = 64 * 1024;

const boundsOf = (options: ContainerOptions): { readonly tailBytes: number; readonly maxBlockBytes: number } => {
  const { tailBytes = DEFAULT_TAIL_BYTES, maxBlockBytes = DEFAULT_MAX_INFLATED_BYTES } = options;
  wholeNumber('tailBytes', tailBytes, [1], badOptions);
  wholeNumber('maxBlockBytes', maxBlockBytes, [1], badOptions);
  return { tailBytes: Math.max(FOOTER_BYTES, tailBytes), maxBlockBytes };
};

/** `transport`, if it answers at once. */
const asSync = (transport: Transport): SyncTransport => {
  if ('readRangesSync' in transport && 'readTailSync' in transport) return transport as SyncTransport;
  throw new BadOptionsError(`${transport.name} can only be waited for: use the method without Sync, or a local file`);
};

/** What reads a file, or the logical one that it is clustered of, and the end of that. */
interface Ended<T extends Transport = Transport> {
  readonly transport: T;
  readonly tail: Tail;
  readonly storedSize: number;
}

const logicalFile = async (
  transport: Transport,
  tailBytes: number,
  options: TransportReadOptions,
): Promise<Ended<Transport>> => {
  const end = await transport.readTail(tailBytes, options);
  if (!isClustered(end.bytes)) return { transport, tail: end, storedSize: end.size };
  const missing = ClusteredTransport.missing(end, transport.name);
  const more = missing === undefined ? undefined : await transport.readRanges([missing], options);
  const logical = new ClusteredTransport(transport, end, more?.[0]);
  const atHand = logical.end;
  const tail = atHand.bytes.length < FOOTER_BYTES ? await logical.readTail(tailBytes, options) : atHand;
  return { transport: logical, tail, storedSize: end.size };
};

/** The logical file of a local one that ends so, where that is clustered. */
export const logicalOfSync = (transport: SyncTransport, end: Tail): ClusteredTransport | undefined => {
  if (!isClustered(end.bytes)) return undefined;
  const missing = ClusteredTransport.missing(end, transport.name);
  const more = missing === undefined ? undefined : transport.readRangesSync([missing]);
  return new ClusteredTransport(transport, end, more?.[0]);
};

const logicalFileSync = (transport: SyncTransport, tailBytes: number): Ended<SyncTransport> => {
  const end = transport.readTailSync(tailBytes);
  const logical = logicalOfSync(transport, end);
  if (logical === undefined) return { transport, tail: end, storedSize: end.size };
  return { transport: logical, tail: logical.readTailSync(tailBytes), storedSize: end.size };
};

/**
 * The sections of one file, each checked when it is read.
 *
 * `CompactGraph` has one as `container`; open one by hand for a file that is not a graph, or to read sections of your own. Rejects with
 * `BadSignatureError`, `TruncatedError`, `CorruptError`, `UnsupportedVersionError`, and `LimitError` for a section larger than
 * `maxBlockBytes`.
 *
 * @example
 * ```ts
 * import { BufferSink, BufferTransport, CompactGraphBuilder, Container, SectionId } from '@spanline/graph';
 * const sink = new BufferSink();
 * await new CompactGraphBuilder(sink, { graphs: [{ referenceLists: 0, order: 'child-first' }] }).finish();
 * const container = await Container.open(new BufferTransport(sink.toBuffer()));
 * console.assert(container.find(SectionId.meta) !== undefined);
 * ```
 */
export class Container {
  readonly #tail: Tail;

  private constructor(
    /** Of a clustered file it reads the logical one. */
    readonly transport: Transport,
    /** Bytes of the file; of a clustered one, of the logical file. */
    readonly size: number,
    /** Bytes of the file as it is stored. */
    readonly storedSize: number,
    readonly sections: readonly SectionEntry[],
    tail: Tail,
    readonly maxBlockBytes: number,
  ) {
    this.#tail = tail;
  }

  /** Open by one read of the tail, two when the table of contents is longer than that. */
  static async open(transport: Transport, options: ContainerOptions = {}): Promise<Container> {
    const { tailBytes, maxBlockBytes } = boundsOf(options);
    try {
      const ended = await logicalFile(transport, tailBytes, options);
      const missing = Container.#missingToc(ended.tail, transport.name);
      const more = missing === undefined ? undefined : await ended.transport.readRanges([missing], options);
      return Container.#fromTail(ended, more?.[0], maxBlockBytes);
    } catch (error) {
      if (isDamage(error)) transport.forget?.({ offset: 0, length: Number.MAX_SAFE_INTEGER });
      throw error;
    }
  }

  /** The same at once, for local files. */
  static openSync(transport: SyncTransport, options: ContainerOptions = {}): Container {
    const { tailBytes, maxBlockBytes } = boundsOf(options);
    const ended = logicalFileSync(asSync(transport), tailBytes);
    const missing = Container.#missingToc(ended.tail, transport.name);
    const more = missing === undefined ? undefined : ended.transport.readRangesSync([missing]);
    return Container.#fromTail(ended, more?.[0], maxBlockBytes);
  }

  /** A file whose sections were found some other way; nothing of it has been read yet. */
  static ofSections(
    transport: Transport,
    size: number,
    sections: readonly SectionEntry[],
    { maxBlockBytes = DEFAULT_MAX_INFLATED_BYTES }: ContainerOptions = {},
  ): Container {
    const tail = { bytes: Buffer.alloc(0), offset: size, size };
    return new Container(transport, size, size, sections, tail, maxBlockBytes);
  }

  static #missingToc(tail: Tail, name: string): ByteRange | undefined {
    return beforeTail(tail, decodeFooter(tail.bytes, tail.size, name).tocOffset);
  }

  static #fromTail(
    { transport, tail: read, storedSize }: Ended,
    before: Buffer | undefined,
    maxBlockBytes: number,
  ): Container {
    const tail = longerTail(read, before);
    const footer = decodeFooter(tail.bytes, tail.size, transport.name);
    if (tail.offset === 0) checkHeader(tail.bytes.subarray(0, HEADER_BYTES), transport.name);
    const toc = tail.bytes.subarray(footer.tocOffset - tail.offset, footer.tocOffset - tail.offset + footer.tocLength);
    const sections = decodeToc(toc, footer, transport.name);
    return new Container(transport, tail.size, storedSize, sections, tail, maxBlockBytes);
  }

  /** A section, if the file has it. */
  find(id: number, graph = NO_GRAPH): SectionEntry | undefined {
    return this.sections.find((entry) => entry.id === id && entry.graph === graph);
  }

  /** A section the file must have. */
  need(id: number, graph = NO_GRAPH): SectionEntry {
    const entry = this.find(id, graph);
    if (entry !== undefined) return entry;
    throw new NotFoundError(
      `${this.transport.name} has no ${sectionName(id)}${graph === NO_GRAPH ? '' : ` of graph ${graph}`}`,
    );
  }

  /** The bytes of whole sections, in one batch of reads. */
  read(entries: readonly SectionEntry[], options?: TransportReadOptions): Promise<Buffer[]> {
    return this.run(this.sectionBytes(entries), options);
  }

  readSync(entries: readonly SectionEntry[]): Buffer[] {
    return this.runSync(this.sectionBytes(entries));
  }

  /** The bytes of blocks, in one batch of reads. */
  readBlocks(blocks: readonly BlockRef[], options?: TransportReadOptions): Promise<Buffer[]> {
    return this.run(this.blockBytes(blocks), options);
  }

  readBlocksSync(blocks: readonly BlockRef[]): Buffer[] {
    return this.runSync(this.blockBytes(blocks));
  }

  /** What `read` does, as a part of a larger reading. */
  *sectionBytes(entries: readonly SectionEntry[]): Reading<Buffer[]> {
    const stored = yield entries.map((entry) => this.#sectionRange(entry));
    return entries.map((entry, i) => this.#restoreSection(entry, stored[i]));
  }

  /** What `readBlocks` does, as a part of a larger reading. */
  *blockBytes(blocks: readonly BlockRef[]): Reading<Buffer[]> {
    const stored = yield blocks.map((block) => this.#blockRange(block));
    return blocks.map((block, i) => this.restoreBlock(block, stored[i]));
  }

  /** Run a reading over any transport. */
  async run<T>(reading: Reading<T>, options?: TransportReadOptions): Promise<T> {
    let step = reading.next();
    while (step.done !== true) {
      checkSignal(this.transport.name, options);
      step = reading.next(await this.readStored(step.value, options));
    }
    return step.value;
  }

  /** The same over a local file, at once. */
  runSync<T>(reading: Reading<T>): T {
    let step = reading.next();
    while (step.done !== true) step = reading.next(this.readStoredSync(step.value));
    return step.value;
  }

  /** Stored bytes as they are in the file, unchecked: for readers that take many blocks in one stretch. */
  async readStored(ranges: readonly ByteRange[], options?: TransportReadOptions): Promise<Buffer[]> {
    const missing = ranges.map((range) => this.#beforeTail(range)).filter(({ length }) => length > 0);
    const fetched = missing.length === 0 ? [] : await this.transport.readRanges(missing, options);
    return this.#assembled(ranges, fetched);
  }

  readStoredSync(ranges: readonly ByteRange[]): Buffer[] {
    const missing = ranges.map((range) => this.#beforeTail(range)).filter(({ length }) => length > 0);
    const fetched = missing.length === 0 ? [] : asSync(this.transport).readRangesSync(missing);
    return this.#assembled(ranges, fetched);
  }

  /** What of a range is not in the tail. */
  #beforeTail({ offset, length }: ByteRange): ByteRange {
    return { offset, length: Math.max(0, Math.min(length, this.#tail.offset - offset)) };
  }

  /** The bytes of `ranges`, whose parts before the tail were `fetched`. */
  #assembled(ranges: readonly ByteRange[], fetched: readonly Buffer[]): Buffer[] {
    const { bytes, offset: tailOffset } = this.#tail;
    let next = 0;
    return ranges.map((range) => {
      const { length: before } = this.#beforeTail(range);
      const first = before === 0 ? undefined : fetched[next++];
      if (first !== undefined && before === range.length) return first;
      const start = Math.max(0, range.offset - tailOffset);
      const rest = bytes.subarray(start, start + range.length - before);
      return first === undefined ? rest : Buffer.concat([first, rest]);
    });
  }

  /** Bytes behind one block's stored form, checked. */
  restoreBlock(block: BlockRef, stored: Buffer): Buffer {
    return this.restored(stored, block, this.#placeOf(block.section, block.block));
  }

  #restoreSection(entry: SectionEntry, stored: Buffer): Buffer {
    if ((entry.flags & FLAG_BLOCKED) !== 0) return stored;
    return this.restored(stored, entry, this.#placeOf(entry.id));
  }

  /**
   * Bytes behind a stored form, checked; damaged ones are kept for nobody.
   * @internal
   */
  restored(stored: Buffer, form: StoredForm & Pick<ByteRange, 'offset'>, place: Place): Buffer {
    try {
      return restore(stored, form, place, this.maxBlockBytes);
    } catch (error) {
      this.transport.forget?.({ offset: form.offset, length: form.storedLength });
      throw error;
    }
  }

  #placeOf(section: number, block?: number): Place {
    return { file: this.transport.name, section: sectionName(section), block };
  }

  #sectionRange(entry: SectionEntry): ByteRange {
    if ((entry.flags & FLAG_BLOCKED) === 0) checkForm(entry, this.#placeOf(entry.id), this.maxBlockBytes);
    return { offset: entry.offset, length: entry.storedLength };
  }

  #blockRange(ref: BlockRef): ByteRange {
    const { offset, storedLength, section, block } = ref;
    if (!(offset >= HEADER_BYTES && storedLength >= 0 && offset + storedLength <= this.size)) {
      throw new CorruptError(
        `block ${block} of ${sectionName(section)} of ${this.transport.name} lies outside the file`,
        sectionName(section),
        block,
      );
    }
    checkForm(ref, this.#placeOf(section, block), this.maxBlockBytes);
    return { offset, length: storedLength };
  }
}
