// Archived spans, and records of a collector, as finished spans: both have the same names for the same things. One view serves many spans, one after
// another.
//
// Finished spans of any model as archived spans, with objects of their own. Nothing may be lost or rounded on the way.

import type { PropertyList } from '../rows/property.js';
import { spanHex, traceHex } from '../span/span-context.js';
import type {
  ArchivedEvent,
  ArchivedKind,
  ArchivedLink,
  ArchivedProperties,
  ArchivedResource,
  ArchivedScope,
  ArchivedSpan,
  ArchivedStatusCode,
  ArchivedValue,
} from './archived-span.js';
import {
  extrasOf,
  type FinishedEvent,
  type FinishedLink,
  type FinishedSpan,
  type SpanIds,
  type SpanProperties,
} from './finished-span.js';
import { ListProperties, NO_PROPERTIES, ObjectProperties, PropertyDraft } from './properties.js';
import type { EventRecord, SpanRecord, TraceIdentity } from './record.js';
import { flagsOf, toUnixNs } from './row-view.js';

/** The 32-bit word of an id at this digit. What is not hex is 0, which no id is. */
const wordAt = (hex: string, at: number): number => Number.parseInt(hex.slice(at, at + 8), 16) || 0;

const BILLION = 1_000_000_000n;

const secondsOf = (ns: bigint): number => Number(ns / BILLION);
const nanosOf = (ns: bigint): number => Number(ns % BILLION);

/** Properties as an object, or as the list of a record, which says their order. */
interface Described {
  readonly properties?: Readonly<Record<string, ArchivedValue | undefined>>;
  readonly propertyList?: PropertyList | null;
  readonly droppedAttributesCount?: number;
}

/** What a span and a link have alike, whoever made them. Records have ids as numbers too, also copies of them that have lost their getters. */
type Identified = Described &
  Partial<Pick<ArchivedSpan, 'traceId' | 'spanId' | 'traceState' | 'flags'>> &
  Partial<Pick<SpanRecord, 'idHi' | 'idLo'>> & {
    readonly trace?: Pick<TraceIdentity, 'w0' | 'w1' | 'w2' | 'w3'> &
      Partial<Pick<TraceIdentity, 'traceState' | 'isRandom'>>;
  };

/** A moment as nanoseconds, or as seconds and the nanoseconds within. */
type ViewedEvent = Described &
  Pick<ArchivedEvent, 'name'> &
  Partial<Pick<ArchivedEvent, 'timeUnixNs'> & Pick<EventRecord, 'sec' | 'nano'>>;

/** What an archived span and a record have alike. */
type ViewedSpan = Identified &
  Pick<ArchivedSpan, 'name' | 'kind'> &
  Partial<
    Pick<ArchivedSpan, 'parentSpanId' | 'startUnixNs' | 'endUnixNs' | 'isLocal' | 'resource' | 'scope'> &
      Pick<ArchivedSpan, 'droppedEventsCount' | 'droppedLinksCount'> &
      Pick<SpanRecord, 'parentHi' | 'parentLo' | 'startSec' | 'startNano' | 'endSec' | 'endNano' | 'hasRemoteParent'>
  > & {
    readonly status: { readonly code: ArchivedStatusCode; readonly message?: string };
    readonly events: readonly ViewedEvent[];
    readonly links: readonly Identified[];
  };

const NOTHING = Object.freeze({});

/** The first, else the word of the digits; 0 where there are neither. */
const word = (number: number | undefined, hex: string | undefined, at: number): number =>
  number === undefined ? wordAt(hex ?? '', at) : number >>> 0;

const unixNs = (ns: bigint | undefined, sec: number | undefined, nano: number | undefined): bigint =>
  ns ?? toUnixNs(sec ?? 0, nano ?? 0);

class DescribedView {
  readonly #object = new ObjectProperties();
  readonly #list = new ListProperties();

  of({ properties, propertyList }: Described): SpanProperties {
    return propertyList === undefined ? this.#object.of(properties ?? NOTHING) : this.#list.of(propertyList);
  }
}

abstract class IdentifiedView<T extends Identified> implements SpanIds {
  readonly #properties = new DescribedView();
  protected from!: T;

  of(from: T): this {
    this.from = from;
    return this;
  }

  get trace0(): number {
    return word(this.from.trace?.w0, this.from.traceId, 0);
  }
  get trace1(): number {
    return word(this.from.trace?.w1, this.from.traceId, 8);
  }
  get trace2(): number {
    return word(this.from.trace?.w2, this.from.traceId, 16);
  }
  get trace3(): number {
    return word(this.from.trace?.w3, this.from.traceId, 24);
  }
  get idHi(): number {
    return word(this.from.idHi, this.from.spanId, 0);
  }
  get idLo(): number {
    return word(this.from.idLo, this.from.spanId, 8);
  }
  get areIdsWhole(): boolean {
    const { trace, traceId, spanId } = this.from;
    return trace !== undefined || (traceId?.length === 32 && spanId?.length === 16);
  }
  get traceId(): string {
    return this.from.traceId ?? traceHex(this.trace0, this.trace1, this.trace2, this.trace3);
  }
  get spanId(): string {
    return this.from.spanId ?? spanHex(this.idHi, this.idLo);
  }
  get traceState(): string {
    return this.from.traceState ?? this.from.trace?.traceState ?? '';
  }
  get flags(): number {
    return this.from.flags ?? 0;
  }
  get properties(): SpanProperties {
    return this.#properties.of(this.from);
  }
  get droppedAttributesCount(): number {
    return this.from.droppedAttributesCount ?? 0;
  }
}

/** A link; that of a record has no flags. */
class LinkView extends IdentifiedView<Identified> implements FinishedLink {}

