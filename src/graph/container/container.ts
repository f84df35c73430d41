// Reads a container: one read of the tail brings footer, table of contents and, usually, all that describes the rest. Every byte is
// checked before it is used; nothing outside the file is ever asked for.
import { BadOptionsError, CorruptError, NotFoundError } from '../graph-error.js';
import type { ByteRange, SyncTransport, Tail, Transport, TransportReadOptions } from '../transport/transport.js';
import { checkForm, DEFAULT_MAX_INFLATED_BYTES, type Place, restore, type StoredForm } from './codec.js';
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

const DEFAULT_TAIL_BYTES = 64 * 1024;
const MIN_TAIL_BYTES = FOOTER_BYTES;

const boundsOf = (options: ContainerOptions): { readonly tailBytes: number; readonly maxBlockBytes: number } => {
  const { tailBytes = DEFAULT_TAIL_BYTES, maxBlockBytes = DEFAULT_MAX_INFLATED_BYTES } = options;
  for (const [name, value] of Object.entries({ tailBytes, maxBlockBytes })) {
    if (!(Number.isSafeInteger(value) && value > 0)) {
      throw new BadOptionsError(`${name} is ${value}, it must be a whole number of bytes`);
    }
  }
  return { tailBytes: Math.max(MIN_TAIL_BYTES, tailBytes), maxBlockBytes };
};

/** The sections of one file. */
export class Container {
  private constructor(
    readonly transport: Transport,
    /** Bytes of the file. */
    readonly size: number,
    readonly sections: readonly SectionEntry[],
    private readonly tail: Tail,
    readonly maxBlockBytes: number,
  ) {}

  /** Open by one read of the tail, two when the table of contents is longer than that. */
  static async open(transport: Transport, options: ContainerOptions = {}): Promise<Container> {
    const { tailBytes, maxBlockBytes } = boundsOf(options);
    const tail = await transport.readTail(tailBytes, options);
    const missing = Container.missingToc(tail, transport.name);
    const more = missing === undefined ? undefined : await transport.readRanges([missing], options);
    return Container.fromTail(transport, tail, more?.[0], maxBlockBytes);
  }

  /** The same at once, for local files. */
  static openSync(transport: SyncTransport, options: ContainerOptions = {}): Container {
    const { tailBytes, maxBlockBytes } = boundsOf(options);
    const tail = transport.readTailSync(tailBytes);
    const missing = Container.missingToc(tail, transport.name);
    const more = missing === undefined ? undefined : transport.readRangesSync([missing]);
    return Container.fromTail(transport, tail, more?.[0], maxBlockBytes);
  }

  private static missingToc(tail: Tail, name: string): ByteRange | undefined {
    const { tocOffset } = decodeFooter(tail.bytes, tail.size, name);
    return tocOffset >= tail.offset ? undefined : { offset: tocOffset, length: tail.offset - tocOffset };
  }

  private static fromTail(
    transport: Transport,
    read: Tail,
    before: Buffer | undefined,
    maxBlockBytes: number,
  ): Container {
    const tail =
      before === undefined
        ? read
        : { ...read, bytes: Buffer.concat([before, read.bytes]), offset: read.offset - before.length };
    const footer = decodeFooter(tail.bytes, tail.size, transport.name);
    if (tail.offset === 0) checkHeader(tail.bytes.subarray(0, HEADER_BYTES), transport.name);
    const toc = tail.bytes.subarray(footer.tocOffset - tail.offset, footer.tocOffset - tail.offset + footer.tocLength);
    return new Container(transport, tail.size, decodeToc(toc, footer, transport.name), tail, maxBlockBytes);
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
  async read(entries: readonly SectionEntry[], options?: TransportReadOptions): Promise<Buffer[]> {
    const stored = await this.readStored(
      entries.map((entry) => this.sectionRange(entry)),
      options,
    );
    return entries.map((entry, i) => this.restoreSection(entry, stored[i]));
  }

  readSync(entries: readonly SectionEntry[]): Buffer[] {
    const stored = this.readStoredSync(entries.map((entry) => this.sectionRange(entry)));
    return entries.map((entry, i) => this.restoreSection(entry, stored[i]));
  }

  /** The bytes of blocks, in one batch of reads. */
  async readBlocks(blocks: readonly BlockRef[], options?: TransportReadOptions): Promise<Buffer[]> {
    const stored = await this.readStored(
      blocks.map((block) => this.blockRange(block)),
      options,
    );
    return blocks.map((block, i) => this.restoreBlock(block, stored[i]));
  }

  readBlocksSync(blocks: readonly BlockRef[]): Buffer[] {
    const stored = this.readStoredSync(blocks.map((block) => this.blockRange(block)));
    return blocks.map((block, i) => this.restoreBlock(block, stored[i]));
  }

  /** Stored bytes as they are in the file, unchecked: for readers that take many blocks in one stretch. */
  async readStored(ranges: readonly ByteRange[], options?: TransportReadOptions): Promise<Buffer[]> {
    const outside = ranges.filter((range) => !this.isInTail(range));
    const fetched = outside.length === 0 ? [] : await this.transport.readRanges(outside, options);
    let next = 0;
    return ranges.map((range) => (this.isInTail(range) ? this.fromTailBytes(range) : fetched[next++]));
  }

  readStoredSync(ranges: readonly ByteRange[]): Buffer[] {
    const outside = ranges.filter((range) => !this.isInTail(range));
    const fetched = outside.length === 0 ? [] : (this.transport as SyncTransport).readRangesSync(outside);
    let next = 0;
    return ranges.map((range) => (this.isInTail(range) ? this.fromTailBytes(range) : fetched[next++]));
  }

  /** Bytes behind one block's stored form, checked. */
  restoreBlock(block: BlockRef, stored: Buffer): Buffer {
    return restore(stored, block, this.placeOf(block.section, block.block), this.maxBlockBytes);
  }

  private restoreSection(entry: SectionEntry, stored: Buffer): Buffer {
    if ((entry.flags & FLAG_BLOCKED) !== 0) return stored;
    return restore(stored, entry, this.placeOf(entry.id), this.maxBlockBytes);
  }

  private placeOf(section: number, block?: number): Place {
    return { file: this.transport.name, section: sectionName(section), block };
  }

  private sectionRange(entry: SectionEntry): ByteRange {
    if ((entry.flags & FLAG_BLOCKED) === 0) checkForm(entry, this.placeOf(entry.id), this.maxBlockBytes);
    return { offset: entry.offset, length: entry.storedLength };
  }

  private blockRange(ref: BlockRef): ByteRange {
    const { offset, storedLength, section, block } = ref;
    if (!(offset >= HEADER_BYTES && storedLength >= 0 && offset + storedLength <= this.size)) {
      throw new CorruptError(
        `block ${block} of ${sectionName(section)} of ${this.transport.name} lies outside the file`,
        sectionName(section),
        block,
      );
    }
    checkForm(ref, this.placeOf(section, block), this.maxBlockBytes);
    return { offset, length: storedLength };
  }

  private isInTail({ offset, length }: ByteRange): boolean {
    return offset >= this.tail.offset && offset + length <= this.tail.size;
  }

  private fromTailBytes({ offset, length }: ByteRange): Buffer {
    const start = offset - this.tail.offset;
    return this.tail.bytes.subarray(start, start + length);
  }
}
