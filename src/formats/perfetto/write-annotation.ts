// Properties as debug annotations, which Perfetto shows as arguments of a slice. Numbers keep their type; what has no type there becomes text:
// integers beyond 64 bits, bytes (base64), a value without content (`null`).
import {
  type ByteWriter,
  endMessage,
  isInt64,
  writeBigInt,
  writeInteger,
  writeVarint32,
} from '../../base/bytes/byte-writer.js';
import { ArchivedDouble, type ArchivedProperties, type ArchivedValue } from '../../record/archived-span.js';
import type { SpanProperties } from '../../record/finished-span.js';
import { valueJson } from '../../record/properties.js';
import * as Field from './fields.js';
import { beginField, writeText, writeWhole } from './fields.js';

const NUMBER_ROOM = 16;
/** Deeper lists and maps are shown as text: the reader's own recursion is not ours to trust. */
const MAX_DEPTH = 16;

const writeDouble = (writer: ByteWriter, value: number): void => {
  writer.reserve(NUMBER_ROOM);
  writeVarint32(writer, Field.ANNOTATION_DOUBLE);
  writer.double(value);
};

const writeInt = (writer: ByteWriter, write: () => void): void => {
  writer.reserve(NUMBER_ROOM);
  writeVarint32(writer, Field.ANNOTATION_INT);
  write();
};

const writeNumber = (writer: ByteWriter, value: number): void => {
  if (!Number.isSafeInteger(value) || Object.is(value, -0)) writeDouble(writer, value);
  else writeInt(writer, () => writeInteger(writer, value));
};

const writeBig = (writer: ByteWriter, value: bigint): void => {
  if (isInt64(value)) writeInt(writer, () => writeBigInt(writer, value));
  else writeText(writer, Field.ANNOTATION_TEXT, String(value));
};

const writeItems = (writer: ByteWriter, items: readonly ArchivedValue[], depth: number): void => {
  for (const item of items) {
    const start = beginField(writer, Field.ANNOTATION_ITEMS);
    writeValue(writer, item, depth);
    endMessage(writer, start, 1);
  }
};

const writeEntries = (writer: ByteWriter, map: ArchivedProperties, depth: number): void => {
  for (const [key, value] of Object.entries(map)) writeEntry(writer, Field.ANNOTATION_ENTRIES, key, value, depth);
};

const isList = (value: object): value is readonly ArchivedValue[] => Array.isArray(value);

/** What is neither a text nor a number. */
const writeObject = (writer: ByteWriter, value: object | null, depth: number): void => {
  if (value === null) writeText(writer, Field.ANNOTATION_TEXT, 'null');
  else if (value instanceof ArchivedDouble) writeDouble(writer, value.value);
  else if (value instanceof Uint8Array) writeText(writer, Field.ANNOTATION_TEXT, Buffer.from(value).toString('base64'));
  else if (depth >= MAX_DEPTH) writeText(writer, Field.ANNOTATION_TEXT, valueJson(value as ArchivedValue));
  else if (isList(value)) writeItems(writer, value, depth + 1);
  else writeEntries(writer, value as ArchivedProperties, depth + 1);
};

/** The value of an annotation that is open. */
const writeValue = (writer: ByteWriter, value: ArchivedValue, depth: number): void => {
  if (typeof value === 'string') writeText(writer, Field.ANNOTATION_TEXT, value);
  else if (typeof value === 'boolean') writeWhole(writer, Field.ANNOTATION_BOOL, value ? 1 : 0);
  else if (typeof value === 'number') writeNumber(writer, value);
  else if (typeof value === 'bigint') writeBig(writer, value);
  else writeObject(writer, value, depth);
};

const writeEntry = (writer: ByteWriter, fieldTag: number, key: string, value: ArchivedValue, depth: number): void => {
  const start = beginField(writer, fieldTag);
  writeText(writer, Field.ANNOTATION_KEY, key);
  writeValue(writer, value, depth);
  endMessage(writer, start, 1);
};

/** A property of the event that is open. */
export const writeAnnotation = (writer: ByteWriter, key: string, value: ArchivedValue): void =>
  writeEntry(writer, Field.DEBUG_ANNOTATIONS, key, value, 0);

/** All properties of the event that is open. */
export const writeAnnotations = (writer: ByteWriter, properties: SpanProperties): void => {
  for (let i = 0; i < properties.size; i++) writeAnnotation(writer, properties.key(i), properties.value(i));
};
