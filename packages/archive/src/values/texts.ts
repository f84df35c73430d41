// Texts as bytes. Every JavaScript string comes back as it was, those that are not valid Unicode too.
//
//     text     = length:varint bytes              twice the bytes of UTF-8; of UTF-16LE, plus one, where the text is not valid Unicode
//     texts(n) = 0x00 length:varint[n] bytes | 0x01 d:varint length:varint[d] bytes place:varint[n]      the second where texts repeat
import { type ByteReader, ByteWriter } from 'spanline/internal/base';

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

  private constructor(places: Uint32Array | undefined, forms: Float64Array, ends: Uint32Array, bytes: Buffer) {
    this.#places = places;
    this.#forms = forms;
    this.#ends = ends;
    this.#bytes = bytes;
    this.#made = new Array(forms.length);
  }

  /** Read `count` texts; the caller has capped `count` and the bytes. */
  static read(reader: ByteReader, count: number): TextColumn {
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
    const bytes = asBuffer(reader.raw(ends[distinct]));
    if (form === PLAIN) return new TextColumn(undefined, forms, ends, bytes);
    const places = new Uint32Array(count);
    for (let i = 0; i < count; i++) {
      places[i] = reader.varint();
      if (places[i] >= distinct) throw reader.corrupt('has a text that does not exist');
    }
    return new TextColumn(places, forms, ends, bytes);
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
