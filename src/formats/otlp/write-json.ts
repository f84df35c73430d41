// OTLP's ExportTraceServiceRequest and TracesData in OTLP/JSON: ids in hex, enums as numbers, times as strings, camelCase names. There is no
// line break in it, so that one document is one line of a file. What decodes it gets back what went in.
import { ByteWriter } from '../../base/bytes/byte-writer.js';
import { getOrMake } from '../../base/maps/maps.js';
import type { ArchivedResource, ArchivedScope, ArchivedSpan } from '../../record/archived-span.js';
import type { Extras, FinishedEvent, FinishedLink, FinishedSpan, SpanIds } from '../../record/finished-span.js';
import { ObjectView } from '../../record/object-view.js';
import { NO_PROPERTIES, ObjectProperties } from '../../record/properties.js';
import { writeHex8, writeIntegerDigits, writeQuoted, writeQuotedNanos, writeRaw } from './json-writer.js';
import { KIND_NUMBERS, type OtlpFormat, type ScopedSpans, STATUS_NUMBERS } from './messages.js';
import { writeAttributes } from './write-json-value.js';

const ATTRIBUTES = ',"attributes":[';
const DROPPED_ATTRIBUTES = ',"droppedAttributesCount":';

/** A member with what stands before its number; zero, proto3's default, is left out. */
const writeCount = (writer: ByteWriter, name: string, count: number): void => {
  if (count === 0) return;
  writeRaw(writer, name);
  writeIntegerDigits(writer, count);
};

/** A member with what stands before its text; an empty one is left out. */
const writeText = (writer: ByteWriter, name: string, text: string): void => {
  if (text === '') return;
  writeRaw(writer, name);
  writeQuoted(writer, text);
};

const writeEvent = (writer: ByteWriter, event: FinishedEvent): void => {
  writeRaw(writer, '{"timeUnixNano":');
  writeQuotedNanos(writer, event.sec, event.nano);
  writeRaw(writer, ',"name":');
  writeQuoted(writer, event.name);
  writeAttributes(writer, ATTRIBUTES, event.properties);
  writeCount(writer, DROPPED_ATTRIBUTES, event.droppedAttributesCount);
  writeRaw(writer, '}');
};

/** Leaves the last string open. */
const writeIds = (writer: ByteWriter, ids: SpanIds): void => {
  if (!ids.areIdsWhole) {
    // As they are, so that whoever reads them refuses them; words would make other ids of them.
    writeRaw(writer, '{"traceId":');
    writeQuoted(writer, ids.traceId);
    writeRaw(writer, ',"spanId":');
    writeQuoted(writer, ids.spanId);
    writer.length--;
    return;
  }
  writeRaw(writer, '{"traceId":"');
  writeHex8(writer, ids.trace0);
  writeHex8(writer, ids.trace1);
  writeHex8(writer, ids.trace2);
  writeHex8(writer, ids.trace3);
  writeRaw(writer, '","spanId":"');
  writeHex8(writer, ids.idHi);
  writeHex8(writer, ids.idLo);
};

const writeLink = (writer: ByteWriter, link: FinishedLink): void => {
  writeIds(writer, link);
  writeRaw(writer, '"');
  writeText(writer, ',"traceState":', link.traceState);
  writeAttributes(writer, ATTRIBUTES, link.properties);
  writeCount(writer, ',"flags":', link.flags);
  writeCount(writer, DROPPED_ATTRIBUTES, link.droppedAttributesCount);
  writeRaw(writer, '}');
};

const writeEvents = (writer: ByteWriter, span: FinishedSpan): void => {
  const { eventCount } = span;
  for (let i = 0; i < eventCount; i++) {
    writeRaw(writer, i === 0 ? ',"events":[' : ',');
    writeEvent(writer, span.event(i));
  }
  if (eventCount > 0) writeRaw(writer, ']');
};

const writeLinks = (writer: ByteWriter, span: FinishedSpan): void => {
  const { linkCount } = span;
  for (let i = 0; i < linkCount; i++) {
    writeRaw(writer, i === 0 ? ',"links":[' : ',');
    writeLink(writer, span.link(i));
  }
  if (linkCount > 0) writeRaw(writer, ']');
};

/** The last member: with the end of the span. */
const writeStatus = (writer: ByteWriter, code: FinishedSpan['statusCode'], message: string): void => {
  if (code === 'unset' && message === '') {
    writeRaw(writer, ',"status":{}}');
    return;
  }
  writeRaw(writer, ',"status":{');
  writeText(writer, '"message":', message);
  writeCount(writer, message === '' ? '"code":' : ',"code":', STATUS_NUMBERS[code]);
  writeRaw(writer, '}}');
};

const KIND_AND_START = Object.fromEntries(
  Object.entries(KIND_NUMBERS).map(([kind, number]) => [kind, `,"kind":${number},"startTimeUnixNano":`]),
) as Readonly<Record<FinishedSpan['kind'], string>>;

const writeSpan = (writer: ByteWriter, span: FinishedSpan): void => {
  const { parentHi, parentLo } = span;
  writeIds(writer, span);
  if (parentHi !== 0 || parentLo !== 0) {
    writeRaw(writer, '","parentSpanId":"');
    writeHex8(writer, parentHi);
    writeHex8(writer, parentLo);
  }
  writeRaw(writer, '","name":');
  writeQuoted(writer, span.name);
  writeRaw(writer, KIND_AND_START[span.kind]);
  writeQuotedNanos(writer, span.startSec, span.startNano);
  writeRaw(writer, ',"endTimeUnixNano":');
  writeQuotedNanos(writer, span.endSec, span.endNano);
  writeCount(writer, ',"flags":', span.flags);
  writeText(writer, ',"traceState":', span.traceState);
  writeAttributes(writer, ATTRIBUTES, span.properties);
  writeEvents(writer, span);
  writeLinks(writer, span);
  writeCount(writer, DROPPED_ATTRIBUTES, span.droppedAttributesCount);
  writeCount(writer, ',"droppedEventsCount":', span.droppedEventsCount);
  writeCount(writer, ',"droppedLinksCount":', span.droppedLinksCount);
  writeStatus(writer, span.statusCode, span.statusMessage);
};

