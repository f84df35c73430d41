// Thrift's binary protocol (apache/thrift, doc/specs/thrift-binary-protocol.md): fixed widths, big-endian, strict messages.
// What it writes must not depend on what was written before: no differences, no state.
import { ThriftWriter } from './thrift-writer.js';

const TYPE = { bool: 2, double: 4, i32: 8, i64: 10, string: 11, struct: 12, list: 15 } as const;
/** The strict envelope: version 1 in the upper half, message type one-way in the lower. */
const STRICT_ONEWAY = 0x80010004;

export class BinaryWriter extends ThriftWriter {
  onewayMessage(method: string): void {
    this.#word(STRICT_ONEWAY);
    this.#text(method);
    this.#word(0); // sequence id: nobody answers a one-way call
  }

  structField(id: number): void {
    this.#fieldHeader(id, TYPE.struct);
  }

  listField(id: number): void {
    this.#fieldHeader(id, TYPE.list);
  }

  structListHeader(count: number): void {
    this.out.byte(TYPE.struct);
    this.#word(count);
  }

  structListHeaderLength(): number {
    return 5;
  }

  stringField(id: number, value: string): void {
    this.#fieldHeader(id, TYPE.string);
    this.#text(value);
  }

  boolField(id: number, value: boolean): void {
    this.#fieldHeader(id, TYPE.bool);
    this.out.byte(value ? 1 : 0);
  }

  i32Field(id: number, value: number): void {
    this.#fieldHeader(id, TYPE.i32);
    this.#word(value);
  }

  i64Field(id: number, hi: number, lo: number): void {
    this.#fieldHeader(id, TYPE.i64);
    this.#word(hi);
    this.#word(lo);
  }

  doubleField(id: number, value: number): void {
    this.#fieldHeader(id, TYPE.double);
    this.out.reserve(8);
    this.out.data.setFloat64(this.out.length, value);
    this.out.length += 8;
  }

  #fieldHeader(id: number, type: number): void {
    this.out.byte(type);
    this.out.byte(0);
    this.out.byte(id);
  }

  #word(value: number): void {
    const { out } = this;
    out.reserve(4);
    out.data.setUint32(out.length, value);
    out.length += 4;
  }

  #text(value: string): void {
    const { out } = this;
    out.reserveText(value, 4);
    out.length += 4;
    const start = out.length;
    out.text(value);
    out.data.setUint32(start - 4, out.length - start);
  }
}
