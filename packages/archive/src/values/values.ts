// Property values as bytes, each with its type. A value must come back with the type it had: 5 and 5n are two, 0 and -0 as well. What would
// come back as something else, such as a Date or a Map, is not a value. Neither writer nor reader may be led into endless depth.
//
// Every JavaScript string comes back as it was, those that are not valid Unicode too.
//
//     properties = n:varint (key:text type:byte value)[n]
//     text     = length:varint bytes              twice the bytes of UTF-8; of UTF-16LE, plus one, where the text is not valid Unicode
//     texts(n) = 0x00 length:varint[n] bytes | 0x01 d:varint length:varint[d] bytes place:varint[n]      the second where texts repeat

import { isUint8Array } from 'node:util/types';
import { BadValueError } from '@spanline/graph';
import { type ByteReader, ByteWriter } from 'spanline/internal/base';
import { ArchivedDouble, type ArchivedProperties, type ArchivedValue, PropertyDraft } from 'spanline/internal/record';

const PLAIN = 0;
const DISTINCT = 1;

/** In every supported Node, though not yet in the types of the oldest. */
const isWellFormed = (text: string): boolean => (text as unknown as { isWellFormed(): boolean }).isWellFormed();

/** A number that tells length and form, and the bytes. */
const append = (text: string, lengths: ByteWriter, bytes: ByteWriter): void => {
  const isUtf8 = isWellFormed(text);
  const encoded = Buffer.from(text, isUtf8 ? 'utf8' : 'utf16le');
  lengths.varint(encoded.length * 2 + (isUtf8 ? 0 : 1));
  bytes.raw(encoded);
};

const decode = (bytes: Buffer, form: number): string => bytes.toString(form % 2 === 0 ? 'utf8' : 'utf16le');

/** Up to this length a text is written character by character, as long as they are ASCII: its length takes one byte then. */
const SHORT_LENGTH = 63;

const appendAscii = (text: string, writer: ByteWriter): boolean => {
  const { length } = text;
  writer.reserve(length + 1);
  const { bytes } = writer;
  let at = writer.length;
  bytes[at++] = length * 2;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0x7f) return false;
    bytes[at++] = code;
  }
  writer.length = at;
  return true;
};

/** Append one text. */
export const writeText = (writer: ByteWriter, text: string): void => {
  const isShort = typeof text === 'string' && text.length <= SHORT_LENGTH;
  if (!(isShort && appendAscii(text, writer))) append(text, writer, writer);
};

/** Read one text. */
export const readText = (reader: ByteReader): string => {
  const form = reader.varint();
  return decode(asBuffer(reader.raw(Math.floor(form / 2))), form);
};

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const writeAll = (writer: ByteWriter, texts: Iterable<string>): void => {
  const bytes = new ByteWriter();
  for (const text of texts) append(text, writer, bytes);
  writer.raw(bytes.view());
};

/** Append texts; the reader knows their number. */
export const writeTexts = (writer: ByteWriter, texts: readonly string[]): void => {
  const places = new Map<string, number>();
  for (const text of texts) if (!places.has(text)) places.set(text, places.size);
  if (places.size * 2 > texts.length) {
    writer.byte(PLAIN);
    writeAll(writer, texts);
    return;
  }
  writer.byte(DISTINCT);
  writer.varint(places.size);
  writeAll(writer, places.keys());
  for (const text of texts) writer.varint(places.get(text) as number);
};

/** A column as read; a text is made when it is asked for. */
export class TextColumn {
  /** Place of each row's text; undefined when each row has its own. */
  readonly #places: Uint32Array | undefined;
  readonly #forms: Float64Array;
  readonly #ends: Uint32Array;
  readonly #bytes: Buffer;
  readonly #made: (string | undefined)[];

