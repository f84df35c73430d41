// The parts of a group that only some spans fill: events, links, texts. A group in which no span has any lacks the part.
//
//     events = n:varint[spans] name:ref[...] time:told[...] rows(events)
//     links  = n:varint[spans] form:byte[...] id[...] texts(trace states) rows(links)
//     id     = traceId:byte[16] spanId:byte[8] (form 0) | spanId:byte[8] (form 1: of the trace of the span)
//     texts  = sparse(trace states) sparse(status messages)
//     sparse = n:varint skipped:varint[n] texts(n)           spans without a text between the one before and this one
import type { ByteReader } from '../../base/bytes/byte-reader.js';
import { ByteWriter } from '../../base/bytes/byte-writer.js';
import { BadValueError } from '../../container/graph-error.js';
import type { ArchivedEvent, ArchivedLink, ArchivedSpan } from '../../trace/archived-span.js';
import { storedProperties } from '../stored-extras.js';
import { SPAN_ID_BYTES, TRACE_ID_BYTES } from '../values/ids.js';
import { TextColumn, writeTexts } from '../values/texts.js';
import { isTime, TIME_RULE } from '../values/times.js';
import { readCounts, readTold, writeCounts, writeTimeAgainst } from './layout.js';
import { PropertyBlock, PropertyWriter } from './properties.js';
import { linkKey } from './segment-graphs.js';
import type { StringTable } from './span-tables.js';

/** The part of some spans; empty when none of them has events. */
export const encodeEvents = (spans: readonly ArchivedSpan[], strings: StringTable): Buffer => {
  const writer = new ByteWriter();
  if (spans.every(({ events }) => events.length === 0)) return writer.view();
  writeCounts(
    writer,
    spans.map(({ events }) => events.length),
  );
  for (const { events } of spans) for (const { name } of events) strings.writeRef(writer, name);
  const properties = new PropertyWriter(strings);
  for (const span of spans) {
    for (const event of span.events) {
      checkTime(event, span);
      writeTimeAgainst(writer, event.timeUnixNs, span.startUnixNs);
      properties.add(storedProperties(event));
    }
  }
  properties.flush(writer);
  return writer.view();
};

const checkTime = ({ timeUnixNs, name }: ArchivedEvent, { spanId, traceId }: ArchivedSpan): void => {
  if (isTime(timeUnixNs)) return;
  throw new BadValueError(
    `event ${name} of span ${spanId} of trace ${traceId} has the time ${String(timeUnixNs)}: ${TIME_RULE}`,
  );
};

/** Events by span. */
export class EventColumns {
  private readonly firsts: Uint32Array;
  private readonly names: string[] = [];
  private readonly times: (number | bigint)[] = [];
  private readonly properties: PropertyBlock;

  constructor(reader: ByteReader, strings: StringTable, spanCount: number) {
    this.firsts = readCounts(reader, spanCount);
    const count = this.firsts[spanCount];
    for (let i = 0; i < count; i++) this.names.push(strings.readRef(reader));
    for (let i = 0; i < count; i++) this.times.push(readTold(reader));
    this.properties = PropertyBlock.read(reader, strings, count);
    reader.end();
  }

  /** The events of a span that starts at `startUnixNs`. */
  get(span: number, startUnixNs: bigint): ArchivedEvent[] {
    const events: ArchivedEvent[] = [];
    for (let i = this.firsts[span]; i < this.firsts[span + 1]; i++) {
      const told = this.times[i];
      const timeUnixNs = typeof told === 'bigint' ? told : startUnixNs + BigInt(told);
      events.push({ name: this.names[i], timeUnixNs, ...this.properties.get(i) });
    }
    return events;
  }
}

const OTHER_TRACE = 0;
const SAME_TRACE = 1;

