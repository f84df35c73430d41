// Rows as finished spans. One view serves all spans of a report, one after another: no object is made of a span. Encoders read it span by
// span, so its fields are `private`, which costs less here than `#`.
import type { ClockAnchor } from '../clock/index.js';
import { internedName } from '../rows/name-table.js';
import { Flag, type RowChunk } from '../rows/row-chunk.js';
import { type RowEntries, Tag } from '../rows/row-entries.js';
import { internedScope, type SpanScope } from '../rows/span-scopes.js';
import { KINDS, STATUS_CODES } from '../span/span-check.js';
import type { SpanKind, StatusCode } from '../span/span-types.js';
import { hex8 } from '../span/traceparent.js';
import type { FinishedEvent, FinishedLink, FinishedSpan } from './finished-span.js';
import { OwnTraceView, type ViewedTrace } from './own-trace-view.js';
import { flagsOf } from './record.js';
import { RowProperties } from './row-properties.js';
import { toUnixTime } from './tick-time.js';

const BILLION = 1_000_000_000n;

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
    return BigInt(this.sec) * BILLION + BigInt(this.nano);
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
    return hex8(this.trace0) + hex8(this.trace1) + hex8(this.trace2) + hex8(this.trace3);
  }

  get spanId(): string {
    return hex8(this.idHi) + hex8(this.idLo);
  }

  get droppedAttributesCount(): number {
    return this.properties.dropped;
  }
}

/** Point it at a row with `of`. */
export class RowView extends OwnTraceView implements FinishedSpan {
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
    return hex8(this.idHi) + hex8(this.idLo);
  }
  get parentSpanId(): string {
    return this.parentHi === 0 && this.parentLo === 0 ? '' : hex8(this.parentHi) + hex8(this.parentLo);
  }
  get flags(): number {
    return flagsOf((this.rowFlags & Flag.remoteParent) !== 0, this.trace.isRandom);
  }
  get isLocal(): boolean {
    return (this.rowFlags & Flag.local) !== 0;
  }
  get name(): string {
    const number = this.chunk.names[this.row];
    return number > 0 ? internedName(number) : this.chunk.entries.textAt(this.chunk.heads[this.row]);
  }
  get kind(): SpanKind {
    return KINDS[this.rowFlags & Flag.kindMask];
  }
  get startUnixNs(): bigint {
    return BigInt(this.startSec) * BILLION + BigInt(this.startNano);
  }
  get durationNs(): bigint {
    return BigInt((this.endSec - this.startSec) * 1e9 + (this.endNano - this.startNano));
  }
  get statusCode(): StatusCode {
    return STATUS_CODES[(this.rowFlags >> Flag.statusShift) & Flag.statusMask];
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
