// Rows as finished spans. One view serves all spans of a report, one after another: no object is made of a span. Encoders read it span by
// span, so its fields are `private`, which costs less here than `#`.
//
// Ticks to unix time, exactly, with one anchor. Off the hot path; monotone, so that children stay inside their parents.
//
// The properties of a row, an event or a link, read from their entries by number. A view is made once and pointed at one after another.

import type { ClockAnchor } from '../clock/index.js';
import type { PropertyValue, SpanKind, StatusCode } from '../rows/property.js';
import { Flag, KINDS, type RowChunk, STATUS_CODES, statusIn } from '../rows/row-chunk.js';
import { type RowEntries, Tag } from '../rows/row-entries.js';
import { internedName, internedScope, type SpanScope } from '../rows/row-text.js';
import type { TraceKey } from '../rows/trace-table.js';
import { spanHex, traceHex } from '../span/span-context.js';
import type { ArchivedResource, ArchivedScope } from './archived-span.js';
import type { FinishedEvent, FinishedLink, FinishedSpan, SpanProperties } from './finished-span.js';

/** What views need of a trace. Words of the id may be signed. */
interface ViewedTrace extends TraceKey {
  readonly traceId: string;
}

/**
 * Whole unix seconds and nanoseconds (0 to 999999999) within that second. Every step is exact in a double (below 2^53) or a floor, so order is kept.
 */
export const toUnixTime = (ticks: number, anchor: ClockAnchor): { readonly sec: number; readonly nano: number } => {
  const ns = Math.floor(anchor.unixNano + (ticks - anchor.ticks) * anchor.nsPerTick);
  const carry = Math.floor(ns / 1e9);
  return { sec: anchor.unixSec + carry, nano: ns - carry * 1e9 };
};

const BILLION = 1_000_000_000n;

/** Whole Unix seconds and the nanoseconds within, as nanoseconds. */
export const toUnixNs = (sec: number, nano: number): bigint => BigInt(sec) * BILLION + BigInt(nano);

/** W3C "sampled", for only sampled spans are reported, and OTLP's "it is known whether the parent is remote". */
const LOCAL_PARENT = 0x101;
const REMOTE_PARENT = 0x301;
/** W3C "random trace id". */
const RANDOM_ID = 2;

/** The flags of a span of this process, as OTLP has them. */
export const flagsOf = (hasRemoteParent: boolean, isRandom: boolean): number =>
  (hasRemoteParent ? REMOTE_PARENT : LOCAL_PARENT) | (isRandom ? RANDOM_ID : 0);

export class RowProperties implements SpanProperties {
  size = 0;
  /** What was left out: of a row properties, events and links; of an event or a link properties. */
  dropped = 0;
  droppedEvents = 0;
  droppedLinks = 0;
  /** Entry of the message that stands between properties and what was left out; -1 for none. */
  messageAt = -1;
  /** Where the properties are. */
  entries!: RowEntries;
  // The entry of each property: that of its key where that has no number.
  private places = new Int32Array(16);

  /** Point it at the properties from entry `at` on; gives the entry behind what was left out. */
  of(entries: RowEntries, at: number, end: number): number {
    const { words } = entries;
    this.entries = entries;
    this.size = 0;
    this.dropped = 0;
    this.droppedEvents = 0;
    this.droppedLinks = 0;
    this.messageAt = -1;
    let entry = at;
    while (entry < end) {
      const tag = words[entry * 4 + 1] & 0xff;
      if (tag > Tag.key) break;
      this.put(entry);
      entry = entryBehind(words, tag === Tag.key ? entry + 1 : entry);
    }
    if (entry < end && (words[entry * 4 + 1] & 0xff) === Tag.message) this.messageAt = entry++;
    if (entry < end && (words[entry * 4 + 1] & 0xff) === Tag.dropped) {
      this.dropped = words[entry * 4];
      this.droppedEvents = words[entry * 4 + 2];
      this.droppedLinks = words[entry * 4 + 3];
      entry++;
    }
    return entry;
  }

  key(index: number): string {
    const at = this.places[index] * 4;
    return this.isWritten(at) ? this.entries.textAt(at >> 2) : internedName(this.entries.words[at]);
  }

