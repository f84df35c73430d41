// Thrift's compact protocol (apache/thrift, doc/specs/thrift-compact-protocol.md): zigzag varints, field ids as differences.
// Never used for HTTP: Jaeger reads only the binary protocol there.
import { varintLength } from '../../base/bytes/byte-writer.js';
import { ThriftWriter } from './thrift-writer.js';

const TYPE = { true: 1, false: 2, i32: 5, i64: 6, double: 7, binary: 8, list: 9, struct: 12 } as const;
const PROTOCOL_ID = 0x82;
/** Version 1 in the lower five bits, message type one-way (4) in the upper three. */
const VERSION_AND_ONEWAY = 0x81;

/** UTF-16 code units whose UTF-8 has a length of one byte: that of a text this short is known once it is written. */
const SHORT_TEXT = 42;

export class CompactWriter extends ThriftWriter {
  onewayMessage(method: string): void {
    this.out.byte(PROTOCOL_ID);
    this.out.byte(VERSION_AND_ONEWAY);
    this.out.byte(0); // sequence id: nobody answers a one-way call
    this.#text(method);
  }

  structField(id: number): void {
    this.#fieldHeader(id, TYPE.struct);
  }

  listField(id: number): void {
    this.#fieldHeader(id, TYPE.list);
  }

  structListHeader(count: number): void {
    if (count < 15) {
      this.out.byte((count << 4) | TYPE.struct);
      return;
    }
    this.out.byte(0xf0 | TYPE.struct);
    this.out.varint(count);
  }

  structListHeaderLength(count: number): number {
    return count < 15 ? 1 : 1 + varintLength(count);
  }

  stringField(id: number, value: string): void {
    this.#fieldHeader(id, TYPE.binary);
    this.#text(value);
  }

  boolField(id: number, value: boolean): void {
    this.#fieldHeader(id, value ? TYPE.true : TYPE.false);
  }

  i32Field(id: number, value: number): void {
    this.#fieldHeader(id, TYPE.i32);
    this.out.varint(((value << 1) ^ (value >> 31)) >>> 0);
  }

  i64Field(id: number, hi: number, lo: number): void {
    this.#fieldHeader(id, TYPE.i64);
    const high = hi | 0;
    const low = lo | 0;
    const sign = high >> 31;
    this.out.varint64(((high << 1) | (low >>> 31)) ^ sign, (low << 1) ^ sign);
  }

  doubleField(id: number, value: number): void {
    this.#fieldHeader(id, TYPE.double);
    this.out.double(value);
  }

  /** Every struct of jaeger.thrift has ids 1 to 11 in rising order, so the difference always fits its four bits. */
  #fieldHeader(id: number, type: number): void {
    this.out.byte(((id - this.lastField) << 4) | type);
    this.lastField = id;
  }

  #text(value: string): void {
    const { out } = this;
    out.reserveText(value, 5);
    if (value.length > SHORT_TEXT) out.varint(Buffer.byteLength(value));
    else out.length++;
    const start = out.length;
    out.text(value);
    if (value.length <= SHORT_TEXT) out.bytes[start - 1] = out.length - start;
  }
}
