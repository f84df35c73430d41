// The cells of one row and family that one entry holds, in the order of their qualifiers. Bytes from a file must be checked
// before they are believed: LMDB has no check sums.
//
//   block := 0xff cell*
//   cell  := bytes of the qualifier (varint), qualifier (UTF-8), time, bytes of the value (varint), value
//   time  := Unix milliseconds in six bytes, big-endian
import { varintLength } from 'spanline/internal/base';
import { storeCorrupt, type TraceDbError } from '../../tracedb-error.js';

const BLOCK = 0xff;
const TIME_BYTES = 6;
const MORE = 0x80;
/** A value has up to 10 MiB, so that a length has up to four bytes. */
const MAX_SHIFT = 21;
/** Up to here a copy costs less than a view, for which the engine must first make a buffer of its own of bytes kept on the heap. */
const SMALL_BYTES = 64;
/** Of most cells: a short qualifier, its time, a short value. */
const FIRST_BYTES = 64;

/** Bytes of a block above which it is split when it has two cells: four to eight fit into a page of the file. */
export const MAX_BLOCK_BYTES = 2000;

/** The timestamp at `at`, Unix milliseconds. */
const timeAt = (bytes: Buffer, at: number): number => bytes.readUIntBE(at, TIME_BYTES);

const copyOrView = (bytes: Buffer, start: number, end: number): Uint8Array =>
  end - start <= SMALL_BYTES ? Uint8Array.prototype.slice.call(bytes, start, end) : bytes.subarray(start, end);

const damaged = (): TraceDbError => storeCorrupt('a block of cells is damaged; restore a copy of the store');

/** Steps through the cells of a block; its fields describe the one it stands on. */
export class BlockCursor {
  /** Where the cell begins and ends. */
  start = 0;
  end = 1;
  #qualifierStart = 0;
  #qualifierEnd = 0;
  #valueStart = 0;

  readonly #bytes: Buffer;
  readonly #length: number;

  constructor(bytes: Buffer, length: number) {
    if (bytes[0] !== BLOCK) throw damaged();
    this.#bytes = bytes;
    this.#length = length;
  }

