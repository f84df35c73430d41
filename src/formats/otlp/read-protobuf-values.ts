// OTLP's KeyValue and AnyValue messages as archived values. Recursion is bounded by the context, not by the sender.

import { doubleValue } from '../../record/archived-double.js';
import type { ArchivedValue } from '../../record/archived-span.js';
import { PropertyDraft } from '../../record/properties.js';
import type { DecodeContext } from '../decode-context.js';
import * as Field from './fields.js';
import type { ProtobufReader } from './protobuf-reader.js';

/** The message AnyValue. */
const readValue = (reader: ProtobufReader, context: DecodeContext, depth: number): ArchivedValue => {
  context.item();
  const outer = reader.enter();
  // Without content, as OTLP allows: the key is kept.
  let value: ArchivedValue = null;
  while (reader.hasMore) {
    const field = reader.tag();
    switch (field) {
      case Field.STRING_VALUE:
        value = reader.text();
        break;
      case Field.BOOL_VALUE:
        value = reader.int64() !== 0;
        break;
      case Field.INT_VALUE:
        value = reader.int64();
        break;
      case Field.DOUBLE_VALUE:
        value = doubleValue(reader.double());
        break;
      case Field.ARRAY_VALUE:
      case Field.KEY_VALUE_LIST:
        if (depth >= context.maxDepth) {
          context.flaw('values nested too deep');
          reader.skip(field);
        } else
          value =
            field === Field.ARRAY_VALUE ? readArray(reader, context, depth + 1) : readMap(reader, context, depth + 1);
        break;
      case Field.BYTES_VALUE:
        value = reader.blob();
        break;
      default:
        reader.skip(field);
    }
  }
  reader.leave(outer);
  return value;
};

const readArray = (reader: ProtobufReader, context: DecodeContext, depth: number): ArchivedValue => {
  const outer = reader.enter();
  const values: ArchivedValue[] = [];
  while (reader.hasMore) {
    const field = reader.tag();
    if (field === Field.VALUES) values.push(readValue(reader, context, depth));
    else reader.skip(field);
  }
  reader.leave(outer);
  return values;
};

const readMap = (reader: ProtobufReader, context: DecodeContext, depth: number): ArchivedValue => {
  const outer = reader.enter();
  const properties = new PropertyDraft();
  while (reader.hasMore) {
    const field = reader.tag();
    if (field === Field.VALUES) readKeyValue(reader, context, properties, depth);
    else reader.skip(field);
  }
  reader.leave(outer);
  return properties.done();
};

/** The message KeyValue, into `properties`. */
export const readKeyValue = (
  reader: ProtobufReader,
  context: DecodeContext,
  properties: PropertyDraft,
  depth = 0,
): void => {
  const outer = reader.enter();
  let key = '';
  let value: ArchivedValue | undefined;
  while (reader.hasMore) {
    const field = reader.tag();
    if (field === Field.KEY) key = reader.text();
    else if (field === Field.VALUE) value = readValue(reader, context, depth);
    else reader.skip(field);
  }
  reader.leave(outer);
  if (value === undefined) {
    context.item();
    value = null;
  }
  if (!properties.set(key, value)) context.flaw('a key comes twice');
};
