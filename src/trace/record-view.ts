// Records of our own collector as finished spans. What encoders read span by span: its fields are `private`, which costs less here than `#`. One view serves all spans of a report, one after another: nothing is copied.
import type { Link } from '../span/span-types.js';
import type { ArchivedKind, ArchivedResource, ArchivedScope, ArchivedStatusCode } from './archived-span.js';
import type { FinishedEvent, FinishedLink, FinishedSpan } from './finished-span.js';
import { wordAt } from './id-words.js';
import { ListProperties, ObjectProperties } from './property-views.js';
import type { EventRecord, SpanRecord } from './record.js';

/** W3C "sampled", for only sampled spans are reported, and OTLP's "it is known whether the parent is remote". */
const LOCAL_PARENT = 0x101;
const REMOTE_PARENT = 0x301;
/** W3C "random trace id". */
const RANDOM_ID = 2;

/** The flags of a record, as OTLP has them. */
export const flagsOf = ({ trace, hasRemoteParent }: SpanRecord): number =>
  (hasRemoteParent ? REMOTE_PARENT : LOCAL_PARENT) | (trace.isRandom ? RANDOM_ID : 0);

const NOTHING = Object.freeze({});

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
  get properties(): ListProperties {
    return this.list.of(this.record.propertyList);
  }
  get droppedAttributesCount(): number {
    return this.record.droppedAttributesCount;
  }
}

class RecordLink implements FinishedLink {
  private readonly list = new ObjectProperties();
  record!: Link;

  get trace0(): number {
    return wordAt(this.record.traceId, 0);
  }
  get trace1(): number {
    return wordAt(this.record.traceId, 8);
  }
  get trace2(): number {
    return wordAt(this.record.traceId, 16);
  }
  get trace3(): number {
    return wordAt(this.record.traceId, 24);
  }
  get idHi(): number {
    return wordAt(this.record.spanId, 0);
  }
  get idLo(): number {
    return wordAt(this.record.spanId, 8);
  }
  get areIdsWhole(): boolean {
    return true;
  }
  get traceId(): string {
    return this.record.traceId;
  }
  get spanId(): string {
    return this.record.spanId;
  }
  get traceState(): string {
    return this.record.traceState ?? '';
  }
  /** Whether the other span is in another process is not known, and OTLP has "unknown" for that. */
  get flags(): number {
    return 0;
  }
  get properties(): ObjectProperties {
    return this.list.of(this.record.properties ?? NOTHING);
  }
  get droppedAttributesCount(): number {
    return this.record.droppedAttributesCount ?? 0;
  }
}

/** Point it at a record with `of`. */
export class RecordView implements FinishedSpan {
  private readonly list = new ListProperties();
  private readonly eventView = new RecordEvent();
  private readonly linkView = new RecordLink();
  private record!: SpanRecord;

  constructor(
    public resource: ArchivedResource,
    public scope: ArchivedScope,
  ) {}

  of(span: SpanRecord): this {
    this.record = span;
    return this;
  }

  get trace0(): number {
    return this.record.trace.w0;
  }
  get trace1(): number {
    return this.record.trace.w1;
  }
  get trace2(): number {
    return this.record.trace.w2;
  }
  get trace3(): number {
    return this.record.trace.w3;
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
  get areIdsWhole(): boolean {
    return true;
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
  get traceState(): string {
    return this.record.trace.traceState;
  }
  get flags(): number {
    return flagsOf(this.record);
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
  link(index: number): RecordLink {
    this.linkView.record = this.record.links[index];
    return this.linkView;
  }
  get droppedAttributesCount(): number {
    return this.record.droppedAttributesCount;
  }
  get droppedEventsCount(): number {
    return this.record.droppedEventsCount;
  }
  get droppedLinksCount(): number {
    return this.record.droppedLinksCount;
  }
}
