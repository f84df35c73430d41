// Makes SpanRecords: of a cross-async span, and of one row of a mounted local batch. The only place where ticks,
// numeric ids and raw properties become what reporters see.
import type { ClockAnchor } from '../clock/index.js';
import { guarded } from '../local-span/lazy.js';
import type { LocalBatch } from '../local-span/local-batch.js';
import type { ActiveTrace, MountedBatch } from '../span/active-trace.js';
import type { PendingSpan } from '../span/pending-span.js';
import type { Link, SpanStatus } from '../span/span-types.js';
import { hex8 } from '../span/traceparent.js';
import { EventRecord, SpanRecord, type TraceIdentity } from '../trace/record.js';
import { cleanList, cleanObject } from './property-check.js';
import { cleanKind, cleanLinks, cleanStatus } from './span-check.js';
import { toUnixTime } from './tick-time.js';

const NO_EVENTS: readonly EventRecord[] = Object.freeze([]);
const NO_LINKS: readonly Link[] = Object.freeze([]);
/** On the root of a trace that `maxSpansPerTrace` has cut: how many spans were left out until its record was made. */
const DROPPED_SPANS = 'spanline.dropped_spans';
const UNSET: SpanStatus = Object.freeze({ code: 'unset' });

// Recording looks at no name, so that of a program without types can be anything; an encoder must get a string.
const nameText = (name: unknown): string => (typeof name === 'string' ? name : (guarded(() => String(name)) ?? ''));

/** The record of `span` in `trace`, which is its own trace or that of a further parent. */
export const recordOfSpan = (
  span: PendingSpan,
  trace: ActiveTrace,
  identity: TraceIdentity,
  anchor: ClockAnchor,
): SpanRecord => {
  const start = toUnixTime(span.begin, anchor);
  const end = toUnixTime(span.endTicks, anchor);
  const parent = span.trace === trace ? span : (span.extra?.find((one) => one.trace === trace) ?? span);
  const links = span.links === null ? NO_LINKS : cleanLinks(span.links);
  // A further parent is a link in the record of its own trace, and of no concern to the others.
  const further = span.alsoUnder?.filter((one) => one.trace === trace).map((one) => linkTo(identity, one));
  const isCutRoot = span.isRoot && span.trace === trace && trace.dropped > 0;
  const { list, dropped } = cleanList(
    isCutRoot ? [...(span.propertyList ?? []), DROPPED_SPANS, trace.dropped] : span.propertyList,
  );
  return new SpanRecord(
    identity,
    span.idHi >>> 0,
    span.idLo >>> 0,
    parent.parentHi >>> 0,
    parent.parentLo >>> 0,
    nameText(span.name),
    cleanKind(span.kind),
    start.sec,
    start.nano,
    end.sec,
    end.nano,
    list,
    span.events === null
      ? NO_EVENTS
      : span.events.map((event) => eventAt(event.name, event.ticks, event.properties, anchor)),
    further === undefined ? links : [...further, ...links],
    cleanStatus(span.status),
    span.isRoot && trace.context.isRemote && trace.context.hasSpan,
    false,
    dropped + (span.dropped?.properties ?? 0),
    span.dropped?.events ?? 0,
    (span.links?.length ?? 0) - links.length + (span.dropped?.links ?? 0),
  );
};

/** The record of one row of a mounted batch. `side` is the batch's index by row, made once a batch. */
export const recordOfLocal = (
  mounted: MountedBatch,
  index: number,
  side: SideIndex | null,
  identity: TraceIdentity,
  anchor: ClockAnchor,
): SpanRecord => {
  const { batch } = mounted;
  const slice = batch.sliceOf(index);
  const row = batch.rowOf(index);
  const parent = slice.parents[row];
  const start = toUnixTime(slice.begins[row], anchor);
  const end = toUnixTime(slice.ends[row], anchor);
  const parentSlice = parent < 0 ? null : batch.sliceOf(parent);
  const { list, dropped } = cleanList(side === null ? null : side.propertiesOf(index));
  return new SpanRecord(
    identity,
    slice.idHi >>> 0,
    (slice.idLo + row) >>> 0,
    (parentSlice === null ? mounted.parentHi : parentSlice.idHi) >>> 0,
    (parentSlice === null ? mounted.parentLo : parentSlice.idLo + batch.rowOf(parent)) >>> 0,
    nameText(slice.names[row]),
    'internal',
    start.sec,
    start.nano,
    end.sec,
    end.nano,
    list,
    side === null ? NO_EVENTS : side.eventsOf(index, anchor),
    parent < 0 && mounted.alsoUnder !== null ? mounted.alsoUnder.map((one) => linkTo(identity, one)) : NO_LINKS,
    UNSET,
    false,
    true,
    dropped + (batch.side?.droppedProperties?.get(index) ?? 0),
    batch.side?.droppedEvents?.get(index) ?? 0,
  );
};

const linkTo = (identity: TraceIdentity, parent: { parentHi: number; parentLo: number }): Link => ({
  traceId: identity.traceId,
  spanId: hex8(parent.parentHi) + hex8(parent.parentLo),
});

const eventAt = (name: string, ticks: number, properties: Parameters<typeof cleanObject>[0], anchor: ClockAnchor) => {
  const { sec, nano } = toUnixTime(ticks, anchor);
  const { list, dropped } = cleanObject(properties);
  return new EventRecord(nameText(name), sec, nano, list, dropped);
};

/** Side columns of a batch, looked up by row: entries are grouped once, in their order. */
export class SideIndex {
  private readonly properties = new Map<number, unknown[]>();
  private readonly events = new Map<number, number[]>();

  constructor(private readonly side: NonNullable<LocalBatch['side']>) {
    side.propertySpans.forEach((span, i) => {
      const list = this.properties.get(span);
      if (list === undefined) this.properties.set(span, [side.propertyKeys[i], side.propertyValues[i]]);
      else list.push(side.propertyKeys[i], side.propertyValues[i]);
    });
    side.eventSpans.forEach((span, i) => {
      const list = this.events.get(span);
      if (list === undefined) this.events.set(span, [i]);
      else list.push(i);
    });
  }

  propertiesOf(index: number): readonly unknown[] | null {
    return this.properties.get(index) ?? null;
  }

  eventsOf(index: number, anchor: ClockAnchor): readonly EventRecord[] {
    const { eventNames, eventTicks, eventProperties } = this.side;
    return (
      this.events.get(index)?.map((i) => eventAt(eventNames[i], eventTicks[i], eventProperties[i], anchor)) ?? NO_EVENTS
    );
  }
}
