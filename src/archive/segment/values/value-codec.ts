// Single values, one behind the other, each with its type: what stands inside lists and maps, and in tables. Neither writer nor reader
// may be led into endless depth.

import type { ByteReader } from '../../../base/bytes/byte-reader.js';
import type { ByteWriter } from '../../../base/bytes/byte-writer.js';
import { BadValueError } from '../../../container/graph-error.js';
import { ArchivedDouble } from '../../../trace/archived-double.js';
import type { ArchivedProperties, ArchivedValue } from '../../../trace/archived-span.js';
import { readText, writeText } from './text-column.js';
import { describe, isPlainObject, MAX_DEPTH, typeOf, ValueType } from './value-types.js';

const scratch = new Uint8Array(8);
const scratchView = new DataView(scratch.buffer);

/** A bigint of any size: sign and length, then its bytes, low ones first. */
const writeBigint = (writer: ByteWriter, value: bigint): void => {
  const isNegative = value < 0n;
  const hex = (isNegative ? -value : value).toString(16);
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex').reverse();
  writer.varint(bytes.length * 2 + (isNegative ? 1 : 0));
  writer.raw(bytes);
};

const readBigint = (reader: ByteReader): bigint => {
  const form = reader.varint();
  const bytes = Buffer.from(reader.raw(Math.floor(form / 2))).reverse();
  const magnitude = bytes.length === 0 ? 0n : BigInt(`0x${bytes.toString('hex')}`);
  return form % 2 === 1 ? -magnitude : magnitude;
};

/** Append a value, whose type is `type`, without the type. */
export const writeValue = (writer: ByteWriter, type: number, value: ArchivedValue, depth = 0): void => {
  switch (type) {
    case ValueType.text:
      writeText(writer, value as string);
      return;
    case ValueType.whole:
      writer.zigzag(value as number);
      return;
    case ValueType.real:
      scratchView.setFloat64(0, value as number, true);
      writer.raw(scratch);
      return;
    case ValueType.double:
      scratchView.setFloat64(0, (value as ArchivedDouble).value, true);
      writer.raw(scratch);
      return;
    case ValueType.bigint:
      writeBigint(writer, value as bigint);
      return;
    case ValueType.bytes:
      writer.varint((value as Uint8Array).length);
      writer.raw(value as Uint8Array);
      return;
    case ValueType.list:
      checkDepth(depth);
      writer.varint((value as readonly ArchivedValue[]).length);
      for (const item of value as readonly ArchivedValue[]) writeTyped(writer, item, depth + 1);
      return;
    case ValueType.map:
      writeProperties(writer, value as ArchivedProperties, depth);
  }
};

const writeTyped = (writer: ByteWriter, value: ArchivedValue, depth: number): void => {
  const type = typeOf(value);
  writer.byte(type);
  writeValue(writer, type, value, depth);
};

/** Append properties: how many, then keys and values. */
export const writeProperties = (writer: ByteWriter, properties: ArchivedProperties, depth = 0): void => {
  checkDepth(depth);
  if (!isPlainObject(properties))
    throw new BadValueError(`properties must be an object of keys and values, not ${describe(properties)}`);
  const keys = Object.keys(properties);
  writer.varint(keys.length);
  for (const key of keys) {
    writeText(writer, key);
    writeTyped(writer, properties[key], depth + 1);
  }
};

const checkDepth = (depth: number): void => {
  if (depth <= MAX_DEPTH + 1) return;
  throw new BadValueError(`lists and maps of a property lie more than ${MAX_DEPTH} deep inside each other`);
};

/** Read a value of `type`. */
export const readValue = (reader: ByteReader, type: number, depth = 0): ArchivedValue => {
  switch (type) {
    case ValueType.text:
      return readText(reader);
    case ValueType.whole:
      return reader.zigzag();
    case ValueType.real:
      scratch.set(reader.raw(8));
      return scratchView.getFloat64(0, true);
    case ValueType.double:
      scratch.set(reader.raw(8));
      return new ArchivedDouble(scratchView.getFloat64(0, true));
    case ValueType.empty:
      return null;
    case ValueType.no:
      return false;
    case ValueType.yes:
      return true;
    case ValueType.bigint:
      return readBigint(reader);
    case ValueType.bytes:
      return Uint8Array.from(reader.raw(reader.varint()));
    case ValueType.list: {
      const count = countOf(reader, depth);
      return Array.from({ length: count }, () => readValue(reader, reader.byte(), depth + 1));
    }
    case ValueType.map:
      return readProperties(reader, depth);
    default:
      throw reader.corrupt(`has a value of unknown type ${type}`);
  }
};

/** Read properties. */
export const readProperties = (reader: ByteReader, depth = 0): ArchivedProperties => {
  const count = countOf(reader, depth);
  // Built from entries, so that a key __proto__ is a key like any other.
  return Object.fromEntries(
    Array.from({ length: count }, () => [readText(reader), readValue(reader, reader.byte(), depth + 1)]),
  );
};

const countOf = (reader: ByteReader, depth: number): number => {
  if (depth > MAX_DEPTH + 1) throw reader.corrupt('has lists and maps too deep inside each other');
  const count = reader.varint();
  // An item takes a byte at least.
  if (count > reader.left) throw reader.corrupt('is too short for its values');
  return count;
};