  value(index: number): PropertyValue {
    const entry = this.places[index];
    return this.entries.valueAt(this.isWritten(entry * 4) ? entry + 1 : entry);
  }

  /** The first entry of a property: its value, or its key where that has no number. */
  entryAt(index: number): number {
    return this.places[index];
  }

  get(key: string): PropertyValue | undefined {
    for (let i = 0; i < this.size; i++) if (this.key(i) === key) return this.value(i);
    return undefined;
  }

  private isWritten(at: number): boolean {
    return (this.entries.words[at + 1] & 0xff) === Tag.key;
  }

  private put(entry: number): void {
    if (this.size === this.places.length) {
      const places = new Int32Array(this.size * 2);
      places.set(this.places);
      this.places = places;
    }
    this.places[this.size++] = entry;
  }
}

// An array has its items behind it.
const entryBehind = (words: Int32Array, value: number): number =>
  (words[value * 4 + 1] & 0xff) === Tag.array ? value + 1 + words[value * 4 + 2] : value + 1;

class RowEvent implements FinishedEvent {
  readonly properties = new RowProperties();
  name = '';
  sec = 0;
  nano = 0;

  of(entries: RowEntries, at: number, end: number, anchor: ClockAnchor): this {
    const number = entries.words[at * 4];
    const time = toUnixTime(entries.doubles[at * 2 + 1], anchor);
    this.name = number > 0 ? internedName(number) : entries.textAt(at + 1);
    this.sec = time.sec;
    this.nano = time.nano;
    this.properties.of(entries, number > 0 ? at + 1 : at + 2, end);
    return this;
  }

  get timeUnixNs(): bigint {
    return toUnixNs(this.sec, this.nano);
  }

  get droppedAttributesCount(): number {
    return this.properties.dropped;
  }
}

class RowLink implements FinishedLink {
  readonly properties = new RowProperties();
  readonly areIdsWhole = true;
  /** A row does not say whether the other span is in another process. */
  readonly flags = 0;
  trace0 = 0;
  trace1 = 0;
  trace2 = 0;
  trace3 = 0;
  idHi = 0;
  idLo = 0;
  traceState = '';

  of(entries: RowEntries, at: number, end: number): this {
    const { words } = entries;
    const w = at * 4;
    this.trace0 = words[w + 3] >>> 0;
    this.trace1 = words[w + 4] >>> 0;
    this.trace2 = words[w + 6] >>> 0;
    this.trace3 = words[w + 7] >>> 0;
    this.idHi = words[w] >>> 0;
    this.idLo = words[w + 2] >>> 0;
    const hasState = at + 2 < end && (words[w + 9] & 0xff) === Tag.linkState;
    this.traceState = hasState ? entries.textAt(at + 2) : '';
    this.properties.of(entries, hasState ? at + 3 : at + 2, end);
    return this;
  }

  get traceId(): string {
    return traceHex(this.trace0, this.trace1, this.trace2, this.trace3);
  }

  get spanId(): string {
    return spanHex(this.idHi, this.idLo);
  }

  get droppedAttributesCount(): number {
    return this.properties.dropped;
  }
}

/** Point it at a row with `of`. */
export class RowView implements FinishedSpan {
  readonly areIdsWhole = true;
  readonly properties = new RowProperties();
  startSec = 0;
  startNano = 0;
  endSec = 0;
  endNano = 0;
  eventCount = 0;
  linkCount = 0;
  private readonly eventView = new RowEvent();
  private readonly linkView = new RowLink();
  private chunk!: RowChunk;
  private row = 0;
  private end = 0;
  /** The flags of the row. */
  rowFlags = 0;
  // Entries of the events, then of the links.
  private readonly places: number[] = [];
  private anchor!: ClockAnchor;
  private trace!: ViewedTrace;
  /** Who recorded the span: as its own library says, or this one. */
  scope: ArchivedScope;

  constructor(
    public resource: ArchivedResource,
    private readonly ownScope: ArchivedScope,
  ) {
    this.scope = ownScope;
  }

