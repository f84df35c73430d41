// Spans as bytes of a write-ahead file: written once, read only when a segment is made, after a crash, or by whoever asks for what is in no
// segment yet. Every value must come back exactly as it went in, and what no segment can keep must be refused here, before anybody counts
// on it. Spans of the collector are written from their rows: nothing is made of a span.

import type { ByteReader } from '../../base/bytes/byte-reader.js';
import type { ByteWriter } from '../../base/bytes/byte-writer.js';
import { BadKeyError, BadValueError } from '../../container/graph-error.js';
import { nanosWords, toNanosWords } from '../../formats/otlp/unix-nanos.js';
import { archivedView } from '../../trace/archived-copy.js';
import type {
  ArchivedEvent,
  ArchivedLink,
  ArchivedProperties,
  ArchivedResource,
  ArchivedScope,
  ArchivedSpan,
  ArchivedValue,
} from '../../trace/archived-span.js';
import type { Extras } from '../../trace/extras.js';
import type { FinishedLink, FinishedSpan, SpanProperties } from '../../trace/finished-span.js';
import { setOwn } from '../../trace/record.js';
import { checkSpan } from '../check-span.js';
import { SpanRows } from '../rows/span-rows.js';
import { planSegment } from '../segment/segment-plan.js';
import { readResource, readScope, writeResource, writeScope } from '../segment/span-tables.js';
import { EXTRA_KEYS, FLAGS_KEY, restored, storedFlags, storedKey, storedProperties } from '../stored-extras.js';
import { KINDS, STATUS_CODES } from '../values/codes.js';
import { parseId } from '../values/ids.js';
import { readText, writeText } from '../values/texts.js';
import { isTime, readTime, TIME_RULE, writeTime } from '../values/times.js';
import { isPlainObject, readProperties, readValue, typeOf, ValueType, writeValue } from '../values/values.js';

/** What a span has, as bits of its first byte. `far`: its end is written as a time, for it lasts longer than 2^53 ns. */
const Has = { parent: 1, newTrace: 2, texts: 4, properties: 8, events: 16, links: 32, far: 64 } as const;
/** The forms of frames: in the first, texts other than names are written wherever they are used, and all ends are times. */
export type FrameForm = 1 | 2;
const ALL_BITS: Readonly<Record<FrameForm, number>> = { 1: 63, 2: 127 };
/** A span of more bytes might be more than a segment takes: that is tried out. */
const LARGE_BYTES = 256 * 1024;
/** Longer texts get no number: they hardly come again, and a reader would have to keep them. */
const MAX_KNOWN_LENGTH = 256;
const TWO_32 = 2 ** 32;
const NONE: readonly never[] = Object.freeze([]);
const MAX_DURATION = BigInt(Number.MAX_SAFE_INTEGER);

const words = new Uint32Array(4);

const writeId = (writer: ByteWriter, hex: string, what: string, count: number): void => {
  parseId(hex, what, count, words, 0);
  for (let i = 0; i < count; i++) writer.uint32(words[i]);
};

const checkTime = (time: bigint): void => {
  if (!isTime(time)) throw new BadValueError(`${String(time)} is no time: ${TIME_RULE}`);
};

/** Things of a batch by number, each written where it is first met. */
class Known<T> {
  readonly #write: (writer: ByteWriter, thing: T) => void;
  readonly #numbers = new Map<T, number>();
  // At first what is no thing: one that is left out must be written, and so refused.
  #last: unknown = this;
  #lastNumber = 0;

  constructor(write: (writer: ByteWriter, thing: T) => void) {
    this.#write = write;
  }

  ref(writer: ByteWriter, thing: T): void {
    if (thing === this.#last) {
      writer.varint(this.#lastNumber);
      return;
    }
    const known = this.#numbers.get(thing);
    const number = known ?? this.#numbers.size;
    writer.varint(number);
    if (known === undefined) {
      this.#numbers.set(thing, number);
      this.#write(writer, thing);
    }
    this.#last = thing;
    this.#lastNumber = number;
  }
}

/** Texts of a batch by number, from 1 on; each is written where it is first met, and a long one, by 0, wherever it is used. */
class KnownTexts {
  readonly #numbers = new Map<string, number>();

  ref(writer: ByteWriter, text: string): void {
    const known = this.#numbers.get(text);
    if (known !== undefined) {
      writer.varint(known);
      return;
    }
    const isKept = typeof text === 'string' && text.length <= MAX_KNOWN_LENGTH;
    const number = isKept ? this.#numbers.size + 1 : 0;
    if (isKept) this.#numbers.set(text, number);
    writer.varint(number);
    writeText(writer, text);
  }
}

/** Appends the spans of one batch. */
export class SpanEncoder {
  readonly #writer: ByteWriter;
  readonly #resources = new Known<ArchivedResource>(writeResource);
  readonly #scopes = new Known<ArchivedScope>(writeScope);
  readonly #texts = new KnownTexts();
  // The trace of the span before: of those given to `add` as text, of those given to `addFinished` by its words.
  #lastTrace = '';
  readonly #lastIds = [0, 0, 0, 0];
  /** The last word of the id of each trace that began: finds the batches that may have a trace. */
  readonly traceWords: number[] = [];

