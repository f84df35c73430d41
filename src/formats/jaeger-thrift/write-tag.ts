// Property values as jaeger.thrift Tags. A value keeps its type; what Thrift has no type for becomes text, never nothing.
import type { PropertyList, PropertyValue } from '../../local-span/property.js';
import type { ThriftWriter } from './thrift-writer.js';

/** `enum TagType` and the ids of `struct Tag`. */
const TAG_TYPE = { string: 0, double: 1, bool: 2, long: 3 } as const;
const KEY = 1;
const TYPE = 2;
const V_STRING = 3;
const V_DOUBLE = 4;
const V_BOOL = 5;
const V_LONG = 6;

const TWO_32 = 0x1_0000_0000;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** The two words of a bigint without a division: a store through one view, a load through the other. */
const oneBigInt = new BigInt64Array(1);
const itsWords = new Uint32Array(oneBigInt.buffer);
const [LOW, HIGH] = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? [0, 1] : [1, 0];

export const writeStringTag = (writer: ThriftWriter, key: string, value: string): void => {
  const outer = writer.beginStruct();
  writer.stringField(KEY, key);
  writer.i32Field(TYPE, TAG_TYPE.string);
  writer.stringField(V_STRING, value);
  writer.endStruct(outer);
};

export const writeBoolTag = (writer: ThriftWriter, key: string, value: boolean): void => {
  const outer = writer.beginStruct();
  writer.stringField(KEY, key);
  writer.i32Field(TYPE, TAG_TYPE.bool);
  writer.boolField(V_BOOL, value);
  writer.endStruct(outer);
};

const writeDoubleTag = (writer: ThriftWriter, key: string, value: number): void => {
  const outer = writer.beginStruct();
  writer.stringField(KEY, key);
  writer.i32Field(TYPE, TAG_TYPE.double);
  writer.doubleField(V_DOUBLE, value);
  writer.endStruct(outer);
};

const writeLongTag = (writer: ThriftWriter, key: string, hi: number, lo: number): void => {
  const outer = writer.beginStruct();
  writer.stringField(KEY, key);
  writer.i32Field(TYPE, TAG_TYPE.long);
  writer.i64Field(V_LONG, hi, lo);
  writer.endStruct(outer);
};

/** A whole number as LONG. */
export const writeIntegerTag = (writer: ThriftWriter, key: string, value: number): void => {
  writeLongTag(writer, key, Math.floor(value / TWO_32), value);
};

const writeNumberTag = (writer: ThriftWriter, key: string, value: number): void => {
  if (Number.isSafeInteger(value)) writeIntegerTag(writer, key, value);
  else if (Number.isFinite(value)) writeDoubleTag(writer, key, value);
  // Jaeger's query service answers in JSON, which has no NaN and no Infinity: one such double and it cannot show the
  // whole trace (jaegertracing/jaeger-ui issues 321 and 3047).
  else writeStringTag(writer, key, String(value));
};

const writeBigIntTag = (writer: ThriftWriter, key: string, value: bigint): void => {
  if (value < INT64_MIN || value > INT64_MAX) {
    writeStringTag(writer, key, value.toString());
    return;
  }
  oneBigInt[0] = value;
  writeLongTag(writer, key, itsWords[HIGH] as number, itsWords[LOW] as number);
};

/** JSON.stringify refuses a bigint and turns NaN into null; here a bigint keeps all its digits and NaN is text. */
const elementToJson = (element: string | number | bigint | boolean): string => {
  if (typeof element === 'bigint') return element.toString();
  if (typeof element === 'number' && !Number.isFinite(element)) return JSON.stringify(String(element));
  return JSON.stringify(element);
};

export const arrayToJson = (array: Extract<PropertyValue, readonly unknown[]>): string => {
  let text = '[';
  for (let i = 0; i < array.length; i++) text += (i === 0 ? '' : ',') + elementToJson(array[i] as string);
  return `${text}]`;
};

export const writeTag = (writer: ThriftWriter, key: string, value: PropertyValue): void => {
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
      // An untyped caller may have passed what the types forbid; text of it is better than a batch that never leaves.
      writeStringTag(writer, key, Array.isArray(value) ? arrayToJson(value) : String(value));
  }
};

export const writePropertyTags = (writer: ThriftWriter, list: PropertyList): void => {
  for (let i = 0; i < list.length; i += 2) writeTag(writer, list[i] as string, list[i + 1] as PropertyValue);
};