  /** Step to the next cell; false at the end. */
  next(): boolean {
    if (this.end === this.#length) return false;
    this.start = this.end;
    const qualifierBytes = this.#varint();
    this.#qualifierStart = this.end;
    this.#qualifierEnd = this.end + qualifierBytes;
    this.end = this.#qualifierEnd + TIME_BYTES;
    const valueBytes = this.#varint();
    this.#valueStart = this.end;
    this.end += valueBytes;
    if (this.end > this.#length) throw damaged();
    return true;
  }

  get qualifier(): string {
    return this.#bytes.toString('utf8', this.#qualifierStart, this.#qualifierEnd);
  }

  get timestampMs(): number {
    return timeAt(this.#bytes, this.#qualifierEnd);
  }

  /** The value: of a long one a view on the block, not a copy. */
  get value(): Uint8Array {
    return copyOrView(this.#bytes, this.#valueStart, this.end);
  }

  /** Negative, zero or positive as the cell's qualifier sorts before, with or after `qualifier`. */
  compare(qualifier: string): number {
    const bytes = this.#bytes;
    const qualifierStart = this.#qualifierStart;
    const qualifierEnd = this.#qualifierEnd;
    const length = qualifierEnd - qualifierStart;
    for (let i = 0; i < qualifier.length; i++) {
      const char = qualifier.charCodeAt(i);
      if (char >= MORE) return bytes.compare(Buffer.from(qualifier), 0, undefined, qualifierStart, qualifierEnd);
      if (i === length) return -1;
      const difference = (bytes[qualifierStart + i] as number) - char;
      if (difference !== 0) return difference;
    }
    return length - qualifier.length;
  }

  #varint(): number {
    let value = 0;
    for (let shift = 0; shift <= MAX_SHIFT && this.end < this.#length; shift += 7) {
      const byte = this.#bytes[this.end++] as number;
      value |= (byte & (MORE - 1)) << shift;
      if (byte < MORE) return value;
    }
    throw damaged();
  }
}

/** A block that is being changed. Its bytes are its own. */
export class CellBlock {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 1;

  constructor() {
    this.#bytes[0] = BLOCK;
  }

  /** Make it hold the cells of an entry, or none. */
  reset(entry?: Buffer): void {
    this.#length = entry?.length ?? 1;
    if (entry === undefined) return;
    this.#reserve(0);
    this.#bytes.set(entry);
  }

  get isEmpty(): boolean {
    return this.#length === 1;
  }

  /** Whether it should be more than one. */
  get isTooLong(): boolean {
    return this.#length > MAX_BLOCK_BYTES && this.cursor(1).end < this.#length;
  }

  /** Whether it should be split before it takes more: with each cell all that sorts behind it moves. */
  get isFarTooLong(): boolean {
    return this.#length > 4 * MAX_BLOCK_BYTES && this.isTooLong;
  }

  /** A cursor that has made `steps` steps. */
  cursor(steps = 0): BlockCursor {
    const cursor = new BlockCursor(this.#bytes, this.#length);
    for (let i = 0; i < steps; i++) cursor.next();
    return cursor;
  }

  /** Set a cell unless a newer one is there. */
  set(qualifier: string, value: Uint8Array, timestampMs: number): void {
    const cursor = this.cursor();
    const order = this.#seek(cursor, qualifier);
    if (order === 0 && cursor.timestampMs > timestampMs) return;
    const start = order === -1 ? this.#length : cursor.start;
    const end = order === 0 ? cursor.end : start;
    this.#write(start, end, qualifier, value, timestampMs);
  }

  /** Remove a cell; false when it is not there. */
  remove(qualifier: string): boolean {
    const cursor = this.cursor();
    if (this.#seek(cursor, qualifier) !== 0) return false;
    this.#bytes.copyWithin(cursor.start, cursor.end, this.#length);
    this.#length -= cursor.end - cursor.start;
    return true;
  }

  /** The entry; valid until the block changes. */
  entry(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Entries of about half its cells and the rest, each with its first qualifier; when they are still too long, more of them. */
  split(): { readonly qualifier: string; readonly entry: Buffer }[] {
    const pieces: { qualifier: string; entry: Buffer }[] = [];
    const count = Math.ceil((this.#length / MAX_BLOCK_BYTES) * 1.5);
    const wanted = this.#length / count;
    let begin = 1;
    let qualifier = '';
    const cut = (end: number): void => {
      pieces.push({ qualifier, entry: Buffer.concat([this.#bytes.subarray(0, 1), this.#bytes.subarray(begin, end)]) });
      begin = end;
    };
    for (const cursor = this.cursor(); cursor.next(); ) {
      const isFull = cursor.start - begin >= wanted || cursor.end - begin >= MAX_BLOCK_BYTES;
      if (isFull && cursor.start > begin) cut(cursor.start);
      if (cursor.start === begin) qualifier = cursor.qualifier;
    }
    cut(this.#length);
    return pieces;
  }

  /** Step to the first cell not before `qualifier`: 0 when it is that cell, 1 when it sorts behind, -1 when there is none. */
  #seek(cursor: BlockCursor, qualifier: string): -1 | 0 | 1 {
    while (cursor.next()) {
      const order = cursor.compare(qualifier);
      if (order >= 0) return order === 0 ? 0 : 1;
    }
    return -1;
  }

  /** Put a cell in the place of what lies between `start` and `end`. */
  #write(start: number, end: number, qualifier: string, value: Uint8Array, timestampMs: number): void {
    const qualifierBytes = Buffer.byteLength(qualifier);
    const size = varintLength(qualifierBytes) + qualifierBytes + TIME_BYTES + varintLength(value.length) + value.length;
    this.#reserve(size);
    const bytes = this.#bytes;
    bytes.copyWithin(start + size, end, this.#length);
    this.#length += size - (end - start);
    let at = writeVarint(bytes, start, qualifierBytes);
    at += bytes.write(qualifier, at, 'utf8');
    at = bytes.writeUIntBE(timestampMs, at, TIME_BYTES);
    at = writeVarint(bytes, at, value.length);
    bytes.set(value, at);
  }

  #reserve(more: number): void {
    const wanted = this.#length + more;
    if (wanted <= this.#bytes.length) return;
    const longer = Buffer.allocUnsafe(Math.max(wanted, 2 * this.#bytes.length));
    this.#bytes.copy(longer);
    this.#bytes = longer;
  }
}

const writeVarint = (bytes: Buffer, at: number, value: number): number => {
  let end = at;
  let rest = value;
  for (; rest >= MORE; rest >>>= 7) bytes[end++] = (rest & (MORE - 1)) | MORE;
  bytes[end++] = rest;
  return end;
};
