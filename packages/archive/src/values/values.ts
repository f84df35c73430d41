// Property values as bytes, each with its type. A value must come back with the type it had: 5 and 5n are two, 0 and -0 as well. What would
// come back as something else, such as a Date or a Map, is not a value. Neither writer nor reader may be led into endless depth.
//
//     properties = n:varint (key:text type:byte value)[n]
import { isUint8Array } from 'node:util/types';
import { BadValueError } from '@spanline/graph';
import type { ByteReader, ByteWriter } from 'spanline/internal/base';
import { ArchivedDouble, type ArchivedProperties, type ArchivedValue, PropertyDraft } from 'spanline/internal/record';
import { readText, writeText } from './texts.js';

/** A type's number in files. */
export const ValueType = {
  text: 0,
  /** A whole number that a varint holds; never -0. */
  whole: 1,
  /** Every other number. */
  real: 2,
  no: 3,
  yes: 4,
  bigint: 5,
  bytes: 6,
  list: 7,
  map: 8,
  /** A double that is a whole number. */
  double: 9,
  /** Without content. */
  empty: 10,
} as const;

/** Types there are. */
export const VALUE_TYPES = 11;

/** Zigzag varints hold these. */
const MAX_WHOLE = 2 ** 52 - 1;

/** The type of a value. Throws `BadValueError` for what is not a value. */
export const typeOf = (value: ArchivedValue): number => {
  switch (typeof value) {
    case 'string':
      return ValueType.text;
    case 'number':
      return Number.isInteger(value) && Math.abs(value) <= MAX_WHOLE && !Object.is(value, -0)
        ? ValueType.whole
        : ValueType.real;
    case 'boolean':
      return value ? ValueType.yes : ValueType.no;
    case 'bigint':
      return ValueType.bigint;
    case 'object':
      if (value === null) return ValueType.empty;
      if (isUint8Array(value)) return ValueType.bytes;
      if (Array.isArray(value)) return ValueType.list;
      if (value instanceof ArchivedDouble) return ValueType.double;
      if (isPlainObject(value)) return ValueType.map;
  }
  throw new BadValueError(`${describe(value)} is not a supported value of a property${adviceOn(value)}`);
};

/** Whether a value is an object of keys and values and nothing more, of whatever realm. */
export const isPlainObject = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || isRootPrototype(prototype);
};

/** The prototype of plain objects, of another realm. */
const isRootPrototype = (prototype: object): boolean =>
  Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf');

/** What a value is, for errors: `undefined`, `a number`, `a Date`. */
export const describe = (value: unknown): string => {
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return 'a list';
  const name = typeof value === 'object' ? (value.constructor?.name ?? 'object') : typeof value;
  return `${/^[AEIOUaeiou]/.test(name) ? 'an' : 'a'} ${name}`;
};

const adviceOn = (value: unknown): string => {
  if (value instanceof Date) return '; use its toISOString(), or its getTime() as a number';
  if (value instanceof Map) return '; use Object.fromEntries(map)';
  if (value instanceof Set) return '; use [...set]';
  return '';
};

/** Lists and maps inside each other at most. */
export const MAX_DEPTH = 64;

/** What a value takes in memory once decoded, about. */
export const decodedBytes = (value: ArchivedValue, depth = 0): number => {
  switch (typeof value) {
    case 'string':
      return 16 + value.length;
    case 'bigint':
      return 24;
    case 'object': {
      if (value === null || value instanceof ArchivedDouble) return 8;
      if (value instanceof Uint8Array) return 96 + value.length;
      if (depth > MAX_DEPTH) {
        throw new BadValueError(`lists and maps of a property lie more than ${MAX_DEPTH} deep inside each other`);
      }
      let bytes = 48;
      for (const [key, item] of Object.entries(value)) bytes += 16 + key.length + decodedBytes(item, depth + 1);
      return bytes;
    }
    default:
      return 8;
  }
};

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
  const properties = new PropertyDraft();
  for (let i = 0; i < count; i++) properties.set(readText(reader), readValue(reader, reader.byte(), depth + 1));
  return properties.done();
};

const countOf = (reader: ByteReader, depth: number): number => {
  if (depth > MAX_DEPTH + 1) throw reader.corrupt('has lists and maps too deep inside each other');
  const count = reader.varint();
  // An item takes a byte at least.
  if (count > reader.left) throw reader.corrupt('is too short for its values');
  return count;
};
