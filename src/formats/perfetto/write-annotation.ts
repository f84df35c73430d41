// Properties as debug annotations, which Perfetto shows as arguments of a slice. Numbers keep their type; what has no type there becomes text:
// integers beyond 64 bits, bytes (base64), a value without content (`null`).
//
// Texts that stand in a file once and are referred to by number: names of events, categories, keys of annotations. Bounded: a text beyond the
// bound gets no number and is written where it is used.
import { type ByteWriter, isInt64, writeBigInt, writeInteger, writeVarint32 } from '../../base/bytes/byte-writer.js';
import { ArchivedDouble } from '../../record/archived-double.js';
import type { ArchivedProperties, ArchivedValue } from '../../record/archived-span.js';
import type { SpanProperties } from '../../record/finished-span.js';
import { valueJson } from '../../record/properties.js';
import * as Field from './fields.js';
import { beginField, endField, writeText, writeWhole } from './fields.js';

const MAX_TEXTS = 1 << 16;
/** Longer texts are rarely said twice. */
const MAX_LENGTH = 1024;

/** One index of texts. Entries that are new since the last packet are in `fresh`. */
class Index {
  readonly #ids = new Map<string, number>();

  readonly #fresh: ByteWriter;
  readonly #fieldTag: number;

  constructor(fresh: ByteWriter, fieldTag: number) {
    this.#fresh = fresh;
    this.#fieldTag = fieldTag;
  }

  /** The number of a text, from 1 on; 0 where it has none. */
  idOf(text: string): number {
    const known = this.#ids.get(text);
    if (known !== undefined) return known;
    if (this.#ids.size >= MAX_TEXTS || text.length > MAX_LENGTH) return 0;
    const id = this.#ids.size + 1;
    this.#ids.set(text, id);
    const start = beginField(this.#fresh, this.#fieldTag);
    writeWhole(this.#fresh, Field.ENTRY_ID, id);
    writeText(this.#fresh, Field.ENTRY_NAME, text);
    endField(this.#fresh, start);
    return id;
  }
}

/** All indices of a sequence of packets. */
export class Interned {
  readonly names: Index;
  readonly categories: Index;
  readonly keys: Index;

  /** @param fresh Gets the entries; whoever writes a packet puts them into it and clears this. */
  constructor(readonly fresh: ByteWriter) {
    this.names = new Index(fresh, Field.INTERNED_NAMES);
    this.categories = new Index(fresh, Field.INTERNED_CATEGORIES);
    this.keys = new Index(fresh, Field.INTERNED_KEYS);
  }
}

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

const writeItems = (writer: ByteWriter, items: readonly ArchivedValue[], interned: Interned, depth: number): void => {
  for (const item of items) {
    const start = beginField(writer, Field.ANNOTATION_ITEMS);
    writeValue(writer, item, interned, depth);
    endField(writer, start);
  }
};

const writeEntries = (writer: ByteWriter, map: ArchivedProperties, interned: Interned, depth: number): void => {
  for (const [key, value] of Object.entries(map))
    writeEntry(writer, Field.ANNOTATION_ENTRIES, key, value, interned, depth);
};

const isList = (value: object): value is readonly ArchivedValue[] => Array.isArray(value);

/** What is neither a text nor a number. */
const writeObject = (writer: ByteWriter, value: object | null, interned: Interned, depth: number): void => {
  if (value === null) writeText(writer, Field.ANNOTATION_TEXT, 'null');
  else if (value instanceof ArchivedDouble) writeDouble(writer, value.value);
  else if (value instanceof Uint8Array) writeText(writer, Field.ANNOTATION_TEXT, Buffer.from(value).toString('base64'));
  else if (depth >= MAX_DEPTH) writeText(writer, Field.ANNOTATION_TEXT, valueJson(value as ArchivedValue));
  else if (isList(value)) writeItems(writer, value, interned, depth + 1);
  else writeEntries(writer, value as ArchivedProperties, interned, depth + 1);
};

/** The value of an annotation that is open. */
const writeValue = (writer: ByteWriter, value: ArchivedValue, interned: Interned, depth: number): void => {
  if (typeof value === 'string') writeText(writer, Field.ANNOTATION_TEXT, value);
  else if (typeof value === 'boolean') writeWhole(writer, Field.ANNOTATION_BOOL, value ? 1 : 0);
  else if (typeof value === 'number') writeNumber(writer, value);
  else if (typeof value === 'bigint') writeBig(writer, value);
  else writeObject(writer, value, interned, depth);
};

const writeEntry = (
  writer: ByteWriter,
  fieldTag: number,
  key: string,
  value: ArchivedValue,
  interned: Interned,
  depth: number,
): void => {
  const start = beginField(writer, fieldTag);
  const id = interned.keys.idOf(key);
  if (id === 0) writeText(writer, Field.ANNOTATION_KEY, key);
  else writeWhole(writer, Field.ANNOTATION_KEY_ID, id);
  writeValue(writer, value, interned, depth);
  endField(writer, start);
};

/** A property of the event that is open. */
export const writeAnnotation = (writer: ByteWriter, key: string, value: ArchivedValue, interned: Interned): void =>
  writeEntry(writer, Field.DEBUG_ANNOTATIONS, key, value, interned, 0);

/** All properties of the event that is open. */
export const writeAnnotations = (writer: ByteWriter, properties: SpanProperties, interned: Interned): void => {
  for (let i = 0; i < properties.size; i++) writeAnnotation(writer, properties.key(i), properties.value(i), interned);
};
