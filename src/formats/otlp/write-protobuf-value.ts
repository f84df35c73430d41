// Properties as OTLP's KeyValue and AnyValue messages. A value keeps its type; an integer beyond 64 bits, which OTLP has no
// place for, becomes its digits as a string, never a rounded number.

import type { ByteWriter } from '../../base/bytes/byte-writer.js';
import { ArchivedDouble } from '../../record/archived-double.js';
import type { ArchivedProperties, ArchivedValue } from '../../record/archived-span.js';
import type { SpanProperties } from '../../record/finished-span.js';
import { ObjectProperties } from '../../record/properties.js';
import { TAGS } from './messages.js';
import {
  beginMessage,
  endMessage,
  isInt64,
  writeBigInt,
  writeInteger,
  writeString,
  writeVarint32,
} from './protobuf-writer.js';

const { value: Value, values: Values, keyValue: KeyValue } = TAGS;

/** The largest number with its tag and a nested message's tag and length. */
const NUMBER_ROOM = 24;

const writeDouble = (writer: ByteWriter, value: number): void => {
  writer.bytes[writer.length++] = Value.doubleValue;
  writer.double(value);
};

/** A whole number is an integer, but for minus zero, whose sign only a double has. */
const writeNumber = (writer: ByteWriter, value: number): void => {
  if (!Number.isSafeInteger(value) || Object.is(value, -0)) writeDouble(writer, value);
  else {
    writer.bytes[writer.length++] = Value.intValue;
    writeInteger(writer, value);
  }
};

const writeBytes = (writer: ByteWriter, value: Uint8Array): void => {
  writer.reserve(value.length + NUMBER_ROOM);
  writer.bytes[writer.length++] = Value.bytesValue;
  writeVarint32(writer, value.length);
  writer.bytes.set(value, writer.length);
  writer.length += value.length;
};

const writeMap = (writer: ByteWriter, map: ArchivedProperties): void => {
  writer.bytes[writer.length++] = Value.kvlistValue;
  const start = beginMessage(writer, 1);
  writeProperties(writer, Values.values, new ObjectProperties().of(map));
  endMessage(writer, start, 1);
};

/** What is neither a text nor a number. */
const writeObject = (writer: ByteWriter, value: object | null): void => {
  // Without content, as OTLP allows.
  if (value === null) return;
  if (Array.isArray(value)) writeArray(writer, value);
  else if (value instanceof ArchivedDouble) writeDouble(writer, value.value);
  else if (value instanceof Uint8Array) writeBytes(writer, value);
  else writeMap(writer, value as ArchivedProperties);
};

const writeArray = (writer: ByteWriter, list: readonly ArchivedValue[]): void => {
  writer.bytes[writer.length++] = Value.arrayValue;
  const start = beginMessage(writer, 1);
  for (const item of list) {
    writer.reserve(NUMBER_ROOM);
    writer.bytes[writer.length++] = Values.values;
    writeAnyValue(writer, item);
  }
  endMessage(writer, start, 1);
};

/** A message AnyValue with its length in front. */
const writeAnyValue = (writer: ByteWriter, value: ArchivedValue): void => {
  const guess = typeof value === 'string' && value.length > 125 ? 2 : 1;
  const start = beginMessage(writer, guess);
  switch (typeof value) {
    case 'string':
      writeString(writer, Value.stringValue, value);
      break;
    case 'number':
      writeNumber(writer, value);
      break;
    case 'boolean':
      writer.bytes[writer.length++] = Value.boolValue;
      writer.bytes[writer.length++] = value ? 1 : 0;
      break;
    case 'bigint':
      if (isInt64(value)) {
        writer.bytes[writer.length++] = Value.intValue;
        writeBigInt(writer, value);
      } else writeString(writer, Value.stringValue, value.toString());
      break;
    default:
      if (typeof value === 'object') writeObject(writer, value);
      // What the types forbid: text of it is better than a batch that never leaves.
      else writeString(writer, Value.stringValue, String(value));
  }
  endMessage(writer, start, guess);
};

/** One repeated KeyValue field. Leaves 16 bytes of room behind. */
export const writeKeyValue = (writer: ByteWriter, fieldTag: number, key: string, value: ArchivedValue): void => {
  writer.reserve(NUMBER_ROOM);
  writer.bytes[writer.length++] = fieldTag;
  const guess = key.length + (typeof value === 'string' ? value.length : 10) > 118 ? 2 : 1;
  const start = beginMessage(writer, guess);
  writeString(writer, KeyValue.key, key);
  writer.reserve(NUMBER_ROOM);
  writer.bytes[writer.length++] = KeyValue.value;
  writeAnyValue(writer, value);
  endMessage(writer, start, guess);
};

export const writeProperties = (writer: ByteWriter, fieldTag: number, properties: SpanProperties): void => {
  const { size } = properties;
  for (let i = 0; i < size; i++) writeKeyValue(writer, fieldTag, properties.key(i), properties.value(i));
};
