// Spans as bytes of a write-ahead file: written once, read only after a crash or by other processes while the writer lives. Every value
// must come back exactly as it went in, and what no segment can keep must be refused here, before anybody counts on it.

import type { ByteReader } from '../../base/bytes/byte-reader.js';
import type { ByteWriter } from '../../base/bytes/byte-writer.js';
import { BadValueError } from '../../container/graph-error.js';
import type {
  ArchivedEvent,
  ArchivedLink,
  ArchivedProperties,
  ArchivedResource,
  ArchivedScope,
  ArchivedSpan,
} from '../../trace/archived-span.js';
import { NO_PROPERTIES } from '../../trace/properties.js';
import { planSegment } from '../segment/segment-plan.js';
import { KINDS, STATUS_CODES } from '../segment/span-rows.js';
import { readResource, readScope, writeResource, writeScope } from '../segment/span-tables.js';
import { restored, storedProperties } from '../stored-extras.js';
import { parseId } from '../values/ids.js';
import { readText, writeText } from '../values/texts.js';
import { isTime, readTime, TIME_RULE, writeTime } from '../values/times.js';
import { isPlainObject, readProperties, writeProperties } from '../values/values.js';
import { checkSpan } from './check-span.js';

/** What a span has, as bits of its first byte. */
const Has = { parent: 1, newTrace: 2, texts: 4, properties: 8, events: 16, links: 32 } as const;
const ALL_BITS = 63;
/** A span of more bytes might be more than a segment takes: that is tried out. */
const LARGE_BYTES = 256 * 1024;

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
  private readonly numbers = new Map<T, number>();
  private last: T | undefined;
  private lastNumber = 0;

  constructor(private readonly write: (writer: ByteWriter, thing: T) => void) {}

  ref(writer: ByteWriter, thing: T): void {
    if (thing === this.last) {
      writer.varint(this.lastNumber);
      return;
    }
    const known = this.numbers.get(thing);
    const number = known ?? this.numbers.size;
    writer.varint(number);
    if (known === undefined) {
      this.numbers.set(thing, number);
      this.write(writer, thing);
    }
    this.last = thing;
    this.lastNumber = number;
  }
}

/** Appends the spans of one batch. */
export class SpanEncoder {
  private readonly resources = new Known<ArchivedResource>(writeResource);
  private readonly scopes = new Known<ArchivedScope>(writeScope);
  private readonly names = new Known<string>(writeText);
  private lastTrace = '';

  constructor(private readonly writer: ByteWriter) {}

  /**
   * Append a span. Throws `BadKeyError`, `BadValueError` or `LimitError` for what no span can have, with the field's name; the batch is of
   * no use then.
   */
  add(span: ArchivedSpan): void {
    try {
      this.write(span);
    } catch (error) {
      // Looked at only now: nearly all spans are as they should be.
      checkSpan(span);
      throw error;
    }
  }

  private write(span: ArchivedSpan): void {
    const { writer } = this;
    const before = writer.length;
    const { traceId, parentSpanId, traceState, status, events, links } = span;
    // An absent list must not pass for an empty one.
    if (!Array.isArray(events) || !Array.isArray(links) || !isPlainObject(span.properties))
      throw new BadValueError('a span needs properties, events and links');
    const hasTexts = traceState !== '' || status.message !== '';
    const isNewTrace = traceId !== this.lastTrace;
    const properties = storedProperties(span);
    const hasProperties = !isEmpty(properties);
    writer.byte(
      (parentSpanId === '' ? 0 : Has.parent) +
        (isNewTrace ? Has.newTrace : 0) +
        (hasTexts ? Has.texts : 0) +
        (hasProperties ? Has.properties : 0) +
        (events.length > 0 ? Has.events : 0) +
        (links.length > 0 ? Has.links : 0),
    );
    writer.byte(numberOf(KINDS, span.kind) * STATUS_CODES.length + numberOf(STATUS_CODES, status.code));
    if (isNewTrace) writeId(writer, traceId, 'trace id', 4);
    this.lastTrace = traceId;
    writeId(writer, span.spanId, 'span id', 2);
    if (parentSpanId !== '') writeId(writer, parentSpanId, 'parent span id', 2);
    checkTime(span.startUnixNs);
    checkTime(span.endUnixNs);
    if (span.endUnixNs < span.startUnixNs)
      throw new BadValueError(`span ${span.spanId} of trace ${traceId} ends before it starts`);
    writeTime(writer, span.startUnixNs);
    writeTime(writer, span.endUnixNs);
    this.resources.ref(writer, span.resource);
    this.scopes.ref(writer, span.scope);
    this.names.ref(writer, span.name);
    if (hasTexts) {
      writeText(writer, traceState);
      writeText(writer, status.message);
    }
    if (hasProperties) writeProperties(writer, properties);
    if (events.length > 0) this.addEvents(events);
    if (links.length > 0) this.addLinks(links);
    if (writer.length - before > LARGE_BYTES) planSegment([span]);
  }

