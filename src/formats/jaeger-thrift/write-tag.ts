// Property values as jaeger.thrift Tags. A value keeps its type; what Thrift has no type for becomes text, never nothing.

import { isInt64 } from '../../base/bytes/byte-writer.js';
import { ArchivedDouble, type ArchivedValue } from '../../record/archived-span.js';
import type { SpanProperties } from '../../record/finished-span.js';
import { valueJson } from '../../record/properties.js';
import type { ThriftWriter } from './thrift-writer.js';

/** `enum TagType` and the ids of `struct Tag`. */
const TAG_TYPE = { string: 0, double: 1, bool: 2, long: 3 } as const;
const KEY = 1;
const TYPE = 2;
const V_STRING = 3;
const V_DOUBLE = 4;
const V_BOOL = 5;
const V_LONG = 6;

/** Gives what `endStruct` needs. */
const beginTag = (writer: ThriftWriter, key: string, type: number): number => {
  const outer = writer.beginStruct();
  writer.stringField(KEY, key);
  writer.i32Field(TYPE, type);
  return outer;
};

export const writeStringTag = (writer: ThriftWriter, key: string, value: string): void => {
  const outer = beginTag(writer, key, TAG_TYPE.string);
  writer.stringField(V_STRING, value);
  writer.endStruct(outer);
};

export const writeBoolTag = (writer: ThriftWriter, key: string, value: boolean): void => {
  const outer = beginTag(writer, key, TAG_TYPE.bool);
  writer.boolField(V_BOOL, value);
  writer.endStruct(outer);
};

const writeDoubleTag = (writer: ThriftWriter, key: string, value: number): void => {
  const outer = beginTag(writer, key, TAG_TYPE.double);
  writer.doubleField(V_DOUBLE, value);
  writer.endStruct(outer);
};

/** A whole number as LONG. */
export const writeIntegerTag = (writer: ThriftWriter, key: string, value: number): void => {
  const outer = beginTag(writer, key, TAG_TYPE.long);
  writer.wholeField(V_LONG, value);
  writer.endStruct(outer);
};

/** A whole number is a LONG, but for minus zero, whose sign only a double has. */
const writeNumberTag = (writer: ThriftWriter, key: string, value: number): void => {
  if (Number.isSafeInteger(value) && !Object.is(value, -0)) writeIntegerTag(writer, key, value);
  else if (Number.isFinite(value)) writeDoubleTag(writer, key, value);
  // Jaeger's query service answers in JSON, which has no NaN and no Infinity: one such double and it cannot show the
  // whole trace (jaegertracing/jaeger-ui issues 321 and 3047).
  else writeStringTag(writer, key, String(value));
};

const writeBigIntTag = (writer: ThriftWriter, key: string, value: bigint): void => {
  if (!isInt64(value)) {
    writeStringTag(writer, key, value.toString());
    return;
  }
  const outer = beginTag(writer, key, TAG_TYPE.long);
  writer.i64Field(V_LONG, Number(value >> 32n), Number(BigInt.asUintN(32, value)));
  writer.endStruct(outer);
};

/** What is neither a text nor a number: lists and maps as JSON text, bytes as base64. */
const writeObjectTag = (writer: ThriftWriter, key: string, value: Extract<ArchivedValue, object | null>): void => {
  if (value instanceof ArchivedDouble) writeDoubleTag(writer, key, value.value);
  else if (value instanceof Uint8Array) writeStringTag(writer, key, Buffer.from(value).toString('base64'));
  else writeStringTag(writer, key, value === null ? '' : valueJson(value));
};

export const writeTag = (writer: ThriftWriter, key: string, value: ArchivedValue): void => {
  switch (typeof value) {
    case 'string':
      writeStringTag(writer, key, value);
      break;
    case 'number':
      writeNumberTag(writer, key, value);
      break;
    case 'boolean':
      writeBoolTag(writer, key, value);
      break;
    case 'bigint':
      writeBigIntTag(writer, key, value);
      break;
    default:
      if (typeof value === 'object') writeObjectTag(writer, key, value);
      // What the types forbid: text of it is better than a batch that never leaves.
      else writeStringTag(writer, key, String(value));
  }
};

export const writePropertyTags = (writer: ThriftWriter, properties: SpanProperties): void => {
  const { size } = properties;
  for (let i = 0; i < size; i++) writeTag(writer, properties.key(i), properties.value(i));
};
