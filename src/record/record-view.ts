// Records of our own collector as finished spans. One view serves all spans of a report, one after another: nothing is copied. Encoders read it
// span by span, so its fields are `private`, which costs less here than `#`.
import type { ArchivedKind, ArchivedStatusCode } from './archived-span.js';
import { LinkView } from './archived-view.js';
import type { FinishedEvent, FinishedSpan } from './finished-span.js';
import { ListProperties } from './properties.js';
import { type EventRecord, flagsOf, type SpanRecord } from './record.js';
import { OwnTraceView } from './row-view.js';

class RecordEvent implements FinishedEvent {
  private readonly list = new ListProperties();
  record!: EventRecord;

  get name(): string {
    return this.record.name;
  }
  get sec(): number {
    return this.record.sec;
  }
  get nano(): number {
    return this.record.nano;
  }
  get timeUnixNs(): bigint {
    return this.record.timeUnixNs;
  }
  get properties(): ListProperties {
    return this.list.of(this.record.propertyList);
  }
  get droppedAttributesCount(): number {
    return this.record.droppedAttributesCount;
  }
}

/** Point it at a record with `of`. */
export class RecordView extends OwnTraceView implements FinishedSpan {
  private readonly list = new ListProperties();
  private readonly eventView = new RecordEvent();
  private readonly linkView = new LinkView();
  private record!: SpanRecord;

  of(span: SpanRecord): this {
    this.record = span;
    this.trace = span.trace;
    this.scope = span.scope ?? this.ownScope;
    return this;
  }

  get idHi(): number {
    return this.record.idHi;
  }
  get idLo(): number {
    return this.record.idLo;
  }
  get parentHi(): number {
    return this.record.parentHi;
  }
  get parentLo(): number {
    return this.record.parentLo;
  }
  get traceId(): string {
    return this.record.traceId;
  }
  get spanId(): string {
    return this.record.spanId;
  }
  get parentSpanId(): string {
    return this.record.parentSpanId;
  }
  get flags(): number {
    return flagsOf(this.record.hasRemoteParent, this.trace.isRandom);
  }
  get name(): string {
    return this.record.name;
  }
  get kind(): ArchivedKind {
    return this.record.kind;
  }
  get startSec(): number {
    return this.record.startSec;
  }
  get startNano(): number {
    return this.record.startNano;
  }
  get endSec(): number {
    return this.record.endSec;
  }
  get endNano(): number {
    return this.record.endNano;
  }
  get startUnixNs(): bigint {
    return this.record.startTimeUnixNs;
  }
  get durationNs(): bigint {
    return this.record.endTimeUnixNs - this.record.startTimeUnixNs;
  }
  get statusCode(): ArchivedStatusCode {
    return this.record.status.code;
  }
  get statusMessage(): string {
    return this.record.status.message ?? '';
  }
  get properties(): ListProperties {
    return this.list.of(this.record.propertyList);
  }
  get eventCount(): number {
    return this.record.events.length;
  }
  event(index: number): RecordEvent {
    this.eventView.record = this.record.events[index];
    return this.eventView;
  }
  get linkCount(): number {
    return this.record.links.length;
  }
  link(index: number): LinkView {
    return this.linkView.of(this.record.links[index]);
  }
  get droppedAttributesCount(): number {
    return this.record.droppedAttributesCount;
  }
  get isLocal(): boolean {
    return this.record.isLocal;
  }
  get droppedEventsCount(): number {
    return this.record.droppedEventsCount;
  }
  get droppedLinksCount(): number {
    return this.record.droppedLinksCount;
  }
}