class EventView implements FinishedEvent {
  readonly #properties = new DescribedView();
  from!: ViewedEvent;

  get name(): string {
    return this.from.name;
  }
  get sec(): number {
    return this.from.sec ?? secondsOf(this.timeUnixNs);
  }
  get nano(): number {
    return this.from.nano ?? nanosOf(this.timeUnixNs);
  }
  get timeUnixNs(): bigint {
    return unixNs(this.from.timeUnixNs, this.from.sec, this.from.nano);
  }
  get properties(): SpanProperties {
    return this.#properties.of(this.from);
  }
  get droppedAttributesCount(): number {
    return this.from.droppedAttributesCount ?? 0;
  }
}

const NO_RESOURCE: ArchivedResource = { properties: NO_PROPERTIES };
const NO_SCOPE: ArchivedScope = { name: '', version: '', properties: NO_PROPERTIES };

/** Point it at a span with `of`. Records have no resource of their own, and a scope where it is another library's: for those it is made with both. */
export class ObjectView<T extends ViewedSpan = ViewedSpan> extends IdentifiedView<T> implements FinishedSpan {
  readonly #event = new EventView();
  readonly #link = new LinkView();
  readonly #resource: ArchivedResource;
  readonly #scope: ArchivedScope;

  constructor(resource = NO_RESOURCE, scope = NO_SCOPE) {
    super();
    this.#resource = resource;
    this.#scope = scope;
  }

  override get flags(): number {
    const { flags, trace, hasRemoteParent } = this.from;
    return flags ?? (trace === undefined ? 0 : flagsOf(hasRemoteParent === true, trace.isRandom === true));
  }
  get parentHi(): number {
    return word(this.from.parentHi, this.from.parentSpanId, 0);
  }
  get parentLo(): number {
    return word(this.from.parentLo, this.from.parentSpanId, 8);
  }
  get parentSpanId(): string {
    const { parentSpanId } = this.from;
    if (parentSpanId !== undefined) return parentSpanId;
    return this.parentHi === 0 && this.parentLo === 0 ? '' : spanHex(this.parentHi, this.parentLo);
  }
  get name(): string {
    return this.from.name;
  }
  get kind(): ArchivedKind {
    return this.from.kind;
  }
  get startSec(): number {
    return this.from.startSec ?? secondsOf(this.startUnixNs);
  }
  get startNano(): number {
    return this.from.startNano ?? nanosOf(this.startUnixNs);
  }
  get endSec(): number {
    return this.from.endSec ?? secondsOf(this.endUnixNs);
  }
  get endNano(): number {
    return this.from.endNano ?? nanosOf(this.endUnixNs);
  }
  get startUnixNs(): bigint {
    return unixNs(this.from.startUnixNs, this.from.startSec, this.from.startNano);
  }
  get endUnixNs(): bigint {
    return unixNs(this.from.endUnixNs, this.from.endSec, this.from.endNano);
  }
  get durationNs(): bigint {
    return this.endUnixNs - this.startUnixNs;
  }
  get statusCode(): ArchivedStatusCode {
    return this.from.status.code;
  }
  get statusMessage(): string {
    return this.from.status.message ?? '';
  }
  get eventCount(): number {
    return this.from.events.length;
  }
  event(index: number): EventView {
    this.#event.from = this.from.events[index];
    return this.#event;
  }
  get linkCount(): number {
    return this.from.links.length;
  }
  link(index: number): LinkView {
    return this.#link.of(this.from.links[index]);
  }
  get isLocal(): boolean {
    return this.from.isLocal === true;
  }
  get resource(): ArchivedResource {
    return this.from.resource ?? this.#resource;
  }
  get scope(): ArchivedScope {
    return this.from.scope ?? this.#scope;
  }
  get droppedEventsCount(): number {
    return this.from.droppedEventsCount ?? 0;
  }
  get droppedLinksCount(): number {
    return this.from.droppedLinksCount ?? 0;
  }
}

const propertiesOf = (from: SpanProperties): ArchivedProperties => {
  if (from.size === 0) return NO_PROPERTIES;
  const properties = new PropertyDraft();
  for (let i = 0; i < from.size; i++) properties.set(from.key(i), from.value(i));
  return properties.done();
};

const eventOf = (event: FinishedEvent): ArchivedEvent => ({
  name: event.name,
  timeUnixNs: event.timeUnixNs,
  properties: propertiesOf(event.properties),
  ...extrasOf({ droppedAttributesCount: event.droppedAttributesCount }),
});

const linkOf = ({ traceId, spanId, traceState, properties, droppedAttributesCount }: FinishedLink): ArchivedLink => ({
  traceId,
  spanId,
  traceState,
  properties: propertiesOf(properties),
  ...extrasOf({ droppedAttributesCount }),
});

/** A finished span, with objects of its own. */
export const toArchived = (span: FinishedSpan): ArchivedSpan => {
  const { flags, droppedAttributesCount, droppedEventsCount, droppedLinksCount } = span;
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId,
    traceState: span.traceState,
    name: span.name,
    kind: span.kind,
    startUnixNs: span.startUnixNs,
    endUnixNs: span.startUnixNs + span.durationNs,
    status: { code: span.statusCode, message: span.statusMessage },
    properties: propertiesOf(span.properties),
    events: Array.from({ length: span.eventCount }, (_, i) => eventOf(span.event(i))),
    links: Array.from({ length: span.linkCount }, (_, i) => linkOf(span.link(i))),
    resource: span.resource,
    scope: span.scope,
    ...(span.isLocal && { isLocal: true }),
    ...extrasOf({ flags, droppedAttributesCount, droppedEventsCount, droppedLinksCount }),
  };
};
