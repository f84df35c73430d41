// What a record must look like on the other side, worked out from its readable getters: the model the encoders are held to.

import type { SpanRecord } from '../../../src/record/record.js';
import type { PropertyList, PropertyValue } from '../../../src/rows/property.js';
import type { DecodedAttributes, DecodedSpan, DecodedValue } from './otlp-decode.js';

const KINDS = ['', 'internal', 'server', 'client', 'producer', 'consumer'];
const CODES = ['unset', 'ok', 'error'];

const toValue = (value: PropertyValue): DecodedValue => {
  if (Array.isArray(value)) return ['array', value.map(toValue)];
  if (typeof value === 'string') return ['string', value];
  if (typeof value === 'boolean') return ['bool', value];
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && !Object.is(value, -0) ? ['int', BigInt(value).toString()] : ['double', value];
  const digits = (value as bigint).toString();
  return BigInt.asIntN(64, value as bigint) === value ? ['int', digits] : ['string', digits];
};

const toAttributes = (list: PropertyList | null): DecodedAttributes =>
  Array.from({ length: (list?.length ?? 0) / 2 }, (_, i) => [
    list![2 * i] as string,
    toValue(list![2 * i + 1] as PropertyValue),
  ]);

export const modelOf = (span: SpanRecord): DecodedSpan => ({
  traceId: span.traceId,
  spanId: span.spanId,
  parentSpanId: span.parentSpanId,
  traceState: span.trace.traceState,
  name: span.name,
  kind: KINDS.indexOf(span.kind),
  start: span.startUnixNs.toString(),
  end: span.endUnixNs.toString(),
  flags: (span.hasRemoteParent ? 0x301 : 0x101) | (span.trace.isRandom ? 2 : 0),
  status: { code: CODES.indexOf(span.status.code), message: span.status.message ?? '' },
  attributes: toAttributes(span.propertyList),
  events: span.events.map((event) => ({
    time: event.timeUnixNs.toString(),
    name: event.name,
    attributes: toAttributes(event.propertyList),
    dropped: event.droppedAttributesCount,
  })),
  links: span.links.map((link) => ({
    traceId: link.traceId,
    spanId: link.spanId,
    traceState: link.traceState ?? '',
    flags: 0,
    attributes: toAttributes(Object.entries(link.properties ?? {}).flat() as PropertyList),
    dropped: link.droppedAttributesCount ?? 0,
  })),
  dropped: [span.droppedAttributesCount, span.droppedEventsCount, span.droppedLinksCount],
});
