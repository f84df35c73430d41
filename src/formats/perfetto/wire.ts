// Fields of Perfetto's messages over a ByteWriter. Each call makes its own room, whatever the number of its field: those from 16 on take a tag
// of two bytes.
import type { ByteWriter } from '../../base/bytes/byte-writer.js';
import { beginMessage, endMessage, varintSize, writeVarint32 } from '../otlp/protobuf-writer.js';

/** A tag, the longest number, and the length of a message. */
const ROOM = 24;

/** Begin a message in a field; what it gives is what `endField` wants. */
export const beginField = (writer: ByteWriter, fieldTag: number, guess = 1): number => {
  writer.reserve(ROOM);
  writeVarint32(writer, fieldTag);
  return beginMessage(writer, guess);
};

export const endField = (writer: ByteWriter, start: number, guess = 1): void => {
  endMessage(writer, start, guess);
};

/** A whole number from 0 to 2^53 - 1. */
export const writeWhole = (writer: ByteWriter, fieldTag: number, value: number): void => {
  writer.reserve(ROOM);
  writeVarint32(writer, fieldTag);
  writer.varint(value);
};

export const writeText = (writer: ByteWriter, fieldTag: number, text: string): void => {
  writer.reserveText(text, ROOM);
  writeVarint32(writer, fieldTag);
  const guess = varintSize(text.length);
  const start = beginMessage(writer, guess);
  writer.text(text);
  endMessage(writer, start, guess);
};
