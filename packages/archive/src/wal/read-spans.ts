// Reads the spans of a write-ahead file: when a segment is made, after a crash, or for whoever asks for what is in no segment yet. Every value
// must come back exactly as it went in, and bytes that are not what was written are an error, never a span.
import type { ByteReader } from 'spanline/internal/base';
import {
  type ArchivedEvent,
  type ArchivedLink,
  type ArchivedProperties,
  type ArchivedResource,
  type ArchivedScope,
  type ArchivedValue,
  type Extras,
  PropertyDraft,
  spanHex,
  traceHex,
} from 'spanline/internal/record';
import type { SpanRows } from '../rows/span-rows.js';
import { readResource, readScope } from '../segment/span-tables.js';
import { restored } from '../stored-extras.js';
import { KINDS, readTime, STATUS_CODES } from '../values/fields.js';
import { readText, readValue, ValueType } from '../values/values.js';
import { ALL_BITS, Has } from './span-form.js';

const TWO_32 = 2 ** 32;
const NONE: readonly never[] = Object.freeze([]);

/** The things of a batch, as they are met. */
const readKnown = <T>(reader: ByteReader, known: T[], read: (reader: ByteReader) => T): T => {
  const number = reader.varint();
  if (number === known.length) known.push(read(reader));
  const thing = known[number];
  if (thing === undefined) throw reader.corrupt('names something it does not have');
  return thing;
};

/** A count of things that take a byte at least: a lie is found before memory is taken. */
const readCount = (reader: ByteReader): number => {
  const count = reader.varint();
  if (count > reader.left) throw reader.corrupt('claims more than it has');
  return count;
};

/** The texts of a batch, as they are met. */
class ReadTexts {
  readonly #rows: SpanRows;
  readonly #known: string[] = [];
  // Of each its number among the texts of the rows, once it was asked for.
  readonly #numbers: number[] = [];
  /** The place of the text that was read last, -1 where it has none. */
  #last = -1;

  constructor(rows: SpanRows) {
    this.#rows = rows;
  }

  text(reader: ByteReader): string {
    const number = reader.varint();
    this.#last = number - 1;
    if (number === 0) return readText(reader);
    if (number === this.#known.length + 1) this.#known.push(readText(reader));
    const text = this.#known[number - 1];
    if (text === undefined) throw reader.corrupt('names a text it does not have');
    return text;
  }

  /** The number among the texts of the rows of the text that was just read. */
  numberOf(text: string): number {
    if (this.#last < 0) return this.#rows.textNumber(text);
    this.#numbers[this.#last] ??= this.#rows.textNumber(text);
    return this.#numbers[this.#last];
  }

  value(reader: ByteReader, type: number): ArchivedValue {
    return type === ValueType.text ? this.text(reader) : readValue(reader, type, 1);
  }

  properties(reader: ByteReader): Extras & { readonly properties: ArchivedProperties } {
    const properties = new PropertyDraft();
    for (let left = readCount(reader); left > 0; left--) {
      const key = this.text(reader);
      properties.set(key, this.value(reader, reader.byte()));
    }
    return restored(properties.done());
  }
}

/** All spans of a batch become rows, or none when it throws. */
export const readRows = (reader: ByteReader, rows: SpanRows): void => {
  const before = rows.count;
  try {
    readBatch(reader, rows);
  } catch (error) {
    rows.truncate(before);
    throw error;
  }
};

const readBatch = (reader: ByteReader, rows: SpanRows): void => {
  const resources: ArchivedResource[] = [];
  const scopes: ArchivedScope[] = [];
  const texts = new ReadTexts(rows);
  let trace = -1;
  while (reader.left > 0) {
    const row = rows.begin();
    const bits = reader.byte();
    if (bits > ALL_BITS) throw reader.corrupt('has a span of unknown form');
    const kindAndStatus = reader.byte();
    if (kindAndStatus >= KINDS.length * STATUS_CODES.length) throw reader.corrupt('has a span of unknown kind');
    rows.kind[row] = Math.floor(kindAndStatus / STATUS_CODES.length);
    rows.status[row] = kindAndStatus % STATUS_CODES.length;
    if (bits & Has.newTrace)
      trace = rows.traces.numberOf(reader.uint32(), reader.uint32(), reader.uint32(), reader.uint32());
    if (trace < 0) throw reader.corrupt('has a span of no trace');
    rows.trace[row] = trace;
    rows.id[2 * row] = reader.uint32();
    rows.id[2 * row + 1] = reader.uint32();
    const hasParent = (bits & Has.parent) !== 0;
    rows.hasParent[row] = hasParent ? 1 : 0;
    rows.parent[2 * row] = hasParent ? reader.uint32() : 0;
    rows.parent[2 * row + 1] = hasParent ? reader.uint32() : 0;
    const startLow = reader.uint32();
    const startHigh = reader.uint32();
    rows.start.set(row, startHigh, startLow);
    if (bits & Has.far) {
      const endLow = reader.uint32();
      rows.end.set(row, reader.uint32(), endLow);
    } else {
      const duration = reader.varint();
      const low = startLow + (duration % TWO_32);
      const high = startHigh + Math.floor(duration / TWO_32) + (low >= TWO_32 ? 1 : 0);
      if (high >= TWO_32) throw reader.corrupt('has a span that ends at no time');
      rows.end.set(row, high, low % TWO_32);
    }
    rows.resource[row] = rows.resources.numberOf(readKnown(reader, resources, readResource));
    rows.scope[row] = rows.scopes.numberOf(readKnown(reader, scopes, readScope));
    rows.name[row] = texts.numberOf(texts.text(reader));
    const traceState = bits & Has.texts ? readText(reader) : '';
    const message = bits & Has.texts ? readText(reader) : '';
    if (bits & Has.properties) readRowProperties(reader, rows, texts);
    const events = bits & Has.events ? readEvents(reader, texts) : NONE;
    rows.finish(traceState, message, events, bits & Has.links ? readLinks(reader, texts) : NONE);
  }
};

/** The properties of a row. */
const readRowProperties = (reader: ByteReader, rows: SpanRows, texts: ReadTexts): void => {
  for (let left = readCount(reader); left > 0; left--) {
    const key = texts.numberOf(texts.text(reader));
    const type = reader.byte();
    rows.addProperty(key, type, texts.value(reader, type));
  }
};

const readEvents = (reader: ByteReader, texts: ReadTexts): ArchivedEvent[] =>
  Array.from(
    { length: readCount(reader) },
    (): ArchivedEvent => ({
      name: texts.text(reader),
      timeUnixNs: readTime(reader),
      ...texts.properties(reader),
    }),
  );

const readLinks = (reader: ByteReader, texts: ReadTexts): ArchivedLink[] =>
  Array.from(
    { length: readCount(reader) },
    (): ArchivedLink => ({
      traceId: traceHex(reader.uint32(), reader.uint32(), reader.uint32(), reader.uint32()),
      spanId: spanHex(reader.uint32(), reader.uint32()),
      traceState: readText(reader),
      ...texts.properties(reader),
    }),
  );
