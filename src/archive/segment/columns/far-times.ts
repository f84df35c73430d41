// Times that are far from what they are written against, whole: eight bytes.
import type { ByteReader } from '../../../base/bytes/byte-reader.js';
import type { ByteWriter } from '../../../base/bytes/byte-writer.js';
import { NEAR_NS } from '../layout.js';

const scratch = Buffer.alloc(8);

export const writeTime = (writer: ByteWriter, time: bigint): void => {
  scratch.writeBigUInt64LE(time);
  writer.raw(scratch);
};

export const readTime = (reader: ByteReader): bigint => {
  scratch.set(reader.raw(8));
  return scratch.readBigUInt64LE();
};

/** A time against another: their difference, or zero and the whole time. */
export const writeTimeAgainst = (writer: ByteWriter, time: bigint, base: bigint): void => {
  const difference = Number(time - base);
  if (Math.abs(difference) < NEAR_NS) writer.varint((difference >= 0 ? difference * 2 : -difference * 2 - 1) + 1);
  else {
    writer.varint(0);
    writeTime(writer, time);
  }
};

/** What was told of a time: a number is a difference, a bigint the time itself. */
export const readTold = (reader: ByteReader): number | bigint => {
  const told = reader.varint();
  if (told === 0) return readTime(reader);
  const zigzag = told - 1;
  return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
};
