// Which traces a segment may have, as its card says it: 12 bits and a little more for each, so that one segment in 4,096 is asked for nothing. By the last
// word of an id, which is what unsorted segments list. It must never deny a trace that is there.
//
//     filter = form:byte keys:varint seed:u32 segmentBits:byte segments:varint print[...]:12 bits, two in three bytes
import { buildWideFuse, type FuseShape, hashBytes, mayContain, sectionReader, slotsOf } from '@spanline/graph/internal';
import { ByteWriter } from 'spanline/internal/base';

const FORM = 1;
const PRINT_BITS = 12;
/** Traces of a filter at most: of more any may be there. */
const MAX_TRACES = 2 ** 22;
const MAX_SEGMENT_BITS = 16;
const WORD_BYTES = 4;
/** Where the last word of an id begins. */
const WORD_AT = 12;

const hash = new Uint32Array(2);

/** A set of traces. */
export class TraceFilter {
  readonly #shape: FuseShape;
  readonly #prints: Uint16Array;
  private constructor(
    readonly keys: number,
    shape: FuseShape,
    prints: Uint16Array,
  ) {
    this.#shape = shape;
    this.#prints = prints;
  }

  /** Of traces by the last words of their ids; undefined when there can be none. */
  static of(words: Iterable<number>): TraceFilter | undefined {
    const distinct = new Set(words);
    if (distinct.size > MAX_TRACES) return undefined;
    const hashes = new Uint32Array(2 * distinct.size);
    const bytes = Buffer.alloc(WORD_BYTES);
    let at = 0;
    for (const word of distinct) {
      bytes.writeUInt32BE(word);
      hashBytes(bytes, 0, WORD_BYTES, hashes, at);
      at += 2;
    }
    const fuse = buildWideFuse(hashes, PRINT_BITS);
    return fuse && new TraceFilter(distinct.size, fuse.shape, fuse.prints);
  }

  static decode(bytes: Buffer, file: string): TraceFilter {
    const reader = sectionReader(bytes, `a filter of ${file}`, 'filter');
    const form = reader.byte();
    if (form !== FORM) throw reader.corrupt(`has an unknown form ${form}`);
    const keys = reader.varint();
    const shape = { seed: reader.uint32(), segmentBits: reader.byte(), segments: reader.varint() };
    if (shape.segmentBits > MAX_SEGMENT_BITS || shape.segments === 0) throw reader.corrupt('has an impossible shape');
    const slots = slotsOf(shape);
    if (reader.left !== packedBytes(slots)) throw reader.corrupt('has a wrong size');
    return new TraceFilter(keys, shape, unpacked(reader.raw(reader.left), slots));
  }

  encode(): Buffer {
    const { seed, segmentBits, segments } = this.#shape;
    const writer = new ByteWriter();
    writer.byte(FORM);
    writer.varint(this.keys);
    writer.uint32(seed);
    writer.byte(segmentBits);
    writer.varint(segments);
    return Buffer.concat([writer.view(), packed(this.#prints)]);
  }

  /** Whether a trace may be there, by the 16 bytes of its id. */
  mayHave(traceId: Uint8Array): boolean {
    if (this.keys === 0) return false;
    hashBytes(traceId, WORD_AT, WORD_AT + WORD_BYTES, hash, 0);
    return mayContain(this.#shape, this.#prints, 0, hash[0], hash[1], PRINT_BITS);
  }
}

const packedBytes = (slots: number): number => Math.ceil((slots * PRINT_BITS) / 8);

const packed = (prints: Uint16Array): Buffer => {
  const bytes = Buffer.alloc(packedBytes(prints.length));
  for (let i = 0; i < prints.length; i++) {
    const at = (i >>> 1) * 3;
    if (i % 2 === 0) {
      bytes[at] = prints[i] & 0xff;
      bytes[at + 1] |= prints[i] >>> 8;
    } else {
      bytes[at + 1] |= (prints[i] & 0xf) << 4;
      bytes[at + 2] = prints[i] >>> 4;
    }
  }
  return bytes;
};

const unpacked = (bytes: Uint8Array, slots: number): Uint16Array => {
  const prints = new Uint16Array(slots);
  for (let i = 0; i < slots; i++) {
    const at = (i >>> 1) * 3;
    prints[i] = i % 2 === 0 ? bytes[at] | ((bytes[at + 1] & 0xf) << 8) : (bytes[at + 1] >>> 4) | (bytes[at + 2] << 4);
  }
  return prints;
};