  of(chunk: RowChunk, row: number, trace: ViewedTrace, anchor: ClockAnchor): this {
    this.chunk = chunk;
    this.row = row;
    this.trace = trace;
    this.anchor = anchor;
    this.rowFlags = chunk.flags[row];
    this.scope = this.rowFlags >> Flag.scopeShift === 0 ? this.ownScope : (this.rowScope ?? this.ownScope);
    const start = toUnixTime(chunk.begins[row], anchor);
    this.startSec = start.sec;
    this.startNano = start.nano;
    const end = toUnixTime(chunk.ends[row], anchor);
    this.endSec = end.sec;
    this.endNano = end.nano;
    this.end = chunk.heads[row + 1];
    const first = chunk.heads[row] + (chunk.names[row] === 0 ? 1 : 0);
    const behind = this.properties.of(chunk.entries, first, this.end);
    this.eventCount = 0;
    this.linkCount = 0;
    if (behind < this.end) this.findPlaces(behind);
    return this;
  }

  /** The scope of the row; undefined for a span of this library. */
  get rowScope(): SpanScope | undefined {
    return internedScope(this.rowFlags >> Flag.scopeShift);
  }
  get trace0(): number {
    return this.trace.w0 >>> 0;
  }
  get trace1(): number {
    return this.trace.w1 >>> 0;
  }
  get trace2(): number {
    return this.trace.w2 >>> 0;
  }
  get trace3(): number {
    return this.trace.w3 >>> 0;
  }
  get traceState(): string {
    return this.trace.traceState;
  }
  get idHi(): number {
    return this.chunk.idHis[this.row] >>> 0;
  }
  get idLo(): number {
    return this.chunk.idLos[this.row] >>> 0;
  }
  get parentHi(): number {
    return this.chunk.parentHis[this.row] >>> 0;
  }
  get parentLo(): number {
    return this.chunk.parentLos[this.row] >>> 0;
  }
  get traceId(): string {
    return this.trace.traceId;
  }
  get spanId(): string {
    return spanHex(this.idHi, this.idLo);
  }
  get parentSpanId(): string {
    return this.parentHi === 0 && this.parentLo === 0 ? '' : spanHex(this.parentHi, this.parentLo);
  }
  get flags(): number {
    return flagsOf((this.rowFlags & Flag.remoteParent) !== 0, this.trace.isRandom);
  }
  get isLocal(): boolean {
    return (this.rowFlags & Flag.local) !== 0;
  }
  /** The number of the name; 0 when its text is in the row. */
  get nameNumber(): number {
    return this.chunk.names[this.row];
  }
  get name(): string {
    const number = this.nameNumber;
    return number > 0 ? internedName(number) : this.chunk.entries.textAt(this.chunk.heads[this.row]);
  }
  get kind(): SpanKind {
    return KINDS[this.rowFlags & Flag.kindMask];
  }
  get startUnixNs(): bigint {
    return toUnixNs(this.startSec, this.startNano);
  }
  get durationNs(): bigint {
    return BigInt((this.endSec - this.startSec) * 1e9 + (this.endNano - this.startNano));
  }
  get statusCode(): StatusCode {
    return STATUS_CODES[statusIn(this.rowFlags)];
  }
  get statusMessage(): string {
    const { messageAt } = this.properties;
    return messageAt < 0 ? '' : this.chunk.entries.textAt(messageAt);
  }
  event(index: number): RowEvent {
    return this.eventView.of(this.chunk.entries, this.places[index], this.end, this.anchor);
  }
  link(index: number): RowLink {
    return this.linkView.of(this.chunk.entries, this.places[this.eventCount + index], this.end);
  }
  get droppedAttributesCount(): number {
    return this.properties.dropped;
  }
  get droppedEventsCount(): number {
    return this.properties.droppedEvents;
  }
  get droppedLinksCount(): number {
    return this.properties.droppedLinks;
  }

  private findPlaces(behind: number): void {
    const { words } = this.chunk.entries;
    this.places.length = 0;
    for (let entry = behind; entry < this.end; entry++) {
      const tag = words[entry * 4 + 1] & 0xff;
      if (tag !== Tag.event && tag !== Tag.link) continue;
      this.places.push(entry);
      if (tag === Tag.event) this.eventCount++;
      else this.linkCount++;
    }
  }
}
