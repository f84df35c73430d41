// The protobuf wire format over a ByteWriter: varints, fixed words, and messages whose length is known only afterwards.
// Callers make room first; only text makes its own. Field numbers and wire types come in as ready tags.
import type { ByteWriter } from '../../base/bytes/byte-writer.js';
import { nanosWords, toNanosWords } from './unix-nanos.js';

export const VARINT = 0;
export const FIXED64 = 1;
export const BYTES = 2;
export const FIXED32 = 5;

/** One byte for fields 1 to 15, a varint beyond. */
export const tag = (field: number, wireType: number): number => (field << 3) | wireType;

const TWO_32 = 0x1_0000_0000;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
export const isInt64 = (value: bigint): boolean => value >= INT64_MIN && value <= INT64_MAX;

/** The words of a bigint without a breakdown: a store through one view, loads through the other. */
const words = new DataView(new ArrayBuffer(8));

/** Bytes of a varint of 32 bits. */
export const varintSize = (value: number): number => {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  return value < 0x1000_0000 ? 4 : 5;
};

export const writeVarint32 = (writer: ByteWriter, value: number): void => {
  const { bytes } = writer;
  let at = writer.length;
  let rest = value;
  while (rest > 0x7f) {
    bytes[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  bytes[at++] = rest;
  writer.length = at;
};

/** A number of 32 bits with a tag of one byte; zero, proto3's default, is left out. Makes its own room. */
export const writeCount = (writer: ByteWriter, fieldTag: number, count: number): void => {
  if (count === 0) return;
  writer.reserve(8);
  writer.bytes[writer.length++] = fieldTag;
  writeVarint32(writer, count);
};

/** A whole number up to 2^53, as int64: negative ones take ten bytes. */
export const writeInteger = (writer: ByteWriter, value: number): void => {
  if (value >= 0 && value < 0x8000_0000) writeVarint32(writer, value);
  else writer.varint64(Math.floor(value / TWO_32), value);
};

/** A bigint for which {@link isInt64} holds. */
export const writeBigInt = (writer: ByteWriter, value: bigint): void => {
  words.setBigInt64(0, value);
  writer.varint64(words.getUint32(0), words.getUint32(4));
};

export const writeUnixNanos = (writer: ByteWriter, sec: number, nano: number): void => {
  toNanosWords(sec, nano);
  const { data, length } = writer;
  data.setUint32(length, nanosWords.lo, true);
  data.setUint32(length + 4, nanosWords.hi, true);
  writer.length = length + 8;
};

/** A string field with a tag of one byte. Makes its own room, and 16 bytes for what follows it. */
export const writeString = (writer: ByteWriter, fieldTag: number, value: string): void => {
  writer.reserveText(value, 24);
  writer.bytes[writer.length++] = fieldTag;
  const guess = varintSize(value.length);
  const start = beginMessage(writer, guess);
  writer.text(value);
  endMessage(writer, start, guess);
};

/**
 * Leaves `guess` bytes for a length that is not known yet and gives where the content begins. A wrong guess costs a move
 * of the content in {@link endMessage}, nothing else.
 */
export const beginMessage = (writer: ByteWriter, guess: number): number => {
  writer.length += guess;
  return writer.length;
};

/** Writes the length of what was begun at `start`; gives by how many bytes the content was moved for it. */
export const endMessage = (writer: ByteWriter, start: number, guess: number): number => {
  const end = writer.length;
  const length = end - start;
  const size = varintSize(length);
  if (size !== guess) {
    writer.reserve(size);
    writer.bytes.copyWithin(start - guess + size, start, end);
  }
  writer.length = start - guess;
  writeVarint32(writer, length);
  writer.length += length;
  return size - guess;
};
