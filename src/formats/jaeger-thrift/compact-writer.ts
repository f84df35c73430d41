// Thrift's compact protocol (apache/thrift, doc/specs/thrift-compact-protocol.md): zigzag varints, field ids as differences.
// Never used for HTTP: Jaeger reads only the binary protocol there.
import { ThriftWriter } from './thrift-writer.js';

const TYPE = { true: 1, false: 2, i32: 5, i64: 6, double: 7, binary: 8, list: 9, struct: 12 } as const;
const PROTOCOL_ID = 0x82;
/** Version 1 in the lower five bits, message type one-way (4) in the upper three. */
const VERSION_AND_ONEWAY = 0x81;

export class CompactWriter extends ThriftWriter {
  onewayMessage(method: string): void {
    this.reserve(3);
    this.bytes[this.pos++] = PROTOCOL_ID;
    this.bytes[this.pos++] = VERSION_AND_ONEWAY;
    this.bytes[this.pos++] = 0; // sequence id: nobody answers a one-way call
    this.#text(method);
  }

  structField(id: number): void {
    this.reserve(1);
    this.#fieldHeader(id, TYPE.struct);
  }

  listField(id: number): void {
    this.reserve(1);
    this.#fieldHeader(id, TYPE.list);
  }

  structListHeader(count: number): void {
    this.reserve(6);
    if (count < 15) {
      this.bytes[this.pos++] = (count << 4) | TYPE.struct;
      return;
    }
    this.bytes[this.pos++] = 0xf0 | TYPE.struct;
    this.writeVarint32(count);
  }

  structListHeaderLength(count: number): number {
    if (count < 15) return 1;
    let length = 2;
    for (let rest = count >>> 7; rest > 0; rest >>>= 7) length++;
    return length;
  }

  stringField(id: number, value: string): void {
    this.reserve(1);
    this.#fieldHeader(id, TYPE.binary);
    this.#text(value);
  }

  boolField(id: number, value: boolean): void {
    this.reserve(1);
    this.#fieldHeader(id, value ? TYPE.true : TYPE.false);
  }

  i32Field(id: number, value: number): void {
    this.reserve(6);
    this.#fieldHeader(id, TYPE.i32);
    this.writeVarint32(((value << 1) ^ (value >> 31)) >>> 0);
  }

  i64Field(id: number, hi: number, lo: number): void {
    this.reserve(11);
    this.#fieldHeader(id, TYPE.i64);
    const high = hi | 0;
    const low = lo | 0;
    const sign = high >> 31;
    this.writeVarint64(((high << 1) | (low >>> 31)) ^ sign, (low << 1) ^ sign);
  }

  doubleField(id: number, value: number): void {
    this.reserve(9);
    this.#fieldHeader(id, TYPE.double);
    this.pos = this.bytes.writeDoubleLE(value, this.pos);
  }

  /** Every struct of jaeger.thrift has ids 1 to 11 in rising order, so the difference always fits its four bits. */
  #fieldHeader(id: number, type: number): void {
    this.bytes[this.pos++] = ((id - this.lastField) << 4) | type;
    this.lastField = id;
  }

  #text(value: string): void {
    const length = value.length;
    this.reserve(5 + length);
    if (this.writeShortAscii(value, this.pos + 1)) {
      this.bytes[this.pos - length - 1] = length;
      return;
    }
    const byteLength = Buffer.byteLength(value);
    this.reserve(5 + byteLength);
    this.writeVarint32(byteLength);
    this.pos += this.bytes.write(value, this.pos, byteLength, 'utf8');
  }
}
