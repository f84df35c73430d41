// Makes the SpanRecord of a row: the only place where ticks, numeric ids and entries become what a user's reporter sees.
import type { ClockAnchor } from '../clock/index.js';
import { EntryReader } from '../local-span/entry-reader.js';
import { nameOfNumber } from '../local-span/name-table.js';
import { Flag, type RowChunk } from '../local-span/row-chunk.js';
import { KINDS, STATUS_CODES } from '../span/span-check.js';
import type { Link, SpanStatus } from '../span/span-types.js';
import { hex8 } from '../span/traceparent.js';
import { EventRecord, SpanRecord, type TraceIdentity, toProperties } from '../trace/record.js';
import { toUnixTime } from './tick-time.js';

const NO_EVENTS: readonly EventRecord[] = Object.freeze([]);
const NO_LINKS: readonly Link[] = Object.freeze([]);
const NONE_DROPPED = Object.freeze([0, 0, 0] as const);
const STATUS: readonly SpanStatus[] = STATUS_CODES.map((code) => Object.freeze({ code }));

/** The record of a row of a trace. */
export const recordOfRow = (chunk: RowChunk, row: number, identity: TraceIdentity, anchor: ClockAnchor): SpanRecord => {
  const start = toUnixTime(chunk.begins[row], anchor);
  const end = toUnixTime(chunk.ends[row], anchor);
  const flags = chunk.flags[row];
  const status = STATUS[(flags >> Flag.statusShift) & Flag.statusMask];
  const [head, tail] = [chunk.heads[row], chunk.heads[row + 1]];
  const reader = head === tail ? undefined : new EntryReader(chunk.entries, head, tail);
  // In the order in which the entries come.
  const name = reader?.name(chunk.names[row]) ?? nameOfNumber(chunk.names[row]);
  const list = reader?.properties() ?? null;
  const message = reader?.message();
  const [properties, events, links] = reader?.dropped() ?? NONE_DROPPED;
  return new SpanRecord(
    identity,
    chunk.idHis[row] >>> 0,
    chunk.idLos[row] >>> 0,
    chunk.parentHis[row] >>> 0,
    chunk.parentLos[row] >>> 0,
    name,
    KINDS[flags & Flag.kindMask],
    start.sec,
    start.nano,
    end.sec,
    end.nano,
    list,
    reader === undefined ? NO_EVENTS : eventsOf(reader, anchor),
    reader === undefined ? NO_LINKS : linksOf(reader),
    message === undefined ? status : { code: status.code, message },
    (flags & Flag.remoteParent) !== 0,
    (flags & Flag.local) !== 0,
    properties,
    events,
    links,
  );
};

const eventsOf = (reader: EntryReader, anchor: ClockAnchor): readonly EventRecord[] => {
  if (!reader.hasEvent) return NO_EVENTS;
  const events: EventRecord[] = [];
  while (reader.hasEvent) {
    const { sec, nano } = toUnixTime(reader.ticks(), anchor);
    const name = reader.eventName();
    const list = reader.properties();
    events.push(new EventRecord(name, sec, nano, list, reader.dropped()[0]));
  }
  return events;
};

const linksOf = (reader: EntryReader): readonly Link[] => {
  const links: Link[] = [];
  for (let link = reader.link(); link !== undefined; link = reader.link()) {
    const [w0, w1, w2, w3, idHi, idLo] = link.ids;
    const list = reader.properties();
    const [dropped] = reader.dropped();
    links.push({
      traceId: hex8(w0) + hex8(w1) + hex8(w2) + hex8(w3),
      spanId: hex8(idHi) + hex8(idLo),
      traceState: link.traceState === '' ? undefined : link.traceState,
      properties: list === null ? undefined : toProperties(list),
      ...(dropped === 0 ? undefined : { droppedAttributesCount: dropped }),
    });
  }
  return links.length === 0 ? NO_LINKS : links;
};
