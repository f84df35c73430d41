// A growing byte buffer that is used again and again: the ground under both Thrift protocols.
// It never shrinks by itself and never hands out memory that the next write would not overwrite: copy what must last.

/** Longer strings go through the engine's own UTF-8 encoder; below, a plain loop over ASCII is quicker. */
const SHORT_STRING = 40;

export class ByteBuffer {
  bytes: Buffer;
  /** Where the next byte goes; also how many bytes are in use. */
  pos = 0;

  constructor(readonly initialCapacity = 16 * 1024) {
    this.bytes = Buffer.allocUnsafeSlow(initialCapacity);
  }

  /** Makes room for `count` more bytes. */
  reserve(count: number): void {
    if (this.pos + count > this.bytes.length) this.#grow(this.pos + count);
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.bytes.length * 2));
    this.bytes.copy(larger, 0, 0, this.pos);
    this.bytes = larger;
  }

  /** Gives memory back when one huge span blew the buffer up beyond `capacity`; what is in it is lost. */
  trim(capacity: number): void {
    this.pos = 0;
    if (this.bytes.length > capacity) this.bytes = Buffer.allocUnsafeSlow(this.initialCapacity);
  }

  writeByte(value: number): void {
    this.reserve(1);
    this.bytes[this.pos++] = value;
  }

  /**
   * Writes `text` at `at` when it is short and ASCII, for which its length in bytes is known beforehand.
   * Returns false, having moved nothing, when it is not. The caller has reserved the room.
   */
  writeShortAscii(text: string, at: number): boolean {
    const length = text.length;
    if (length > SHORT_STRING) return false;
    const bytes = this.bytes;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) return false;
      bytes[at + i] = code;
    }
    this.pos = at + length;
    return true;
  }

  /** Unsigned 32-bit varint, seven bits a byte, lowest first. At most 5 bytes; the caller has reserved them. */
  writeVarint32(value: number): void {
    const bytes = this.bytes;
    let pos = this.pos;
    let rest = value;
    while (rest > 0x7f || rest < 0) {
      bytes[pos++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    bytes[pos++] = rest;
    this.pos = pos;
  }

  /** Unsigned 64-bit varint of two 32-bit words. At most 10 bytes; the caller has reserved them. */
  writeVarint64(hi: number, lo: number): void {
    const bytes = this.bytes;
    let pos = this.pos;
    let high = hi >>> 0;
    let low = lo >>> 0;
    while (high !== 0) {
      bytes[pos++] = (low & 0x7f) | 0x80;
      low = ((low >>> 7) | (high << 25)) >>> 0;
      high >>>= 7;
    }
    this.pos = pos;
    this.writeVarint32(low);
  }

  /** Big-endian 32-bit word; the caller has reserved 4 bytes. */
  writeWord(value: number): void {
    const bytes = this.bytes;
    const pos = this.pos;
    bytes[pos] = value >>> 24;
    bytes[pos + 1] = value >>> 16;
    bytes[pos + 2] = value >>> 8;
    bytes[pos + 3] = value;
    this.pos = pos + 4;
  }
}
