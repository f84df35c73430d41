// Properties as OTLP/JSON attributes. 64-bit integers are strings and non-finite doubles are names, as proto3's JSON
// mapping asks; an integer beyond 64 bits, which OTLP has no place for, becomes its digits as a string, never a rounded number.

import { type ByteWriter, isInt64 } from '../../base/bytes/byte-writer.js';
import { ArchivedDouble, type ArchivedProperties, type ArchivedValue } from '../../record/archived-span.js';
import type { SpanProperties } from '../../record/finished-span.js';
import { ObjectProperties } from '../../record/properties.js';
import { writeIntegerDigits, writeQuoted, writeRaw } from './json-writer.js';

/** JSON has neither NaN nor Infinity, and many readers would lose the sign of minus zero. */
const writeDouble = (writer: ByteWriter, value: number): void => {
  const text = Object.is(value, -0) ? '-0' : String(value);
  writeRaw(writer, Number.isFinite(value) && text !== '-0' ? `{"doubleValue":${text}}` : `{"doubleValue":"${text}"}`);
};

/** A whole number is an integer, but for minus zero, whose sign only a double has. */
const writeNumber = (writer: ByteWriter, value: number): void => {
  if (!Number.isSafeInteger(value) || Object.is(value, -0)) {
    writeDouble(writer, value);
    return;
  }
  writeRaw(writer, '{"intValue":"');
  writeIntegerDigits(writer, value);
  writeRaw(writer, '"}');
};

/** What is neither a text nor a number. One without content has no member. */
const writeObject = (writer: ByteWriter, value: object | null): void => {
  if (value === null) writeRaw(writer, '{}');
  else if (Array.isArray(value)) writeArray(writer, value);
  else if (value instanceof ArchivedDouble) writeDouble(writer, value.value);
  else if (value instanceof Uint8Array) {
    writeRaw(writer, '{"bytesValue":');
    writeQuoted(writer, Buffer.from(value).toString('base64'));
    writeRaw(writer, '}');
  } else {
    writeRaw(writer, '{"kvlistValue":{"values":[');
    writePairs(writer, new ObjectProperties().of(value as ArchivedProperties));
    writeRaw(writer, ']}}');
  }
};

const writeArray = (writer: ByteWriter, list: readonly ArchivedValue[]): void => {
  writeRaw(writer, '{"arrayValue":{"values":[');
  for (let i = 0; i < list.length; i++) {
    if (i > 0) writeRaw(writer, ',');
    writeAnyValue(writer, list[i]);
  }
  writeRaw(writer, ']}}');
};

const writeStringValue = (writer: ByteWriter, value: string): void => {
  writeRaw(writer, '{"stringValue":');
  writeQuoted(writer, value);
  writeRaw(writer, '}');
};

const writeAnyValue = (writer: ByteWriter, value: ArchivedValue): void => {
  switch (typeof value) {
    case 'string':
      writeStringValue(writer, value);
      break;
    case 'number':
      writeNumber(writer, value);
      break;
    case 'boolean':
      writeRaw(writer, value ? '{"boolValue":true}' : '{"boolValue":false}');
      break;
    case 'bigint':
      if (isInt64(value)) writeRaw(writer, `{"intValue":"${value}"}`);
      else writeStringValue(writer, value.toString());
      break;
    default:
      if (typeof value === 'object') writeObject(writer, value);
      // What the types forbid: text of it is better than a batch that never leaves.
      else writeStringValue(writer, String(value));
  }
};

const writePairs = (writer: ByteWriter, properties: SpanProperties): void => {
  const { size } = properties;
  for (let i = 0; i < size; i++) {
    writeRaw(writer, i === 0 ? '{"key":' : ',{"key":');
    writeQuoted(writer, properties.key(i));
    writeRaw(writer, ',"value":');
    writeAnyValue(writer, properties.value(i));
    writeRaw(writer, '}');
  }
};

/** The member `attributes` with what stands before it; nothing for none. */
export const writeAttributes = (writer: ByteWriter, name: string, properties: SpanProperties): void => {
  if (properties.size === 0) return;
  writeRaw(writer, name);
  writePairs(writer, properties);
  writeRaw(writer, ']');
};