  private addEvents(events: readonly ArchivedEvent[]): void {
    const { writer } = this;
    writer.varint(events.length);
    for (const event of events) {
      this.names.ref(writer, event.name);
      checkTime(event.timeUnixNs);
      writeTime(writer, event.timeUnixNs);
      writeProperties(writer, storedProperties(event));
    }
  }

  private addLinks(links: readonly ArchivedLink[]): void {
    const { writer } = this;
    writer.varint(links.length);
    for (const link of links) {
      writeId(writer, link.traceId, 'trace id', 4);
      writeId(writer, link.spanId, 'span id', 2);
      writeText(writer, link.traceState);
      writeProperties(writer, storedProperties(link));
    }
  }
}

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

/** All spans of a batch, without end. */
export const readSpans = (reader: ByteReader): ArchivedSpan[] => {
  const resources: ArchivedResource[] = [];
  const scopes: ArchivedScope[] = [];
  const names: string[] = [];
  const spans: ArchivedSpan[] = [];
  let traceId: string | undefined;
  while (reader.left > 0) {
    const bits = reader.byte();
    if (bits > ALL_BITS) throw reader.corrupt('has a span of unknown form');
    const kindAndStatus = reader.byte();
    const kind = KINDS[Math.floor(kindAndStatus / STATUS_CODES.length)];
    const code = STATUS_CODES[kindAndStatus % STATUS_CODES.length];
    if (kind === undefined) throw reader.corrupt('has a span of unknown kind');
    if (bits & Has.newTrace) traceId = readId(reader, 4);
    if (traceId === undefined) throw reader.corrupt('has a span of no trace');
    const spanId = readId(reader, 2);
    const parentSpanId = bits & Has.parent ? readId(reader, 2) : '';
    const startUnixNs = readTime(reader);
    const endUnixNs = readTime(reader);
    const resource = readKnown(reader, resources, readResource);
    const scope = readKnown(reader, scopes, readScope);
    const name = readKnown(reader, names, readText);
    const traceState = bits & Has.texts ? readText(reader) : '';
    const message = bits & Has.texts ? readText(reader) : '';
    const own = bits & Has.properties ? restored(readProperties(reader)) : { properties: NO_PROPERTIES };
    const events = bits & Has.events ? readEvents(reader, names) : [];
    const links = bits & Has.links ? readLinks(reader) : [];
    const status = { code, message };
    const times = { startUnixNs, endUnixNs };
    const what = { traceState, name, kind, ...times, status, ...own, events, links, resource, scope };
    spans.push({ traceId, spanId, parentSpanId, ...what });
  }
  return spans;
};

const readEvents = (reader: ByteReader, names: string[]): ArchivedEvent[] =>
  Array.from(
    { length: readCount(reader) },
    (): ArchivedEvent => ({
      name: readKnown(reader, names, readText),
      timeUnixNs: readTime(reader),
      ...restored(readProperties(reader)),
    }),
  );

const readLinks = (reader: ByteReader): ArchivedLink[] =>
  Array.from(
    { length: readCount(reader) },
    (): ArchivedLink => ({
      traceId: readId(reader, 4),
      spanId: readId(reader, 2),
      traceState: readText(reader),
      ...restored(readProperties(reader)),
    }),
  );
