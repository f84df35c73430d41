// The fixed parts of a graph file, byte for byte: header, table of contents, waymarks, footer. Every number read here comes from a file that
// may lie: nothing may be believed before its checksum, nor a length before it fits into the file.

import { crc32 } from 'node:zlib';
import { ByteReader } from 'spanline/internal/base';
import { BadSignatureError, CorruptError, TruncatedError, UnsupportedVersionError } from './graph-error.js';

/** Version of the format that this package writes and reads. */
export const FORMAT_VERSION = 1;
/** Features a reader must know to read a file; none exists yet. */
const KNOWN_FEATURES = 0;

const MAGIC = Buffer.from('SPLGRAF1', 'latin1');
const TAIL_MAGIC = Buffer.from('1FARGLPS', 'latin1');

export const HEADER_BYTES = 16;
export const TOC_ENTRY_BYTES = 40;
export const FOOTER_BYTES = 56;
/** Sections of one file. */
export const MAX_SECTIONS = 65_536;

/** The kinds of sections. Users of a file number theirs from 1000. */
export const SectionId = {
  meta: 1,
  dictionaryBlocks: 2,
  dictionaryIndex: 3,
  dictionaryIndexBlocks: 4,
  filter: 5,
  // Second copies, for salvage only; each stands right behind what it describes.
  metaCopy: 6,
  dictionaryIndexCopy: 7,
  references: 10,
  values: 11,
  backPointers: 12,
  nodeTable: 13,
  referenceBlocks: 14,
  valueBlocks: 15,
  backPointerBlocks: 16,
} as const;

const SECTION_NAMES: ReadonlyMap<number, string> = new Map(Object.entries(SectionId).map(([name, id]) => [id, name]));

/** The first number of a section that belongs to a user of the file. */
export const FIRST_EXTRA_SECTION = 1000;

/** The name of a section, for messages. */
export const sectionName = (id: number): string => SECTION_NAMES.get(id) ?? `section ${id}`;

/** `graph` of a section that belongs to all graphs. */
export const NO_GRAPH = 0xffff;

/** A reader that does not know this section must refuse the file. */
export const FLAG_REQUIRED = 1;
/** The body is a run of blocks that another section describes; it has no codec or checksum of its own. */
export const FLAG_BLOCKED = 2;

/** Where a section is and how it is stored. */
export interface SectionEntry {
  readonly id: number;
  readonly graph: number;
  readonly flags: number;
  readonly codec: number;
  readonly offset: number;
  readonly storedLength: number;
  readonly inflatedLength: number;
  /** CRC-32 of the stored bytes; 0 for a blocked section. */
  readonly crc: number;
}

/** What the footer says. */
interface Footer {
  readonly tocOffset: number;
  readonly tocLength: number;
  readonly tocCrc: number;
  readonly fileLength: number;
}

const unsupported = (name: string, what: string): UnsupportedVersionError =>
  new UnsupportedVersionError(`${name} ${what}; read it with a newer version of spanline`);

/** The version and the features at `at`: both ends say them, for who opens a large file sees the footer only. */
const checkVersion = (bytes: Buffer, at: number, name: string): void => {
  const version = bytes.readUInt16LE(at);
  if (version !== FORMAT_VERSION)
    throw unsupported(name, `has format version ${version}, this reader supports ${FORMAT_VERSION}`);
  const features = bytes.readUInt16LE(at + 2);
  if ((features & ~KNOWN_FEATURES) !== 0)
    throw unsupported(name, `needs features ${features.toString(2)} that this reader lacks`);
};

/** The first bytes of a file. */
export const encodeHeader = (): Buffer => {
  const bytes = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(bytes);
  bytes.writeUInt16LE(FORMAT_VERSION, 8);
  return bytes;
};

/** Throws unless `bytes` begin a file this reader can read. */
export const checkHeader = (bytes: Buffer, name: string): void => {
  if (bytes.length < HEADER_BYTES)
    throw new TruncatedError(`${name} is too short for a graph file`, HEADER_BYTES, bytes.length);
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new BadSignatureError(`${name} is not a graph file: it does not begin with ${MAGIC.toString('latin1')}`);
  }
  checkVersion(bytes, 8, name);
};

/** The last bytes of a file. */
export const encodeFooter = ({ tocOffset, tocLength, tocCrc, fileLength }: Footer): Buffer => {
  const bytes = Buffer.alloc(FOOTER_BYTES);
  bytes.writeBigUInt64LE(BigInt(tocOffset), 0);
  bytes.writeBigUInt64LE(BigInt(tocLength), 8);
  bytes.writeBigUInt64LE(BigInt(fileLength), 16);
  bytes.writeUInt32LE(tocCrc, 24);
  bytes.writeUInt16LE(FORMAT_VERSION, 28);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 44)), 44);
  TAIL_MAGIC.copy(bytes, 48);
  return bytes;
};

