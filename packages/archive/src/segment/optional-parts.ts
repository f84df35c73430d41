// The parts of a group that only some spans fill: events, links, texts. A group in which no span has any lacks the part.
//
//     events = n:varint[spans] name:ref[...] time:told[...] rows(events)
//     links  = n:varint[spans] form:byte[...] id[...] texts(trace states) rows(links)
//     id     = traceId:byte[16] spanId:byte[8] (form 0) | spanId:byte[8] (form 1: of the trace of the span)
//     texts  = sparse(trace states) sparse(status messages)
//     sparse = n:varint skipped:varint[n] texts(n)           spans without a text between the one before and this one

import { BadValueError } from '@spanline/graph';
import { type ByteReader, ByteWriter } from 'spanline/internal/base';
import type { ArchivedEvent, ArchivedLink } from 'spanline/internal/record';
import type { SpanRows } from '../rows/span-rows.js';
import { storedProperties } from '../stored-extras.js';
import { isTime, SPAN_ID_BYTES, TIME_RULE, TRACE_ID_BYTES } from '../values/fields.js';
import { TextColumn, writeTexts } from '../values/values.js';
import { readCounts, readNumber, writeCounts, writeTimeAgainst } from './layout.js';
import { PropertyBlock, PropertyWriter } from './properties.js';
import { linkKey } from './segment-graphs.js';
import type { StringTable } from './span-tables.js';

/** The part of some rows; empty when none of them has events. */
export const encodeEvents = (rows: SpanRows, chosen: Uint32Array, strings: StringTable): Buffer => {
  const writer = new ByteWriter();
  const events = rows.hasEvents ? Array.from(chosen, (row) => rows.events(row)) : [];
  if (events.every(({ length }) => length === 0)) return writer.view();
  writeCounts(writer, events);
  for (const list of events) for (const { name } of list) strings.writeRef(writer, name);
  const properties = new PropertyWriter(strings);
  events.forEach((list, i) => {
    for (const event of list) {
      checkTime(event, rows, chosen[i]);
      writeTimeAgainst(writer, event.timeUnixNs, rows.start.values[chosen[i]]);
      properties.add(storedProperties(event));
    }
  });
  properties.write(writer);
  return writer.view();
};

const checkTime = ({ timeUnixNs, name }: ArchivedEvent, rows: SpanRows, row: number): void => {
  if (isTime(timeUnixNs)) return;
  throw new BadValueError(
    `event ${name} of span ${rows.spanId(row)} of trace ${rows.traceId(row)} has the time ${String(timeUnixNs)}: ${TIME_RULE}`,
  );
};

/** Events by span. */
export class EventColumns {
  readonly #firsts: Uint32Array;
  readonly #names: string[] = [];
  readonly #times: (number | bigint)[] = [];
  readonly #properties: PropertyBlock;

  constructor(reader: ByteReader, strings: StringTable, spanCount: number) {
    this.#firsts = readCounts(reader, spanCount);
    const count = this.#firsts[spanCount];
    for (let i = 0; i < count; i++) this.#names.push(strings.readRef(reader));
    for (let i = 0; i < count; i++) this.#times.push(readNumber(reader));
    this.#properties = new PropertyBlock(reader, strings, count);
    reader.end();
  }

