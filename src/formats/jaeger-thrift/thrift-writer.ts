// What both Thrift protocols offer to the encoders above them. Fields of a struct must be written in rising order of id.
// Nothing here may know what a span is.
import { ByteWriter } from '../../base/bytes/byte-writer.js';

/** Bytes of the longest list header of either protocol. */
export const LONGEST_LIST_HEADER = 6;

const TWO_32 = 0x1_0000_0000;

/**
 * Writes Thrift structs into a reused buffer. Integers of 64 bits come as two 32-bit words (any number; its lower 32 bits
 * are taken), so that no BigInt is made for an id or a time.
 */
export abstract class ThriftWriter {
  readonly out = new ByteWriter();
  /** Id of the last field written in the open struct; the compact protocol writes differences. */
  protected lastField = 0;

  /** Opens a struct whose field header, if it has one, is written already. Returns what {@link endStruct} needs. */
  beginStruct(): number {
    const outer = this.lastField;
    this.lastField = 0;
    return outer;
  }

  endStruct(outer: number): void {
    this.out.byte(0);
    this.lastField = outer;
  }

  /** A whole number up to 2^53. */
  wholeField(id: number, value: number): void {
    this.i64Field(id, Math.floor(value / TWO_32), value);
  }

  /** The envelope of a one-way call; its argument struct follows. */
  abstract onewayMessage(method: string): void;
  abstract structField(id: number): void;
  /** Field header of a list of structs; {@link structListHeader} or the structs follow. */
  abstract listField(id: number): void;
  abstract structListHeader(count: number): void;
  /** How many bytes {@link structListHeader} writes; at most {@link LONGEST_LIST_HEADER}. */
  abstract structListHeaderLength(count: number): number;
  abstract stringField(id: number, value: string): void;
  abstract boolField(id: number, value: boolean): void;
  abstract i32Field(id: number, value: number): void;
  abstract i64Field(id: number, hi: number, lo: number): void;
  abstract doubleField(id: number, value: number): void;
}