  /** Reads `count` texts; the caller has capped `count` and the bytes. */
  constructor(reader: ByteReader, count: number) {
    const form = reader.byte();
    if (form > DISTINCT) throw reader.corrupt(`has a column of texts of unknown form ${form}`);
    const distinct = form === PLAIN ? count : reader.varint();
    // A text takes a byte at least, its length.
    if (distinct > count || distinct > reader.left) throw reader.corrupt('is too short for its texts');
    const forms = new Float64Array(distinct);
    const ends = new Uint32Array(distinct + 1);
    for (let i = 0; i < distinct; i++) {
      forms[i] = reader.varint();
      const end = ends[i] + Math.floor(forms[i] / 2);
      if (end > reader.left) throw reader.corrupt('is too short for its texts');
      ends[i + 1] = end;
    }
    this.#forms = forms;
    this.#ends = ends;
    this.#bytes = asBuffer(reader.raw(ends[distinct]));
    this.#made = new Array(distinct);
    if (form === PLAIN) return;
    const places = new Uint32Array(count);
    for (let i = 0; i < count; i++) {
      places[i] = reader.varint();
      if (places[i] >= distinct) throw reader.corrupt('has a text that does not exist');
    }
    this.#places = places;
  }

  get(row: number): string {
    const place = this.#places === undefined ? row : this.#places[row];
    const made = this.#made[place];
    if (made !== undefined) return made;
    const text = decode(this.#bytes.subarray(this.#ends[place], this.#ends[place + 1]), this.#forms[place]);
    this.#made[place] = text;
    return text;
  }
}

/** A type's number in files. */
export const ValueType = {
  text: 0,
  /** A whole number that a varint holds; never -0. */
  whole: 1,
  /** Every other number. */
  real: 2,
  no: 3,
  yes: 4,
  bigint: 5,
  bytes: 6,
  list: 7,
  map: 8,
  /** A double that is a whole number. */
  double: 9,
  /** Without content. */
  empty: 10,
} as const;

/** Types there are. */
export const VALUE_TYPES = 11;

/** Zigzag varints hold these. */
const MAX_WHOLE = 2 ** 52 - 1;

/** The type of a value. Throws `BadValueError` for what is not a value. */
export const typeOf = (value: ArchivedValue): number => {
  switch (typeof value) {
    case 'string':
      return ValueType.text;
    case 'number':
      return Number.isInteger(value) && Math.abs(value) <= MAX_WHOLE && !Object.is(value, -0)
        ? ValueType.whole
        : ValueType.real;
    case 'boolean':
      return value ? ValueType.yes : ValueType.no;
    case 'bigint':
      return ValueType.bigint;
    case 'object':
      if (value === null) return ValueType.empty;
      if (isUint8Array(value)) return ValueType.bytes;
      if (Array.isArray(value)) return ValueType.list;
      if (value instanceof ArchivedDouble) return ValueType.double;
      if (isPlainObject(value)) return ValueType.map;
  }
  throw new BadValueError(`${describe(value)} is not a supported value of a property${adviceOn(value)}`);
};

/** Whether a value is an object of keys and values and nothing more, of whatever realm. */
export const isPlainObject = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || isRootPrototype(prototype);
};

/** The prototype of plain objects, of another realm. */
const isRootPrototype = (prototype: object): boolean =>
  Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf');

/** What a value is, for errors: `undefined`, `a number`, `a Date`. */
export const describe = (value: unknown): string => {
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return 'a list';
  const name = typeof value === 'object' ? (value.constructor?.name ?? 'object') : typeof value;
  return `${/^[AEIOUaeiou]/.test(name) ? 'an' : 'a'} ${name}`;
};

const adviceOn = (value: unknown): string => {
  if (value instanceof Date) return '; use its toISOString(), or its getTime() as a number';
  if (value instanceof Map) return '; use Object.fromEntries(map)';
  if (value instanceof Set) return '; use [...set]';
  return '';
};

/** Lists and maps inside each other at most. */
export const MAX_DEPTH = 64;

/** What a value takes in memory once decoded, about. */
export const decodedBytes = (value: ArchivedValue, depth = 0): number => {
  switch (typeof value) {
    case 'string':
      return 16 + value.length;
    case 'bigint':
      return 24;
    case 'object': {
      if (value === null || value instanceof ArchivedDouble) return 8;
      if (value instanceof Uint8Array) return 96 + value.length;
      if (depth > MAX_DEPTH) {
        throw new BadValueError(`lists and maps of a property lie more than ${MAX_DEPTH} deep inside each other`);
      }
      let bytes = 48;
      for (const [key, item] of Object.entries(value)) bytes += 16 + key.length + decodedBytes(item, depth + 1);
      return bytes;
    }
    default:
      return 8;
  }
};

const scratch = new Uint8Array(8);
const scratchView = new DataView(scratch.buffer);

