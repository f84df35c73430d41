// Makes the SpanRecord of a row: what a user's reporter sees. Our own encoders read the view itself, and nothing is made for them.

import { EventRecord, SpanRecord, type TraceIdentity, toProperties } from '../record/record.js';
import type { RowProperties } from '../record/row-properties.js';
import type { RowView } from '../record/row-view.js';
import type { PropertyList, PropertyValue } from '../rows/property.js';
import { Flag } from '../rows/row-chunk.js';
import type { Link, SpanStatus, StatusCode } from '../span/span-types.js';

const NO_EVENTS: readonly EventRecord[] = Object.freeze([]);
const NO_LINKS: readonly Link[] = Object.freeze([]);
const STATUS: Readonly<Record<StatusCode, SpanStatus>> = Object.freeze({
  unset: Object.freeze({ code: 'unset' }),
  ok: Object.freeze({ code: 'ok' }),
  error: Object.freeze({ code: 'error' }),
});

/** The record of the row that the view shows. */
export const recordOfRow = (span: RowView, trace: TraceIdentity): SpanRecord =>
  new SpanRecord(
    trace,
    span.idHi,
    span.idLo,
    span.parentHi,
    span.parentLo,
    span.name,
    span.kind,
    span.startSec,
    span.startNano,
    span.endSec,
    span.endNano,
    listOf(span.properties),
    eventsOf(span),
    linksOf(span),
    span.statusMessage === '' ? STATUS[span.statusCode] : { code: span.statusCode, message: span.statusMessage },
    (span.rowFlags & Flag.remoteParent) !== 0,
    (span.rowFlags & Flag.local) !== 0,
    span.droppedAttributesCount,
    span.droppedEventsCount,
    span.droppedLinksCount,
    span.rowScope,
  );

const listOf = (properties: RowProperties): PropertyList | null => {
  const { size } = properties;
  if (size === 0) return null;
  const list: (string | PropertyValue)[] = [];
  for (let i = 0; i < size; i++) list.push(properties.key(i), properties.value(i));
  return list;
};

const eventsOf = (span: RowView): readonly EventRecord[] =>
  span.eventCount === 0
    ? NO_EVENTS
    : Array.from({ length: span.eventCount }, (_, i) => {
        const { name, sec, nano, properties, droppedAttributesCount } = span.event(i);
        return new EventRecord(name, sec, nano, listOf(properties), droppedAttributesCount);
      });

const linksOf = (span: RowView): readonly Link[] =>
  span.linkCount === 0
    ? NO_LINKS
    : Array.from({ length: span.linkCount }, (_, i) => {
        const { traceId, spanId, traceState, properties, droppedAttributesCount } = span.link(i);
        const list = listOf(properties);
        return {
          traceId,
          spanId,
          traceState: traceState === '' ? undefined : traceState,
          properties: list === null ? undefined : toProperties(list),
          ...(droppedAttributesCount === 0 ? undefined : { droppedAttributesCount }),
        };
      });
