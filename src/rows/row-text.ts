// The texts of a chunk: one growable buffer that each string is written to once, so that no string of a finished span is on the heap.
// Every string comes back as it was, lone surrogates too. Nothing here may throw.

/** The encoding of the bytes of a text. */
export const Encoding = { ascii: 0, utf8: 1, utf16: 2 } as const;

/** Node's own methods of a buffer, which `write` and `toString` choose from: one check less each. */
interface RawBuffer extends Buffer {
  utf8Write(text: string, at: number, length: number): number;
  ucs2Write(text: string, at: number, length: number): number;
  latin1Slice(from: number, to: number): string;
  utf8Slice(from: number, to: number): string;
  ucs2Slice(from: number, to: number): string;
}

const allocate = (length: number): RawBuffer => Buffer.allocUnsafeSlow(length) as RawBuffer;

// A character of UTF-16 has three bytes at most in UTF-8. Longer texts are measured, so that they take no more than they need.
const MEASURED_LENGTH = 4096;

// Where a text is must fit into a word of its entry.
const MAX_BYTES = 2 ** 31 - 1;

let lastSerial = 0;

export class RowText {
  /** Of what is written here; another one once that was given up. */
  serial = ++lastSerial;
  /** Written bytes come first; what follows is unspecified. */
  bytes: RawBuffer;
  used = 0;
  /** Of the text written last. */
  encoding: number = Encoding.ascii;

  constructor(bytes: number) {
    this.bytes = allocate(bytes);
  }

  /** Texts to read, whose bytes lie elsewhere. Nothing may be written to them. */
  static over(bytes: Buffer): RowText {
    return Object.assign(Object.create(RowText.prototype), { serial: ++lastSerial, bytes, used: bytes.length });
  }

  /** Give up what was written. */
  clear(): void {
    this.used = 0;
    this.serial = ++lastSerial;
  }

  /** Write `text` behind what is there; gives its number of bytes, or -1 when there is no memory for it. */
  write(text: string): number {
    const { length } = text;
    if (this.used + length * 3 > this.bytes.length && !this.makeRoom(text)) return -1;
    const written = this.bytes.utf8Write(text, this.used, this.bytes.length - this.used);
    if (written === length) this.encoding = Encoding.ascii;
    else if (isWellFormed(text)) this.encoding = Encoding.utf8;
    else return this.writeUtf16(text);
    this.used += written;
    return written;
  }

  /** Copy written bytes of another buffer; gives where they are here, or -1 when there is no memory for them. */
  copy(from: RowText, at: number, length: number): number {
    if (this.used + length > this.bytes.length && !this.grow(this.used + length)) return -1;
    const to = this.used;
    from.bytes.copy(this.bytes, to, at, at + length);
    this.used = to + length;
    return to;
  }

  read(at: number, length: number, encoding: number): string {
    if (encoding === Encoding.ascii) return this.bytes.latin1Slice(at, at + length);
    return encoding === Encoding.utf8 ? this.bytes.utf8Slice(at, at + length) : this.bytes.ucs2Slice(at, at + length);
  }

  private writeUtf16(text: string): number {
    const length = text.length * 2;
    if (this.used + length > this.bytes.length && !this.grow(this.used + length)) return -1;
    this.bytes.ucs2Write(text, this.used, length);
    this.encoding = Encoding.utf16;
    this.used += length;
    return length;
  }

  private makeRoom(text: string): boolean {
    const max = text.length < MEASURED_LENGTH ? text.length * 3 : Buffer.byteLength(text);
    return this.used + max <= this.bytes.length || this.grow(this.used + max);
  }

  private grow(needed: number): boolean {
    if (needed > MAX_BYTES) return false;
    try {
      const bytes = allocate(Math.max(needed, this.bytes.length * 2));
      this.bytes.copy(bytes, 0, 0, this.used);
      this.bytes = bytes;
      return true;
    } catch {
      return false;
    }
  }
}

const { isWellFormed: wellFormed } = String.prototype as unknown as { isWellFormed(this: string): boolean };
const isWellFormed = (text: string): boolean => wellFormed.call(text);