  constructor(writer: ByteWriter) {
    this.#writer = writer;
  }

  /**
   * Append a span. Throws `BadKeyError`, `BadValueError` or `LimitError` for what no span can have, with the field's name; the batch is of
   * no use then.
   */
  add(span: ArchivedSpan): void {
    try {
      this.#write(span);
    } catch (error) {
      // Looked at only now: nearly all spans are as they should be.
      checkSpan(span);
      throw error;
    }
  }

  /** Append a span of the collector; throws as `add` does. */
  addFinished(span: FinishedSpan): void {
    const writer = this.#writer;
    const before = writer.length;
    if (!span.areIdsWhole) throw new BadKeyError(`${span.traceId}, ${span.spanId} are no ids of a trace and a span`);
    const { trace0, trace1, trace2, trace3, traceState, statusMessage, parentHi, parentLo } = span;
    const { startSec, startNano, eventCount, linkCount } = span;
    const hasParent = parentHi !== 0 || parentLo !== 0;
    const hasTexts = traceState !== '' || statusMessage !== '';
    const lastIds = this.#lastIds;
    const isSame = trace3 === lastIds[3] && trace2 === lastIds[2] && trace1 === lastIds[1] && trace0 === lastIds[0];
    const isNewTrace = !isSame || this.traceWords.length === 0;
    const flags = storedFlags(span);
    const propertyCount = span.properties.size + countExtras(span, flags);
    const duration = (span.endSec - startSec) * 1e9 + (span.endNano - startNano);
    if (duration < 0) throw new BadValueError(`span ${span.spanId} of trace ${span.traceId} ends before it starts`);
    const isFar = duration > Number.MAX_SAFE_INTEGER;
    writer.byte(
      (hasParent ? Has.parent : 0) +
        (isNewTrace ? Has.newTrace : 0) +
        (hasTexts ? Has.texts : 0) +
        (propertyCount > 0 ? Has.properties : 0) +
        (eventCount > 0 ? Has.events : 0) +
        (linkCount > 0 ? Has.links : 0) +
        (isFar ? Has.far : 0),
    );
    writer.byte(numberOf(KINDS, span.kind) * STATUS_CODES.length + numberOf(STATUS_CODES, span.statusCode));
    if (isNewTrace) {
      writeTraceId(writer, span);
      this.traceWords.push(trace3);
      lastIds[0] = trace0;
      lastIds[1] = trace1;
      lastIds[2] = trace2;
      lastIds[3] = trace3;
    }
    writer.uint32(span.idHi);
    writer.uint32(span.idLo);
    if (hasParent) {
      writer.uint32(parentHi);
      writer.uint32(parentLo);
    }
    writeNanos(writer, startSec, startNano);
    if (isFar) writeNanos(writer, span.endSec, span.endNano);
    else writer.varint(duration);
    this.#resources.ref(writer, span.resource);
    this.#scopes.ref(writer, span.scope);
    this.#texts.ref(writer, span.name);
    if (hasTexts) {
      writeText(writer, traceState);
      writeText(writer, statusMessage);
    }
    if (propertyCount > 0) this.#addList(span.properties, propertyCount, span, flags);
    if (eventCount > 0) writer.varint(eventCount);
    for (let i = 0; i < eventCount; i++) {
      const event = span.event(i);
      this.#texts.ref(writer, event.name);
      writeNanos(writer, event.sec, event.nano);
      this.#addList(event.properties, event.properties.size + countExtras(event), event);
    }
    if (linkCount > 0) writer.varint(linkCount);
    for (let i = 0; i < linkCount; i++) this.#addLink(span.link(i));
    // What is tried out is read by others too: it must be a span like those of `add`.
    if (writer.length - before > LARGE_BYTES) planSegment(SpanRows.of([archivedView(span)]));
  }

