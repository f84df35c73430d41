// Properties as OTLP's KeyValue and AnyValue messages. A value keeps its type; an integer beyond 64 bits, which OTLP has no
// place for, becomes its digits as a string, never a rounded number.
//
// Those of rows are written from their words and bytes: no string is made of a key or a text that the chunk has as bytes already. Services say the
// same again and again (method, scheme, address, user agent): what a property of the same key, type and place was written as before is copied, and
// what was written side by side is copied at once. A place is good only while nothing before it moves: whoever moves or takes back what was written
// says so.
import {
  ByteWriter,
  beginMessage,
  endMessage,
  isInt64,
  varintLength,
  writeBigInt,
  writeInteger,
  writeString,
  writeVarint32,
} from '../../base/bytes/byte-writer.js';
import { ArchivedDouble, type ArchivedProperties, type ArchivedValue } from '../../record/archived-span.js';
import type { SpanProperties } from '../../record/finished-span.js';
import type { RowProperties } from '../../record/row-view.js';
import { type RowEntries, Tag } from '../../rows/row-entries.js';
import { Encoding, internedName } from '../../rows/row-text.js';
import { TAGS } from './messages.js';

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
  writeOwnProperties(writer, Values.values, map);
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

/** The same of an object's own; one that is undefined is none. */
export const writeOwnProperties = (writer: ByteWriter, fieldTag: number, properties: ArchivedProperties): void => {
  for (const key of Object.keys(properties)) {
    const value: ArchivedValue | undefined = properties[key];
    if (value !== undefined) writeKeyValue(writer, fieldTag, key, value);
  }
};

// Keys whose last property is known, by the key's number.
const REMEMBERED = 256;

// Up to this length a loop beats the call into native code.
const LOOP_BYTES = 48;

/** Bytes of tags and lengths around key and value, and room for what follows. */
const AROUND = 24;

const MAX_INT32 = 0x7fff_ffff;

/** Of each number of a key the field `key`, then the tag of the value. As many as there are numbers. */
const fronts: (Buffer | undefined)[] = [];

const frontOf = (key: number): Buffer => fronts[key] ?? makeFront(key);

const makeFront = (key: number): Buffer => {
  const writer = new ByteWriter();
  writeString(writer, KeyValue.key, internedName(key));
  writer.byte(KeyValue.value);
  const front = writer.copy();
  // A table with holes would be a slow one.
  while (fronts.length <= key) fronts.push(undefined);
  fronts[key] = front;
  return front;
};

const copyBytes = (writer: ByteWriter, from: Buffer, at: number, length: number): void => {
  const { bytes, length: to } = writer;
  writer.length = to + length;
  if (length > LOOP_BYTES) from.copy(bytes, to, at, at + length);
  else for (let i = 0; i < length; i++) bytes[to + i] = from[at + i];
};

/** A message KeyValue: its value is `length` bytes long and is written next. */
const beginKeyValue = (writer: ByteWriter, fieldTag: number, key: number, length: number): void => {
  const front = frontOf(key);
  const size = front.length + varintLength(length) + length;
  writer.reserve(size + AROUND);
  writer.bytes[writer.length++] = fieldTag;
  writeVarint32(writer, size);
  copyBytes(writer, front, 0, front.length);
  writeVarint32(writer, length);
};

/** One property whose key has a number; false, and nothing is written, for what has no bytes here that could be copied. */
const writeEntry = (writer: ByteWriter, fieldTag: number, entries: RowEntries, entry: number): boolean => {
  const { words, doubles, text } = entries;
  const key = words[entry * 4];
  const tag = words[entry * 4 + 1];
  if (key === 0) return false;
  switch (tag & 0xff) {
    case Tag.text: {
      // Halves of characters have no bytes in UTF-8.
      if (tag >> 8 === Encoding.utf16) return false;
      const length = words[entry * 4 + 3];
      beginKeyValue(writer, fieldTag, key, 1 + varintLength(length) + length);
      writer.bytes[writer.length++] = Value.stringValue;
      writeVarint32(writer, length);
      copyBytes(writer, text.bytes, words[entry * 4 + 2], length);
      return true;
    }
    case Tag.number: {
      const value = doubles[entry * 2 + 1];
      const isSmall = value >= 0 && value <= MAX_INT32 && Number.isInteger(value) && !Object.is(value, -0);
      if (!isSmall) return false;
      beginKeyValue(writer, fieldTag, key, 1 + varintLength(value));
      writer.bytes[writer.length++] = Value.intValue;
      writeVarint32(writer, value);
      return true;
    }
    case Tag.true:
    case Tag.false:
      beginKeyValue(writer, fieldTag, key, 2);
      writer.bytes[writer.length++] = Value.boolValue;
      writer.bytes[writer.length++] = (tag & 0xff) === Tag.true ? 1 : 0;
      return true;
    default:
      return false;
  }
};

const copyWithin = (writer: ByteWriter, from: number, to: number): void => {
  if (from === to) return;
  writer.reserve(to - from);
  writer.bytes.copyWithin(writer.length, from, to);
  writer.length += to - from;
};

/** Writes the properties of the spans of one request after another. */
export class RowPropertyWriter {
  // Of the last property of each remembered key: the words of its entry and the text they speak of, and where it was written.
  private readonly words = new Int32Array(REMEMBERED * 4);
  private readonly serials = new Float64Array(REMEMBERED);
  private readonly places = new Int32Array(REMEMBERED);
  private readonly ends = new Int32Array(REMEMBERED);
  // The slots of those written since the last call of `settle`.
  private readonly fresh = new Int32Array(REMEMBERED);
  private freshCount = 0;

  /** What was written before is elsewhere, or nowhere. */
  forget(): void {
    this.serials.fill(0);
    this.places.fill(0);
    this.freshCount = 0;
  }

  /** What was written since the last call was moved by so many bytes. */
  settle(moved: number): void {
    if (moved !== 0) {
      for (let i = 0; i < this.freshCount; i++) {
        this.places[this.fresh[i]] += moved;
        this.ends[this.fresh[i]] += moved;
      }
    }
    this.freshCount = 0;
  }

  write(writer: ByteWriter, fieldTag: number, properties: RowProperties): void {
    const { size, entries } = properties;
    const { words } = entries;
    const { serial } = entries.text;
    const start = writer.length;
    // What is to be copied: bytes written before, side by side.
    let from = 0;
    let to = 0;
    for (let i = 0; i < size; i++) {
      const entry = properties.entryAt(i);
      const at = entry * 4;
      const key = words[at];
      const slot = key % REMEMBERED;
      const known = slot * 4;
      if (
        this.serials[slot] === serial &&
        this.words[known] === key &&
        this.words[known + 1] === words[at + 1] &&
        this.words[known + 2] === words[at + 2] &&
        this.words[known + 3] === words[at + 3]
      ) {
        if (this.places[slot] !== to) {
          copyWithin(writer, from, to);
          from = this.places[slot];
        }
        to = this.ends[slot];
        continue;
      }
      copyWithin(writer, from, to);
      from = 0;
      to = 0;
      const place = writer.length;
      if (!writeEntry(writer, fieldTag, entries, entry)) {
        writeKeyValue(writer, fieldTag, properties.key(i), properties.value(i));
        continue;
      }
      this.serials[slot] = serial;
      for (let word = 0; word < 4; word++) this.words[known + word] = words[at + word];
      // Keys that share a slot come here twice.
      if (this.places[slot] < start) this.fresh[this.freshCount++] = slot;
      this.places[slot] = place;
      this.ends[slot] = writer.length;
    }
    copyWithin(writer, from, to);
  }
}
