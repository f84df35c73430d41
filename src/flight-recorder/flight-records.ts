// What a file of the recorder is made of: blocks, and records of JSON, one after another, each with its length and a CRC-32, so that a reader
// takes what is whole and counts what is not. A write that was cut off spoils nothing before it.
import { Block, type BlockSize, blockBytes, fromJson, HEADER_BYTES, MAGIC, toJson, VERSION, Word } from './block.js';

const JSON_MAGIC = 0x4a465053;
const JSON_HEADER_BYTES = 16;

const crc32 = (bytes: Uint8Array): number => process.getBuiltinModule('node:zlib').crc32(bytes) | 0;

/** A block as it is written: its header with the sum, and the rest as it lies in memory. */
export const blockParts = (block: Block): readonly [Uint8Array, Uint8Array] => {
  const { bytes } = block;
  const header = Int32Array.from(new Int32Array(block.buffer, 0, HEADER_BYTES / 4));
  const body = bytes.subarray(HEADER_BYTES);
  header[Word.crc] = crc32(body);
  return [new Uint8Array(header.buffer), body];
};

/** A record of what has no rows. Its length is a multiple of eight, as that of a block. */
export const jsonRecord = (value: unknown): Buffer => {
  const text = toJson(value);
  const used = Buffer.byteLength(text);
  const record = Buffer.alloc(JSON_HEADER_BYTES + Math.ceil(used / 8) * 8, ' ');
  record.writeInt32LE(JSON_MAGIC, 0);
  record.writeInt32LE(VERSION, 4);
  record.writeInt32LE(record.length, 8);
  record.write(text, JSON_HEADER_BYTES);
  record.writeInt32LE(crc32(record.subarray(JSON_HEADER_BYTES)), 12);
  return record;
};

/** What a file holds. */
interface FlightRecords {
  readonly blocks: readonly Block[];
  /** Number of blocks before each JSON record, and its value. */
  readonly json: readonly (readonly [before: number, value: unknown])[];
  /** Rows, as far as their number is known, and records that were damaged or cut off. */
  readonly tornRows: number;
  /** False for a file that begins with neither. */
  readonly isKnown: boolean;
}

/** The JSON records of a kind, in order. */
export const valuesOf = <T extends { readonly kind: string }>({ json }: FlightRecords, kind: T['kind']): T[] =>
  json.map(([, value]) => value as T).filter((value) => value?.kind === kind);

/** Read as far as it is whole. */
export const readRecords = (file: Buffer): FlightRecords => {
  const blocks: Block[] = [];
  const json: [number, unknown][] = [];
  let tornRows = 0;
  let at = 0;
  while (at + JSON_HEADER_BYTES <= file.length) {
    const magic = file.readInt32LE(at);
    if (magic !== MAGIC && magic !== JSON_MAGIC) break;
    const length = file.readInt32LE(at + 8);
    if (length < JSON_HEADER_BYTES || length % 8 !== 0) break;
    const isWhole = at + length <= file.length;
    if (magic === JSON_MAGIC) {
      const body = file.subarray(at + JSON_HEADER_BYTES, at + length);
      if (isWhole && crc32(body) === file.readInt32LE(at + 12)) json.push([blocks.length, fromJson(body)]);
      else tornRows++;
    } else {
      const block = isWhole ? blockAt(file, at, length) : undefined;
      if (block === undefined)
        tornRows += at + HEADER_BYTES <= file.length ? Math.max(1, file.readInt32LE(at + Word.rows * 4)) : 1;
      else blocks.push(block);
    }
    at += length;
  }
  // What follows is not a record: the rest of one that was cut off before its length was written, or damage.
  if (at < file.length && file.subarray(at).some((byte) => byte !== 0)) tornRows++;
  const isKnown = file.length >= 4 && [MAGIC, JSON_MAGIC].includes(file.readInt32LE(0));
  return { blocks, json, tornRows, isKnown };
};

const blockAt = (file: Buffer, at: number, length: number): Block | undefined => {
  if (length < HEADER_BYTES) return undefined;
  const buffer = file.buffer.slice(file.byteOffset + at, file.byteOffset + at + length) as ArrayBuffer;
  const header = new Int32Array(buffer, 0, HEADER_BYTES / 4);
  if (header[Word.version] !== VERSION) return undefined;
  if (crc32(new Uint8Array(buffer, HEADER_BYTES)) !== header[Word.crc]) return undefined;
  const size: BlockSize = {
    rows: header[Word.rows],
    entries: header[Word.entries],
    text: header[Word.text],
    meta: header[Word.meta],
    traces: header[Word.traces],
  };
  return blockBytes(size) === length ? new Block(buffer, size) : undefined;
};
