// Rewrites a message of Thrift's compact protocol in the binary protocol, knowing nothing of spans: what it cannot parse
// it throws at. So the decoder that checks the fields (thriftrw, which reads binary only) checks both protocols.

const COMPACT_STOP = 0;
const [TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, , STRUCT] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
/** Type codes of the binary protocol by type code of the compact one. */
const BINARY_TYPE: Readonly<Record<number, number>> = {
  [TRUE]: 2,
  [FALSE]: 2,
  [BYTE]: 3,
  [I16]: 6,
  [I32]: 8,
  [I64]: 10,
  [DOUBLE]: 4,
  [BINARY]: 11,
  [LIST]: 15,
  [SET]: 14,
  [STRUCT]: 12,
};

class Transcoder {
  #at = 0;
  readonly #out: Buffer[] = [];

  constructor(readonly source: Buffer) {}

  message(): Buffer {
    if (this.#byte() !== 0x82) throw new Error('not a compact message');
    const versionAndType = this.#byte();
    if ((versionAndType & 0x1f) !== 1) throw new Error('not version 1');
    const sequence = Number(this.#varint());
    const name = this.#bytes(Number(this.#varint()));
    this.#int32(0x80010000 | (versionAndType >> 5));
    this.#int32(name.length);
    this.#out.push(name);
    this.#int32(sequence);
    this.#struct();
    if (this.#at !== this.source.length) throw new Error(`${this.source.length - this.#at} bytes behind the message`);
    return Buffer.concat(this.#out);
  }

  #byte(): number {
    if (this.#at >= this.source.length) throw new Error('the message is cut off');
    return this.source[this.#at++];
  }

  #bytes(length: number): Buffer {
    if (this.#at + length > this.source.length) throw new Error('the message is cut off');
    this.#at += length;
    return this.source.subarray(this.#at - length, this.#at);
  }

  #varint(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      if (shift > 63n) throw new Error('a varint of more than ten bytes');
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  #zigzag(bits: number): bigint {
    const raw = this.#varint();
    const value = (raw >> 1n) ^ -(raw & 1n);
    if (BigInt.asIntN(bits, value) !== value) throw new Error(`an integer beyond ${bits} bits`);
    return value;
  }

  #int32(value: number): void {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(value | 0);
    this.#out.push(bytes);
  }

  #struct(): void {
    let id = 0;
    for (;;) {
      const header = this.#byte();
      if (header === COMPACT_STOP) {
        this.#out.push(Buffer.from([0]));
        return;
      }
      const type = header & 0x0f;
      id = header >> 4 === 0 ? Number(this.#zigzag(16)) : id + (header >> 4);
      this.#out.push(Buffer.from([BINARY_TYPE[type], id >> 8, id & 0xff]));
      if (type === TRUE || type === FALSE) this.#out.push(Buffer.from([type === TRUE ? 1 : 0]));
      else this.#value(type);
    }
  }

  #value(type: number): void {
    if (type === I32) {
      this.#int32(Number(this.#zigzag(32)));
    } else if (type === I64) {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64BE(this.#zigzag(64));
      this.#out.push(bytes);
    } else if (type === DOUBLE) {
      this.#out.push(Buffer.from(this.#bytes(8)).reverse());
    } else if (type === BINARY) {
      const length = Number(this.#varint());
      this.#int32(length);
      this.#out.push(this.#bytes(length));
    } else if (type === LIST) {
      const header = this.#byte();
      const count = header >> 4 === 15 ? Number(this.#varint()) : header >> 4;
      this.#out.push(Buffer.from([BINARY_TYPE[header & 0x0f]]));
      this.#int32(count);
      for (let i = 0; i < count; i++) this.#value(header & 0x0f);
    } else if (type === STRUCT) {
      this.#struct();
    } else {
      throw new Error(`compact type ${type} is not in jaeger.thrift`);
    }
  }
}

export const compactToBinary = (message: Buffer): Buffer => new Transcoder(message).message();