/** A bigint of any size: sign and length, then its bytes, low ones first. */
const writeBigint = (writer: ByteWriter, value: bigint): void => {
  const isNegative = value < 0n;
  const hex = (isNegative ? -value : value).toString(16);
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex').reverse();
  writer.varint(bytes.length * 2 + (isNegative ? 1 : 0));
  writer.raw(bytes);
};

const readBigint = (reader: ByteReader): bigint => {
  const form = reader.varint();
  const bytes = Buffer.from(reader.raw(Math.floor(form / 2))).reverse();
  const magnitude = bytes.length === 0 ? 0n : BigInt(`0x${bytes.toString('hex')}`);
  return form % 2 === 1 ? -magnitude : magnitude;
};

/** Append a value, whose type is `type`, without the type. */
export const writeValue = (writer: ByteWriter, type: number, value: ArchivedValue, depth = 0): void => {
  switch (type) {
    case ValueType.text:
      writeText(writer, value as string);
      return;
    case ValueType.whole:
      writer.zigzag(value as number);
      return;
    case ValueType.real:
    case ValueType.double:
      scratchView.setFloat64(0, Number(value), true);
      writer.raw(scratch);
      return;
    case ValueType.bigint:
      writeBigint(writer, value as bigint);
      return;
    case ValueType.bytes:
      writer.varint((value as Uint8Array).length);
      writer.raw(value as Uint8Array);
      return;
    case ValueType.list:
      checkDepth(depth);
      writer.varint((value as readonly ArchivedValue[]).length);
      for (const item of value as readonly ArchivedValue[]) writeTyped(writer, item, depth + 1);
      return;
    case ValueType.map:
      writeProperties(writer, value as ArchivedProperties, depth);
  }
};

const writeTyped = (writer: ByteWriter, value: ArchivedValue, depth: number): void => {
  const type = typeOf(value);
  writer.byte(type);
  writeValue(writer, type, value, depth);
};

/** Append properties: how many, then keys and values. */
export const writeProperties = (writer: ByteWriter, properties: ArchivedProperties, depth = 0): void => {
  checkDepth(depth);
  if (!isPlainObject(properties))
    throw new BadValueError(`properties must be an object of keys and values, not ${describe(properties)}`);
  const keys = Object.keys(properties);
  writer.varint(keys.length);
  for (const key of keys) {
    writeText(writer, key);
    writeTyped(writer, properties[key], depth + 1);
  }
};

const checkDepth = (depth: number): void => {
  if (depth <= MAX_DEPTH + 1) return;
  throw new BadValueError(`lists and maps of a property lie more than ${MAX_DEPTH} deep inside each other`);
};

/** Read a value of `type`. */
export const readValue = (reader: ByteReader, type: number, depth = 0): ArchivedValue => {
  switch (type) {
    case ValueType.text:
      return readText(reader);
    case ValueType.whole:
      return reader.zigzag();
    case ValueType.real:
      scratch.set(reader.raw(8));
      return scratchView.getFloat64(0, true);
    case ValueType.double:
      scratch.set(reader.raw(8));
      return new ArchivedDouble(scratchView.getFloat64(0, true));
    case ValueType.empty:
      return null;
    case ValueType.no:
      return false;
    case ValueType.yes:
      return true;
    case ValueType.bigint:
      return readBigint(reader);
    case ValueType.bytes:
      return Uint8Array.from(reader.raw(reader.varint()));
    case ValueType.list: {
      const count = countOf(reader, depth);
      return Array.from({ length: count }, () => readValue(reader, reader.byte(), depth + 1));
    }
    case ValueType.map:
      return readProperties(reader, depth);
    default:
      throw reader.corrupt(`has a value of unknown type ${type}`);
  }
};

/** Read properties. */
export const readProperties = (reader: ByteReader, depth = 0): ArchivedProperties => {
  const count = countOf(reader, depth);
  const properties = new PropertyDraft();
  for (let i = 0; i < count; i++) properties.set(readText(reader), readValue(reader, reader.byte(), depth + 1));
  return properties.done();
};

const countOf = (reader: ByteReader, depth: number): number => {
  if (depth > MAX_DEPTH + 1) throw reader.corrupt('has lists and maps too deep inside each other');
  const count = reader.varint();
  // An item takes a byte at least.
  if (count > reader.left) throw reader.corrupt('is too short for its values');
  return count;
};
