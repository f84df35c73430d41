// Thrift's binary protocol (apache/thrift, doc/specs/thrift-binary-protocol.md): fixed widths, big-endian, strict messages.
// What it writes must not depend on what was written before: no differences, no state.
import { ThriftWriter } from './thrift-writer.js';

const TYPE = { bool: 2, double: 4, i32: 8, i64: 10, string: 11, struct: 12, list: 15 } as const;
/** The strict envelope: version 1 in the upper half, message type one-way in the lower. */
const STRICT_ONEWAY = 0x80010004;

export class BinaryWriter extends ThriftWriter {
  onewayMessage(method: string): void {
    this.reserve(4);
    this.writeWord(STRICT_ONEWAY);
    this.#text(method);
    this.reserve(4);
    this.writeWord(0); // sequence id: nobody answers a one-way call
  }

  structField(id: number): void {
    this.reserve(3);
    this.#fieldHeader(id, TYPE.struct);
  }

  listField(id: number): void {
    this.reserve(3);
    this.#fieldHeader(id, TYPE.list);
  }

  structListHeader(count: number): void {
    this.reserve(5);
    this.bytes[this.pos++] = TYPE.struct;
    this.writeWord(count);
  }

  structListHeaderLength(): number {
    return 5;
  }

  stringField(id: number, value: string): void {
    this.reserve(3);
    this.#fieldHeader(id, TYPE.string);
    this.#text(value);
  }

  boolField(id: number, value: boolean): void {
    this.reserve(4);
    this.#fieldHeader(id, TYPE.bool);
    this.bytes[this.pos++] = value ? 1 : 0;
  }

  i32Field(id: number, value: number): void {
    this.reserve(7);
    this.#fieldHeader(id, TYPE.i32);
    this.writeWord(value);
  }

  i64Field(id: number, hi: number, lo: number): void {
    this.reserve(11);
    this.#fieldHeader(id, TYPE.i64);
    this.writeWord(hi);
    this.writeWord(lo);
  }

  doubleField(id: number, value: number): void {
    this.reserve(11);
    this.#fieldHeader(id, TYPE.double);
    this.pos = this.bytes.writeDoubleBE(value, this.pos);
  }

  #fieldHeader(id: number, type: number): void {
    this.bytes[this.pos++] = type;
    this.bytes[this.pos++] = 0;
    this.bytes[this.pos++] = id;
  }

  #text(value: string): void {
    const length = value.length;
    this.reserve(4 + length);
    const start = this.pos;
    if (!this.writeShortAscii(value, start + 4)) {
      const byteLength = Buffer.byteLength(value);
      this.reserve(4 + byteLength);
      this.pos = start;
      this.writeWord(byteLength);
      this.pos += this.bytes.write(value, this.pos, byteLength, 'utf8');
      return;
    }
    const end = this.pos;
    this.pos = start;
    this.writeWord(length);
    this.pos = end;
  }
}
