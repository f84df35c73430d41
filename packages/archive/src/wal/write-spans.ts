// Spans as bytes of a write-ahead file: what the first byte of a span says, its fields, and things and texts that come again in a batch, each
// written once, where it is first met, and by its number afterwards. Only what may come again gets a number: a reader keeps all of them. What no
// segment can keep must be refused here, by name, before anybody counts on it. Spans of the collector are written from their rows: no object is made
// of a span.

import { BadKeyError, BadValueError } from '@spanline/graph';
import type { ByteWriter } from 'spanline/internal/base';
import { nanosWords, toNanosWords } from 'spanline/internal/formats';
import {
  type ArchivedEvent,
  type ArchivedLink,
  type ArchivedProperties,
  type ArchivedResource,
  type ArchivedScope,
  type ArchivedSpan,
  type ArchivedValue,
  type Extras,
  type FinishedLink,
  type FinishedSpan,
  type SpanProperties,
  toArchived,
} from 'spanline/internal/record';
import { checkSpan } from '../check-span.js';
import { SpanRows } from '../rows/span-rows.js';
import { planSegment } from '../segment/segment-plan.js';
import { writeResource, writeScope } from '../segment/span-tables.js';
import { EXTRA_KEYS, FLAGS_KEY, storedFlags, storedKey, storedProperties } from '../stored-extras.js';
import { isTime, KINDS, parseId, STATUS_CODES, TIME_RULE, writeTime } from '../values/fields.js';
import { isPlainObject, typeOf, ValueType, writeText, writeValue } from '../values/values.js';

/** What a span has, as bits of its first byte. `far`: its end is written as a time, for it lasts longer than 2^53 ns. */
export const Has = { parent: 1, newTrace: 2, texts: 4, properties: 8, events: 16, links: 32, far: 64 } as const;

export const ALL_BITS = 127;

const words = new Uint32Array(4);

/** Write an id of `count` words given as hex digits; gives its last word. Throws `BadKeyError` with the name of the field. */
const writeId = (writer: ByteWriter, hex: string, what: string, count: number): number => {
  parseId(hex, what, count, words, 0);
  for (let i = 0; i < count; i++) writer.uint32(words[i]);
  return words[count - 1];
};

/** Throws `BadValueError` for what is not a time. */
const checkTime = (time: bigint): void => {
  if (!isTime(time)) throw new BadValueError(`${String(time)} is not a valid time: ${TIME_RULE}`);
};

/** The words of the id of a trace. */
type TraceWords = Pick<FinishedSpan, 'trace0' | 'trace1' | 'trace2' | 'trace3'>;

/** Write the id of a trace that is at hand as words. */
const writeTraceId = (writer: ByteWriter, { trace0, trace1, trace2, trace3 }: TraceWords): void => {
  writer.uint32(trace0);
  writer.uint32(trace1);
  writer.uint32(trace2);
  writer.uint32(trace3);
};

/** Write a Unix time of seconds and nanoseconds. */
const writeNanos = (writer: ByteWriter, sec: number, nano: number): void => {
  toNanosWords(sec, nano);
  writer.uint32(nanosWords.lo);
  writer.uint32(nanosWords.hi);
};

/** The number of one of a few names. Throws `BadValueError` for any other. */
const numberOf = <T extends string>(names: readonly T[], name: T): number => {
  const number = names.indexOf(name);
  if (number < 0) throw new BadValueError(`${JSON.stringify(name)} is none of ${names.join(', ')}`);
  return number;
};

/** Longer texts get no number: they hardly come again, and a reader would have to keep them. */
const MAX_KNOWN_LENGTH = 256;

/** Things of a batch by number, each written where it is first met. */
class KnownThings<T> {
  readonly #write: (writer: ByteWriter, thing: T) => void;
  readonly #numbers = new Map<T, number>();
  // At first no thing: one that is missing must be written, and so refused.
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

/** A span of more bytes might be more than a segment takes: that is tried out. */
const LARGE_BYTES = 256 * 1024;
const MAX_DURATION = BigInt(Number.MAX_SAFE_INTEGER);

/** Appends the spans of one batch. */
export class SpanEncoder {
  readonly #writer: ByteWriter;
  readonly #resources = new KnownThings<ArchivedResource>(writeResource);
  readonly #scopes = new KnownThings<ArchivedScope>(writeScope);
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
    if (!span.areIdsWhole)
      throw new BadKeyError(`${span.traceId}, ${span.spanId} are not the ids of a trace and a span`);
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
    if (writer.length - before > LARGE_BYTES) planSegment(SpanRows.of([toArchived(span)]));
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
      this.traceWords.push(writeId(writer, traceId, 'trace id', 4));
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
    if (!link.areIdsWhole) throw new BadKeyError(`${link.traceId}, ${link.spanId} are not the ids of a link`);
    writeTraceId(writer, link);
    writer.uint32(link.idHi);
    writer.uint32(link.idLo);
    writeText(writer, link.traceState);
    this.#addList(link.properties, link.properties.size + countExtras(link), link);
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

const isEmpty = (properties: ArchivedProperties): boolean => {
  for (const key in properties) if (Object.hasOwn(properties, key)) return false;
  return true;
};