  #write(span: ArchivedSpan): void {
    const writer = this.#writer;
    const before = writer.length;
    const { traceId, parentSpanId, traceState, status, events, links } = span;
    // An absent list must not pass for an empty one.
    if (!Array.isArray(events) || !Array.isArray(links) || !isPlainObject(span.properties))
      throw new BadValueError('a span needs properties, events and links');
    const hasTexts = traceState !== '' || status.message !== '';
    const isNewTrace = traceId !== this.#lastTrace;
    const properties = storedProperties(span);
    const hasProperties = !isEmpty(properties);
    checkTime(span.startUnixNs);
    checkTime(span.endUnixNs);
    const duration = span.endUnixNs - span.startUnixNs;
    if (duration < 0n) throw new BadValueError(`span ${span.spanId} of trace ${traceId} ends before it starts`);
    const isFar = duration > MAX_DURATION;
    writer.byte(
      (parentSpanId === '' ? 0 : Has.parent) +
        (isNewTrace ? Has.newTrace : 0) +
        (hasTexts ? Has.texts : 0) +
        (hasProperties ? Has.properties : 0) +
        (events.length > 0 ? Has.events : 0) +
        (links.length > 0 ? Has.links : 0) +
        (isFar ? Has.far : 0),
    );
    writer.byte(numberOf(KINDS, span.kind) * STATUS_CODES.length + numberOf(STATUS_CODES, status.code));
    if (isNewTrace) {
      writeId(writer, traceId, 'trace id', 4);
      this.traceWords.push(words[3]);
    }
    this.#lastTrace = traceId;
    writeId(writer, span.spanId, 'span id', 2);
    if (parentSpanId !== '') writeId(writer, parentSpanId, 'parent span id', 2);
    writeTime(writer, span.startUnixNs);
    if (isFar) writeTime(writer, span.endUnixNs);
    else writer.varint(Number(duration));
    this.#resources.ref(writer, span.resource);
    this.#scopes.ref(writer, span.scope);
    this.#texts.ref(writer, span.name);
    if (hasTexts) {
      writeText(writer, traceState);
      writeText(writer, status.message);
    }
    if (hasProperties) this.#addProperties(properties);
    if (events.length > 0) this.#addEvents(events);
    if (links.length > 0) this.#addLinks(links);
    if (writer.length - before > LARGE_BYTES) planSegment(SpanRows.of([span]));
  }

  #addEvents(events: readonly ArchivedEvent[]): void {
    const writer = this.#writer;
    writer.varint(events.length);
    for (const event of events) {
      this.#texts.ref(writer, event.name);
      checkTime(event.timeUnixNs);
      writeTime(writer, event.timeUnixNs);
      this.#addProperties(storedProperties(event));
    }
  }

  #addLinks(links: readonly ArchivedLink[]): void {
    const writer = this.#writer;
    writer.varint(links.length);
    for (const link of links) {
      writeId(writer, link.traceId, 'trace id', 4);
      writeId(writer, link.spanId, 'span id', 2);
      writeText(writer, link.traceState);
      this.#addProperties(storedProperties(link));
    }
  }

  #addLink(link: FinishedLink): void {
    const writer = this.#writer;
    if (!link.areIdsWhole) throw new BadKeyError(`${link.traceId}, ${link.spanId} are no ids of a link`);
    writeTraceId(writer, link);
    writer.uint32(link.idHi);
    writer.uint32(link.idLo);
    writeText(writer, link.traceState);
    const { properties, droppedAttributesCount } = link;
    const extras = { droppedAttributesCount };
    this.#addList(properties, properties.size + countExtras(extras), extras);
  }

  #addProperties(properties: ArchivedProperties): void {
    if (!isPlainObject(properties)) throw new BadValueError('properties must be an object of keys and values');
    const keys = Object.keys(properties);
    this.#writer.varint(keys.length);
    for (const key of keys) this.#addProperty(key, properties[key]);
  }

  /** Extras first, as they stand in what is stored. */
  #addList(properties: SpanProperties, count: number, extras: Extras, flags = extras.flags): void {
    this.#writer.varint(count);
    // Nearly all spans have flags and nothing else.
    if (flags) this.#addProperty(FLAGS_KEY, flags);
    if (count > properties.size + (flags ? 1 : 0)) {
      for (const [field, key] of EXTRA_KEYS) {
        const value = extras[field];
        if (value && key !== FLAGS_KEY) this.#addProperty(key, value);
      }
    }
    for (let i = 0; i < properties.size; i++) this.#addProperty(storedKey(properties.key(i)), properties.value(i));
  }

  #addProperty(key: string, value: ArchivedValue): void {
    const writer = this.#writer;
    this.#texts.ref(writer, key);
    const type = typeOf(value);
    writer.byte(type);
    if (type === ValueType.text) this.#texts.ref(writer, value as string);
    else writeValue(writer, type, value, 1);
  }
}

const countExtras = (extras: Extras, flags = extras.flags): number =>
  (flags ? 1 : 0) +
  (extras.schemaUrl ? 1 : 0) +
  (extras.droppedAttributesCount ? 1 : 0) +
  (extras.droppedEventsCount ? 1 : 0) +
  (extras.droppedLinksCount ? 1 : 0);

