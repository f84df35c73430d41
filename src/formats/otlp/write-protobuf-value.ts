// Properties as OTLP's KeyValue and AnyValue messages. A value keeps its type; an integer beyond 64 bits, which OTLP has no
// place for, becomes its digits as a string, never a rounded number.
import type { Properties, PropertyList, PropertyValue } from '../../local-span/property.js';
import type { ByteWriter } from './byte-writer.js';
import {
  BYTES,
  beginMessage,
  endMessage,
  FIXED64,
  isInt64,
  tag,
  VARINT,
  writeBigInt,
  writeInteger,
  writeString,
} from './protobuf-writer.js';

/** KeyValue */
const KEY = tag(1, BYTES);
const VALUE = tag(2, BYTES);
/** AnyValue */
const STRING_VALUE = tag(1, BYTES);
const BOOL_VALUE = tag(2, VARINT);
const INT_VALUE = tag(3, VARINT);
const DOUBLE_VALUE = tag(4, FIXED64);
const ARRAY_VALUE = tag(5, BYTES);
/** ArrayValue */
const VALUES = tag(1, BYTES);

/** The largest number with its tag and a nested message's tag and length. */
const NUMBER_ROOM = 24;

const writeNumber = (writer: ByteWriter, value: number): void => {
  if (Number.isSafeInteger(value)) {
    writer.bytes[writer.at++] = INT_VALUE;
    writeInteger(writer, value);
  } else {
    writer.bytes[writer.at++] = DOUBLE_VALUE;
    writer.view.setFloat64(writer.at, value, true);
    writer.at += 8;
  }
};

const writeArray = (writer: ByteWriter, list: readonly PropertyValue[]): void => {
  writer.bytes[writer.at++] = ARRAY_VALUE;
  const start = beginMessage(writer, 1);
  for (const item of list) {
    writer.ensure(NUMBER_ROOM);
    writer.bytes[writer.at++] = VALUES;
    writeAnyValue(writer, item);
  }
  endMessage(writer, start, 1);
};

/** A message AnyValue with its length in front. */
const writeAnyValue = (writer: ByteWriter, value: PropertyValue): void => {
  const guess = typeof value === 'string' && value.length > 125 ? 2 : 1;
  const start = beginMessage(writer, guess);
  switch (typeof value) {
    case 'string':
      writeString(writer, STRING_VALUE, value);
      break;
    case 'number':
      writeNumber(writer, value);
      break;
    case 'boolean':
      writer.bytes[writer.at++] = BOOL_VALUE;
      writer.bytes[writer.at++] = value ? 1 : 0;
      break;
    case 'bigint':
      if (isInt64(value)) {
        writer.bytes[writer.at++] = INT_VALUE;
        writeBigInt(writer, value);
      } else writeString(writer, STRING_VALUE, value.toString());
      break;
    default:
      if (Array.isArray(value)) writeArray(writer, value);
      // What the types forbid: text of it is better than a batch that never leaves.
      else writeString(writer, STRING_VALUE, String(value));
  }
  endMessage(writer, start, guess);
};

/** One repeated KeyValue field. Leaves 16 bytes of room behind. */
export const writeKeyValue = (writer: ByteWriter, fieldTag: number, key: string, value: PropertyValue): void => {
  writer.ensure(NUMBER_ROOM);
  writer.bytes[writer.at++] = fieldTag;
  const guess = key.length + (typeof value === 'string' ? value.length : 10) > 118 ? 2 : 1;
  const start = beginMessage(writer, guess);
  writeString(writer, KEY, key);
  writer.ensure(NUMBER_ROOM);
  writer.bytes[writer.at++] = VALUE;
  writeAnyValue(writer, value);
  endMessage(writer, start, guess);
};

export const writePropertyList = (writer: ByteWriter, fieldTag: number, list: PropertyList): void => {
  for (let i = 0; i < list.length; i += 2) {
    writeKeyValue(writer, fieldTag, list[i] as string, list[i + 1] as PropertyValue);
  }
};

export const writeProperties = (writer: ByteWriter, fieldTag: number, properties: Properties): void => {
  for (const key of Object.keys(properties)) {
    const value = properties[key];
    if (value !== undefined) writeKeyValue(writer, fieldTag, key, value);
  }
};
