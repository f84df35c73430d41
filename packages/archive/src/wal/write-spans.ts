// Spans as bytes of a write-ahead file. What no segment can keep must be refused here, before anybody counts on it. Spans of the collector are
// written from their rows: no object is made of a span.

import { BadKeyError, BadValueError } from '@spanline/graph';
import type { ByteWriter } from 'spanline/internal/base';
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
  RowProperties,
  RowView,
  type SpanProperties,
  toArchived,
} from 'spanline/internal/record';
import { checkSpan } from '../check-span.js';
import { SpanRows } from '../rows/span-rows.js';
import { planSegment } from '../segment/segment-plan.js';
import { writeResource, writeScope } from '../segment/span-tables.js';
import { EXTRA_KEYS, FLAGS_KEY, storedFlags, storedKey, storedProperties } from '../stored-extras.js';
import { KINDS, STATUS_CODES, writeTime } from '../values/fields.js';
import { isPlainObject, typeOf, ValueType, writeText, writeValue } from '../values/values.js';
import { FactsOfBatch } from './batch-facts.js';
import { RowTexts } from './row-texts.js';
import {
  checkTime,
  Has,
  KnownTexts,
  KnownThings,
  numberOf,
  writeId,
  writeNanos,
  writeTraceId,
  writeWords,
} from './span-form.js';

/** A span of more bytes might be more than a segment takes: that is tried out. */
const LARGE_BYTES = 256 * 1024;
const MAX_DURATION = BigInt(Number.MAX_SAFE_INTEGER);

/** Appends the spans of one batch. */
export class SpanEncoder {
  readonly #writer: ByteWriter;
  readonly #resources = new KnownThings<ArchivedResource>(writeResource);
  readonly #scopes = new KnownThings<ArchivedScope>(writeScope);
  readonly #texts = new KnownTexts();
  readonly #rowTexts = new RowTexts(this.#texts);
  /** The number of the key of flags, 0 before it was written. */
  #flagsKey = 0;
  // The trace of the span before: of those given to `add` as text, of those given to `addFinished` by its words.
  #lastTrace = '';
  readonly #lastIds = [0, 0, 0, 0];
  /** What can be said of the batch without reading it. */
  readonly facts = new FactsOfBatch();

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
    const isNewTrace = !isSame || !this.facts.hasTraces;
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
    const kind = numberOf(KINDS, span.kind);
    writer.byte(kind * STATUS_CODES.length + numberOf(STATUS_CODES, span.statusCode));
    if (isNewTrace) {
      writeTraceId(writer, span);
      lastIds[0] = trace0;
      lastIds[1] = trace1;
      lastIds[2] = trace2;
      lastIds[3] = trace3;
    }
    writeWords(writer, span.idHi, span.idLo);
    if (hasParent) writeWords(writer, parentHi, parentLo);
    writeNanos(writer, startSec, startNano);
    if (isFar) writeNanos(writer, span.endSec, span.endNano);
    else writer.varint(duration);
    const resource = this.#resources.ref(writer, span.resource);
    this.#scopes.ref(writer, span.scope);
    const isRow = span instanceof RowView && span.nameNumber > 0;
    const name = isRow ? this.#rowTexts.name(writer, span.nameNumber) : this.#texts.ref(writer, span.name);
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
    // Only now: one that cannot be kept is left out, and nothing may be said of it.
    if (isNewTrace) this.facts.trace(trace3);
    this.facts.times(startSec, startNano, span.endSec, span.endNano);
    this.facts.span(resource, name, kind, span);
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
    const kind = numberOf(KINDS, span.kind);
    writer.byte(kind * STATUS_CODES.length + numberOf(STATUS_CODES, status.code));
    if (isNewTrace) {
      this.facts.trace(writeId(writer, traceId, 'trace id', 4));
    }
    this.#lastTrace = traceId;
    writeId(writer, span.spanId, 'span id', 2);
    if (parentSpanId !== '') writeId(writer, parentSpanId, 'parent span id', 2);
    writeTime(writer, span.startUnixNs);
    if (isFar) writeTime(writer, span.endUnixNs);
    else writer.varint(Number(duration));
    const resource = this.#resources.ref(writer, span.resource);
    this.#scopes.ref(writer, span.scope);
    const name = this.#texts.ref(writer, span.name);
    this.facts.timesNs(span.startUnixNs, span.endUnixNs);
    this.facts.span(resource, name, kind, span);
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
    writeWords(writer, link.idHi, link.idLo);
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
    if (flags) this.#addFlags(flags);
    if (count > properties.size + (flags ? 1 : 0)) {
      for (const [field, key] of EXTRA_KEYS) {
        const value = extras[field];
        if (value && key !== FLAGS_KEY) this.#addProperty(key, value);
      }
    }
    if (properties instanceof RowProperties) {
      for (let i = 0; i < properties.size; i++)
        if (!this.#rowTexts.property(this.#writer, properties.entries, properties.entryAt(i)))
          this.#addProperty(storedKey(properties.key(i)), properties.value(i));
      return;
    }
    for (let i = 0; i < properties.size; i++) this.#addProperty(storedKey(properties.key(i)), properties.value(i));
  }

  #addFlags(flags: number): void {
    const writer = this.#writer;
    if (this.#flagsKey > 0) writer.varint(this.#flagsKey);
    else this.#flagsKey = this.#texts.ref(writer, FLAGS_KEY);
    writer.byte(ValueType.whole);
    writer.zigzag(flags);
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