type TraceWords = Pick<FinishedSpan, 'trace0' | 'trace1' | 'trace2' | 'trace3'>;

const writeTraceId = (writer: ByteWriter, { trace0, trace1, trace2, trace3 }: TraceWords): void => {
  writer.uint32(trace0);
  writer.uint32(trace1);
  writer.uint32(trace2);
  writer.uint32(trace3);
};

const writeNanos = (writer: ByteWriter, sec: number, nano: number): void => {
  toNanosWords(sec, nano);
  writer.uint32(nanosWords.lo);
  writer.uint32(nanosWords.hi);
};

const isEmpty = (properties: ArchivedProperties): boolean => {
  for (const key in properties) if (Object.hasOwn(properties, key)) return false;
  return true;
};

const numberOf = <T extends string>(names: readonly T[], name: T): number => {
  const number = names.indexOf(name);
  if (number < 0) throw new BadValueError(`${JSON.stringify(name)} is none of ${names.join(', ')}`);
  return number;
};

const readId = (reader: ByteReader, count: number): string => {
  let id = '';
  for (let i = 0; i < count; i++) id += reader.uint32().toString(16).padStart(8, '0');
  return id;
};

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
  readonly #form: FrameForm;
  readonly #rows: SpanRows;
  readonly #known: string[] = [];
  // Of each its number among the texts of the rows, once it was asked for.
  readonly #numbers: number[] = [];
  /** The place of the text that was read last, -1 where it has none. */
  #last = -1;

  constructor(form: FrameForm, rows: SpanRows) {
    this.#form = form;
    this.#rows = rows;
  }

  /** A name, which has a number in every form. */
  name(reader: ByteReader): string {
    if (this.#form === 2) return this.text(reader);
    const number = reader.varint();
    if (number === this.#known.length) this.#known.push(readText(reader));
    return this.#at(number, reader);
  }

  text(reader: ByteReader): string {
    const number = reader.varint();
    this.#last = number - 1;
    if (number === 0) return readText(reader);
    if (number === this.#known.length + 1) this.#known.push(readText(reader));
    return this.#at(number - 1, reader);
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
    if (this.#form === 1) return restored(readProperties(reader));
    const properties: Record<string, ArchivedValue> = {};
    for (let left = readCount(reader); left > 0; left--) {
      const key = this.text(reader);
      setOwn(properties, key, this.value(reader, reader.byte()));
    }
    return restored(properties);
  }

  #at(place: number, reader: ByteReader): string {
    const text = this.#known[place];
    if (text === undefined) throw reader.corrupt('names a text it does not have');
    this.#last = place;
    return text;
  }
}

/** All spans of a batch become rows, or none when it throws. */
export const readRows = (reader: ByteReader, form: FrameForm, rows: SpanRows): void => {
  const before = rows.count;
  try {
    readBatch(reader, form, rows);
  } catch (error) {
    rows.truncate(before);
    throw error;
  }
};

const readBatch = (reader: ByteReader, form: FrameForm, rows: SpanRows): void => {
  const resources: ArchivedResource[] = [];
  const scopes: ArchivedScope[] = [];
  const texts = new ReadTexts(form, rows);
  let trace = -1;
  while (reader.left > 0) {
    const row = rows.begin();
    const bits = reader.byte();
    if (bits > ALL_BITS[form]) throw reader.corrupt('has a span of unknown form');
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
    if (form === 1 || bits & Has.far) {
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
    rows.name[row] = texts.numberOf(texts.name(reader));
    const traceState = bits & Has.texts ? readText(reader) : '';
    const message = bits & Has.texts ? readText(reader) : '';
    if (bits & Has.properties) readRowProperties(reader, form, rows, texts);
    const events = bits & Has.events ? readEvents(reader, texts) : NONE;
    rows.finish(traceState, message, events, bits & Has.links ? readLinks(reader, texts) : NONE);
  }
};

/** The properties of a row. */
const readRowProperties = (reader: ByteReader, form: FrameForm, rows: SpanRows, texts: ReadTexts): void => {
  if (form === 1) {
    const properties = readProperties(reader);
    for (const key of Object.keys(properties)) {
      const value = properties[key];
      rows.addProperty(rows.textNumber(key), typeOf(value), value);
    }
    return;
  }
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
      name: texts.name(reader),
      timeUnixNs: readTime(reader),
      ...texts.properties(reader),
    }),
  );

const readLinks = (reader: ByteReader, texts: ReadTexts): ArchivedLink[] =>
  Array.from(
    { length: readCount(reader) },
    (): ArchivedLink => ({
      traceId: readId(reader, 4),
      spanId: readId(reader, 2),
      traceState: readText(reader),
      ...texts.properties(reader),
    }),
  );
