// OTLP's KeyValue and AnyValue in JSON as archived values. Recursion is bounded by the context, not by the sender.
import { doubleValue } from '../../record/archived-double.js';
import type { ArchivedValue } from '../../record/archived-span.js';
import { PropertyDraft } from '../../record/properties.js';
import type { DecodeContext } from '../decode-context.js';
import { type JsonObject, listOf, textOf, toBytes, toDouble, toInteger, toObject, toText } from '../json-fields.js';
import { malformed } from '../trace-format-error.js';

const MEMBERS = ['stringValue', 'boolValue', 'intValue', 'doubleValue', 'arrayValue', 'kvlistValue', 'bytesValue'];

/** Digits that no double holds, such as 1e999, are not taken for infinity. */
const finite = (value: number, written: unknown): number => {
  const isWritten = typeof written === 'string' && /^[+-]?Infinity$|^NaN$/.test(written);
  if (Number.isFinite(value) || isWritten) return value;
  throw malformed('doubleValue must be within the range of a double');
};

const INT64_END = 2n ** 63n;

const toInt64 = (value: unknown): number | bigint => {
  const number = toInteger(value, 'intValue');
  if (typeof number === 'bigint' && (number >= INT64_END || number < -INT64_END))
    throw malformed('intValue must be within 64 bits');
  return number;
};

const toBool = (value: unknown): boolean => {
  if (typeof value !== 'boolean') throw malformed('boolValue must be true or false');
  return value;
};

const toNested = (value: unknown, context: DecodeContext, depth: number, isMap: boolean): ArchivedValue => {
  if (depth >= context.maxDepth) {
    context.flaw('values nested too deep');
    return '';
  }
  const values = listOf(toObject(value, isMap ? 'kvlistValue' : 'arrayValue'), 'values');
  return isMap ? toProperties(values, context, depth + 1) : values.map((item) => toValue(item, context, depth + 1));
};

/** The one member of a value; one without content is null: the key is kept. */
const toValue = (raw: unknown, context: DecodeContext, depth: number): ArchivedValue => {
  context.item();
  if (raw === undefined || raw === null) return null;
  const value = toObject(raw, 'value');
  const { stringValue, boolValue, intValue, doubleValue: double, arrayValue, kvlistValue, bytesValue } = value;
  if (MEMBERS.filter((member) => value[member] != null).length > 1)
    throw malformed('a value has several members, of which only one may be there');
  if (stringValue != null) return toText(stringValue, 'stringValue');
  if (intValue != null) return toInt64(intValue);
  if (boolValue != null) return toBool(boolValue);
  if (double != null) return doubleValue(finite(toDouble(double, 'doubleValue'), double));
  if (arrayValue != null) return toNested(arrayValue, context, depth, false);
  if (kvlistValue != null) return toNested(kvlistValue, context, depth, true);
  if (bytesValue != null) return toBytes(bytesValue, 'bytesValue');
  return null;
};

const toProperties = (
  list: readonly unknown[],
  context: DecodeContext,
  depth: number,
): Record<string, ArchivedValue> => {
  const properties = new PropertyDraft();
  for (const item of list) {
    const pair = toObject(item, 'an attribute');
    if (!properties.set(textOf(pair, 'key'), toValue(pair.value, context, depth))) context.flaw('a key comes twice');
  }
  return properties.done();
};

/** The member `attributes`; a new object. */
export const attributesOf = (holder: JsonObject, context: DecodeContext): Record<string, ArchivedValue> =>
  toProperties(listOf(holder, 'attributes'), context, 0);