/** The part of some spans; empty when none of them has links. */
export const encodeLinks = (spans: readonly ArchivedSpan[], strings: StringTable): Buffer => {
  const writer = new ByteWriter();
  if (spans.every(({ links }) => links.length === 0)) return writer.view();
  writeCounts(
    writer,
    spans.map(({ links }) => links.length),
  );
  const ids = new ByteWriter();
  const properties = new PropertyWriter(strings);
  for (const { traceId, links } of spans) {
    for (const link of links) {
      const isSame = link.traceId === traceId;
      writer.byte(isSame ? SAME_TRACE : OTHER_TRACE);
      ids.raw(linkKey(link).subarray(isSame ? TRACE_ID_BYTES : 0));
      properties.add(storedProperties(link));
    }
  }
  writer.raw(ids.view());
  writeTexts(
    writer,
    spans.flatMap(({ links }) => links.map(({ traceState }) => traceState)),
  );
  properties.flush(writer);
  return writer.view();
};

/** Links by span. */
export class LinkColumns {
  private readonly firsts: Uint32Array;
  private readonly forms: Uint8Array;
  private readonly ids: string[] = [];
  private readonly traceStates: TextColumn;
  private readonly properties: PropertyBlock;

  constructor(reader: ByteReader, strings: StringTable, spanCount: number) {
    this.firsts = readCounts(reader, spanCount);
    const count = this.firsts[spanCount];
    this.forms = Uint8Array.from(reader.raw(count));
    for (const form of this.forms) {
      if (form > SAME_TRACE) throw reader.corrupt('has a link of unknown form');
      const bytes = reader.raw(form === SAME_TRACE ? SPAN_ID_BYTES : TRACE_ID_BYTES + SPAN_ID_BYTES);
      this.ids.push(Buffer.from(bytes).toString('hex'));
    }
    this.traceStates = TextColumn.read(reader, count);
    this.properties = PropertyBlock.read(reader, strings, count);
    reader.end();
  }

  /** The links of a span of trace `traceId`. */
  get(span: number, traceId: string): ArchivedLink[] {
    const links: ArchivedLink[] = [];
    for (let i = this.firsts[span]; i < this.firsts[span + 1]; i++) {
      const id = this.ids[i];
      links.push({
        traceId: this.forms[i] === SAME_TRACE ? traceId : id.slice(0, 2 * TRACE_ID_BYTES),
        spanId: id.slice(-2 * SPAN_ID_BYTES),
        traceState: this.traceStates.get(i),
        ...this.properties.get(i),
      });
    }
    return links;
  }
}

/** The part of some spans; empty when none of them has such a text. */
export const encodeTexts = (spans: readonly ArchivedSpan[]): Buffer => {
  const writer = new ByteWriter();
  const states = spans.map(({ traceState }) => traceState);
  const messages = spans.map(({ status }) => status.message);
  if ([...states, ...messages].every((text) => text === '')) return writer.view();
  for (const texts of [states, messages]) {
    const present = [...texts.keys()].filter((i) => texts[i] !== '');
    writer.varint(present.length);
    present.forEach((place, i) => {
      writer.varint(place - (i === 0 ? 0 : present[i - 1] + 1));
    });
    writeTexts(
      writer,
      present.map((i) => texts[i]),
    );
  }
  return writer.view();
};

/** Texts by span. */
export class SpanTexts {
  private readonly states: Map<number, string>;
  private readonly messages: Map<number, string>;

  constructor(reader: ByteReader, spanCount: number) {
    this.states = readSparse(reader, spanCount);
    this.messages = readSparse(reader, spanCount);
    reader.end();
  }

  traceState(span: number): string {
    return this.states.get(span) ?? '';
  }

  message(span: number): string {
    return this.messages.get(span) ?? '';
  }
}

const readSparse = (reader: ByteReader, spanCount: number): Map<number, string> => {
  const count = reader.varint();
  if (count > spanCount) throw reader.corrupt('has more texts than spans');
  const places: number[] = [];
  let next = 0;
  for (let i = 0; i < count; i++) {
    const place = next + reader.varint();
    if (place >= spanCount) throw reader.corrupt('has a text of a span that does not exist');
    places.push(place);
    next = place + 1;
  }
  const texts = TextColumn.read(reader, count);
  return new Map(places.map((place, i) => [place, texts.get(i)]));
};