const NO_RESOURCE: ArchivedResource = { properties: NO_PROPERTIES };

type Described = ArchivedResource & Partial<ArchivedScope>;

/** What describes either. Any member may be absent: the first that is there has no comma before it. */
const writeMembers = (
  writer: ByteWriter,
  { name = '', version = '', properties, droppedAttributesCount = 0 }: Described,
): void => {
  const start = writer.length;
  const next = (member: string): string => (writer.length === start ? member : `,${member}`);
  writeText(writer, next('"name":'), name);
  writeText(writer, next('"version":'), version);
  writeAttributes(writer, next('"attributes":['), new ObjectProperties().of(properties));
  writeCount(writer, next('"droppedAttributesCount":'), droppedAttributesCount);
};

/** Opens the element of `resourceSpans`. */
const writeResource = (writer: ByteWriter, resource: ArchivedResource): void => {
  writeRaw(writer, '{"resource":{');
  writeMembers(writer, resource);
  writeRaw(writer, '},"scopeSpans":[');
};

/** Opens the element of `scopeSpans`. */
const writeScope = (writer: ByteWriter, scope: ArchivedScope): void => {
  writeRaw(writer, '{"scope":{');
  writeMembers(writer, scope);
  writeRaw(writer, '},"spans":[');
};

/** Closes either: a schema URL stands outside of what it describes. */
const writeEnd = (writer: ByteWriter, { schemaUrl = '' }: Extras): void => {
  writeRaw(writer, ']');
  writeText(writer, ',"schemaUrl":', schemaUrl);
  writeRaw(writer, '}');
};

/** A request of one resource. */
export class JsonFormat implements OtlpFormat {
  readonly contentType = 'application/json';
  /** What a request ends with. */
  readonly ending: string = ']}';
  readonly endBytes = 8;
  readonly separatorBytes = 1;
  #resource: ArchivedResource = NO_RESOURCE;
  #scope: Extras = {};

  begin(writer: ByteWriter, resource: ArchivedResource, scope: ArchivedScope): void {
    this.#resource = resource;
    this.#scope = scope;
    writeRaw(writer, '{"resourceSpans":[');
    writeResource(writer, resource);
    writeScope(writer, scope);
  }

  span(writer: ByteWriter, span: FinishedSpan, isFirst: boolean): void {
    if (!isFirst) writeRaw(writer, ',');
    writeSpan(writer, span);
  }

  grouped(writer: ByteWriter, groups: readonly ScopedSpans[]): void {
    writeRaw(writer, '{"resourceSpans":[');
    writeResource(writer, this.#resource);
    groups.forEach(({ scope, spans }, i) => {
      if (i > 0) writeRaw(writer, ',');
      writeScope(writer, scope);
      spans.forEach((bytes, at) => {
        if (at > 0) writeRaw(writer, ',');
        writer.raw(bytes);
      });
      writeEnd(writer, scope);
    });
    writeEnd(writer, this.#resource);
    writeRaw(writer, this.ending);
  }

  end(writer: ByteWriter): number {
    writeEnd(writer, this.#scope);
    writeEnd(writer, this.#resource);
    writeRaw(writer, this.ending);
    return 0;
  }
}

type ByScope = Map<ArchivedScope, ArchivedSpan[]>;

/** Spans between two steps. */
const GROUP_STEP = 128;

/** By resource and scope; in pieces of no text, so that a caller can pause. */
const group = function* (spans: readonly ArchivedSpan[]): Generator<string, Map<ArchivedResource, ByScope>> {
  const byResource = new Map<ArchivedResource, ByScope>();
  for (const [i, span] of spans.entries()) {
    if (i % GROUP_STEP === GROUP_STEP - 1) yield '';
    const byScope: ByScope = getOrMake(byResource, span.resource, () => new Map());
    getOrMake(byScope, span.scope, () => []).push(span);
  }
  return byResource;
};

/** The elements of `resourceSpans` with commas between them, in pieces: one a span, so that a caller can pause. */
export const otlpResourceSpans = function* (spans: readonly ArchivedSpan[]): Generator<string> {
  // Small: most traces are, and there is one for each.
  const writer = new ByteWriter();
  const view = new ObjectView();
  const take = (): string => {
    const text = writer.bytes.toString('utf8', 0, writer.length);
    writer.length = 0;
    return text;
  };
  let isFirstResource = true;
  for (const [resource, byScope] of yield* group(spans)) {
    if (!isFirstResource) writeRaw(writer, ',');
    isFirstResource = false;
    writeResource(writer, resource);
    let isFirstScope = true;
    for (const [scope, some] of byScope) {
      if (!isFirstScope) writeRaw(writer, ',');
      isFirstScope = false;
      writeScope(writer, scope);
      for (let i = 0; i < some.length; i++) {
        if (i > 0) writeRaw(writer, ',');
        writeSpan(writer, view.of(some[i]));
        yield take();
      }
      writeEnd(writer, scope);
    }
    writeEnd(writer, resource);
    yield take();
  }
};