  /** The events of a span that starts at `startUnixNs`. */
  get(span: number, startUnixNs: bigint): ArchivedEvent[] {
    const events: ArchivedEvent[] = [];
    for (let i = this.#firsts[span]; i < this.#firsts[span + 1]; i++) {
      const encoded = this.#times[i];
      const timeUnixNs = typeof encoded === 'bigint' ? encoded : startUnixNs + BigInt(encoded);
      events.push({ name: this.#names[i], timeUnixNs, ...this.#properties.get(i) });
    }
    return events;
  }
}

const OTHER_TRACE = 0;
const SAME_TRACE = 1;

/** The part of some rows; empty when none of them has links. */
export const encodeLinks = (rows: SpanRows, chosen: Uint32Array, strings: StringTable): Buffer => {
  const writer = new ByteWriter();
  const links = rows.hasLinks ? Array.from(chosen, (row) => rows.links(row)) : [];
  if (links.every(({ length }) => length === 0)) return writer.view();
  writeCounts(writer, links);
  const ids = new ByteWriter();
  const properties = new PropertyWriter(strings);
  links.forEach((list, i) => {
    for (const link of list) {
      const isSame = link.traceId === rows.traceId(chosen[i]);
      writer.byte(isSame ? SAME_TRACE : OTHER_TRACE);
      ids.raw(linkKey(link).subarray(isSame ? TRACE_ID_BYTES : 0));
      properties.add(storedProperties(link));
    }
  });
  writer.raw(ids.view());
  writeTexts(
    writer,
    links.flatMap((list) => list.map(({ traceState }) => traceState)),
  );
  properties.write(writer);
  return writer.view();
};

/** Links by span. */
export class LinkColumns {
  readonly #firsts: Uint32Array;
  readonly #forms: Uint8Array;
  readonly #ids: string[] = [];
  readonly #traceStates: TextColumn;
  readonly #properties: PropertyBlock;

  constructor(reader: ByteReader, strings: StringTable, spanCount: number) {
    this.#firsts = readCounts(reader, spanCount);
    const count = this.#firsts[spanCount];
    this.#forms = Uint8Array.from(reader.raw(count));
    for (const form of this.#forms) {
      if (form > SAME_TRACE) throw reader.corrupt('has a link of unknown form');
      const bytes = reader.raw(form === SAME_TRACE ? SPAN_ID_BYTES : TRACE_ID_BYTES + SPAN_ID_BYTES);
      this.#ids.push(Buffer.from(bytes).toString('hex'));
    }
    this.#traceStates = new TextColumn(reader, count);
    this.#properties = new PropertyBlock(reader, strings, count);
    reader.end();
  }

  /** Whether a span has a link to another trace with this id. */
  refersTo(span: number, traceId: string): boolean {
    for (let i = this.#firsts[span]; i < this.#firsts[span + 1]; i++) {
      if (this.#forms[i] === OTHER_TRACE && this.#ids[i].startsWith(traceId)) return true;
    }
    return false;
  }

  /** The links of a span of trace `traceId`. */
  get(span: number, traceId: string): ArchivedLink[] {
    const links: ArchivedLink[] = [];
    for (let i = this.#firsts[span]; i < this.#firsts[span + 1]; i++) {
      const id = this.#ids[i];
      links.push({
        traceId: this.#forms[i] === SAME_TRACE ? traceId : id.slice(0, 2 * TRACE_ID_BYTES),
        spanId: id.slice(-2 * SPAN_ID_BYTES),
        traceState: this.#traceStates.get(i),
        ...this.#properties.get(i),
      });
    }
    return links;
  }
}

/** The part of some rows; empty when none of them has such a text. */
export const encodeTexts = (rows: SpanRows, chosen: Uint32Array): Buffer => {
  const writer = new ByteWriter();
  if (!rows.hasTexts) return writer.view();
  const states = Array.from(chosen, (row) => rows.traceState(row));
  const messages = Array.from(chosen, (row) => rows.message(row));
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
  readonly #states: Map<number, string>;
  readonly #messages: Map<number, string>;

  constructor(reader: ByteReader, spanCount: number) {
    this.#states = readSparse(reader, spanCount);
    this.#messages = readSparse(reader, spanCount);
    reader.end();
  }

  traceState(span: number): string {
    return this.#states.get(span) ?? '';
  }

  message(span: number): string {
    return this.#messages.get(span) ?? '';
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
  const texts = new TextColumn(reader, count);
  return new Map(places.map((place, i) => [place, texts.get(i)]));
};
