// Properties as OTLP/JSON attributes. 64-bit integers are strings and non-finite doubles are names, as proto3's JSON
// mapping asks; an integer beyond 64 bits becomes a string value.
import type { Properties, PropertyList, PropertyValue } from '../../local-span/property.js';
import type { ByteWriter } from './byte-writer.js';
import { writeIntegerDigits, writeQuoted, writeRaw } from './json-writer.js';
import { isInt64 } from './protobuf-writer.js';

const writeNumber = (writer: ByteWriter, value: number): void => {
  if (Number.isSafeInteger(value)) {
    writeRaw(writer, '{"intValue":"');
    writeIntegerDigits(writer, value);
    writeRaw(writer, '"}');
  } else writeRaw(writer, `{"doubleValue":${Number.isFinite(value) ? value : `"${value}"`}}`);
};

const writeArray = (writer: ByteWriter, list: readonly PropertyValue[]): void => {
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

const writeAnyValue = (writer: ByteWriter, value: PropertyValue): void => {
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
      if (Array.isArray(value)) writeArray(writer, value);
      // What the types forbid: text of it is better than a batch that never leaves.
      else writeStringValue(writer, String(value));
  }
};

const writeKeyValue = (writer: ByteWriter, key: string, value: PropertyValue, isFirst: boolean): void => {
  writeRaw(writer, isFirst ? '{"key":' : ',{"key":');
  writeQuoted(writer, key);
  writeRaw(writer, ',"value":');
  writeAnyValue(writer, value);
  writeRaw(writer, '}');
};

/** The member `attributes` with a comma in front. */
export const writePropertyList = (writer: ByteWriter, list: PropertyList): void => {
  writeRaw(writer, ',"attributes":[');
  for (let i = 0; i < list.length; i += 2) {
    writeKeyValue(writer, list[i] as string, list[i + 1] as PropertyValue, i === 0);
  }
  writeRaw(writer, ']');
};

/** An array of attributes. */
export const writeProperties = (writer: ByteWriter, properties: Properties): void => {
  let isFirst = true;
  writeRaw(writer, '[');
  for (const key of Object.keys(properties)) {
    const value = properties[key];
    if (value === undefined) continue;
    writeKeyValue(writer, key, value, isFirst);
    isFirst = false;
  }
  writeRaw(writer, ']');
};