/** The footer at the end of `tail`, the last bytes of a file of `size` bytes. */
export const decodeFooter = (tail: Buffer, size: number, name: string): Footer => {
  if (size < HEADER_BYTES + FOOTER_BYTES) {
    throw new TruncatedError(`${name} has ${size} bytes, too few for a graph file`, HEADER_BYTES + FOOTER_BYTES, size);
  }
  const bytes = tail.subarray(tail.length - FOOTER_BYTES);
  if (!bytes.subarray(48).equals(TAIL_MAGIC)) {
    throw new BadSignatureError(`${name} does not end as a graph file does: it is cut off, or no graph file`);
  }
  if (crc32(bytes.subarray(0, 44)) !== bytes.readUInt32LE(44)) {
    throw new CorruptError(`the footer of ${name} is damaged; try spanline graph salvage`, 'footer');
  }
  checkVersion(bytes, 28, name);
  const [tocOffset, tocLength, fileLength] = [0, 8, 16].map((at) => Number(bytes.readBigUInt64LE(at)));
  if (fileLength !== size) {
    throw new TruncatedError(`${name} has ${size} bytes and says it has ${fileLength}`, fileLength, size);
  }
  const fits =
    tocOffset >= HEADER_BYTES && tocOffset + tocLength === size - FOOTER_BYTES && tocLength % TOC_ENTRY_BYTES === 0;
  if (!fits || tocLength / TOC_ENTRY_BYTES > MAX_SECTIONS) {
    throw new CorruptError(`the footer of ${name} names an impossible table of contents`, 'footer');
  }
  return { tocOffset, tocLength, tocCrc: bytes.readUInt32LE(24), fileLength };
};

/** The table of contents as bytes. */
export const encodeToc = (entries: readonly SectionEntry[]): Buffer => {
  const bytes = Buffer.alloc(entries.length * TOC_ENTRY_BYTES);
  entries.forEach((entry, i) => {
    const at = i * TOC_ENTRY_BYTES;
    bytes.writeUInt16LE(entry.id, at);
    bytes.writeUInt16LE(entry.graph, at + 2);
    bytes.writeUInt16LE(entry.flags, at + 4);
    bytes.writeUInt8(entry.codec, at + 6);
    bytes.writeBigUInt64LE(BigInt(entry.offset), at + 8);
    bytes.writeBigUInt64LE(BigInt(entry.storedLength), at + 16);
    bytes.writeBigUInt64LE(BigInt(entry.inflatedLength), at + 24);
    bytes.writeUInt32LE(entry.crc, at + 32);
  });
  return bytes;
};

/** One entry of a table of contents, whose checksum was right. */
const decodeEntry = (bytes: Buffer, at: number): SectionEntry => {
  const [offset, storedLength, inflatedLength] = [8, 16, 24].map((field) => Number(bytes.readBigUInt64LE(at + field)));
  return {
    id: bytes.readUInt16LE(at),
    graph: bytes.readUInt16LE(at + 2),
    flags: bytes.readUInt16LE(at + 4),
    codec: bytes.readUInt8(at + 6),
    offset,
    storedLength,
    inflatedLength,
    crc: bytes.readUInt32LE(at + 32),
  };
};

/** The sections of a file, checked to lie inside it. */
export const decodeToc = (bytes: Buffer, { tocCrc, tocOffset }: Footer, name: string): SectionEntry[] => {
  if (crc32(bytes) !== tocCrc) {
    throw new CorruptError(`the table of contents of ${name} is damaged; try spanline graph salvage`, 'toc');
  }
  const entries: SectionEntry[] = [];
  for (let at = 0; at < bytes.length; at += TOC_ENTRY_BYTES) {
    const entry = decodeEntry(bytes, at);
    const { offset, storedLength } = entry;
    if (offset < HEADER_BYTES || offset + storedLength > tocOffset) {
      throw new CorruptError(`${sectionName(entry.id)} of ${name} lies outside the file`, sectionName(entry.id));
    }
    if (!SECTION_NAMES.has(entry.id) && (entry.flags & FLAG_REQUIRED) !== 0)
      throw unsupported(name, `needs ${sectionName(entry.id)}`);
    entries.push(entry);
  }
  return entries;
};

// Waymarks: entries of the table of contents, repeated behind the sections they describe, so that a file whose end is lost can be read as
// far as it goes. Readers never look at them; salvage searches for them, and believes those whose checksum is right.

const WAYMARK_MAGIC = Buffer.from('SPLMARK1', 'latin1');

/** Magic, an entry, and the CRC-32 of the entry. */
export const WAYMARK_BYTES = WAYMARK_MAGIC.length + TOC_ENTRY_BYTES + 4;

/** The waymarks of `entries`, one behind the other. */
export const encodeWaymarks = (entries: readonly SectionEntry[]): Buffer =>
  Buffer.concat(
    entries.map((entry) => {
      const body = encodeToc([entry]);
      const crc = Buffer.alloc(4);
      crc.writeUInt32LE(crc32(body));
      return Buffer.concat([WAYMARK_MAGIC, body, crc]);
    }),
  );

/** The sections whose waymarks stand in `bytes`, which begin at `offset` of the file. */
export const findWaymarks = (bytes: Buffer, offset: number): SectionEntry[] => {
  const found: SectionEntry[] = [];
  for (
    let at = bytes.indexOf(WAYMARK_MAGIC);
    at >= 0 && at + WAYMARK_BYTES <= bytes.length;
    at = bytes.indexOf(WAYMARK_MAGIC, at + 1)
  ) {
    const body = bytes.subarray(at + WAYMARK_MAGIC.length, at + WAYMARK_BYTES - 4);
    if (crc32(body) !== bytes.readUInt32LE(at + WAYMARK_BYTES - 4)) continue;
    const entry = decodeEntry(body, 0);
    // Waymarks stand behind their sections.
    if (entry.offset >= HEADER_BYTES && entry.offset + entry.storedLength <= offset + at) found.push(entry);
  }
  return found;
};

/** Reads `bytes`; `what` names them in errors, `section` and `block` say where they are. */
export const sectionReader = (bytes: Uint8Array, what: string, section: string, block?: number): ByteReader =>
  new ByteReader(bytes, (reason) => new CorruptError(`${what} ${reason}`, section, block));
