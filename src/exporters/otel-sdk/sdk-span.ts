// Our records as what exporters call ReadableSpan, by structure: the fields of SDK 2, and the two that SDK 1 named differently. This package needs the SDK
// neither at run time nor for its types. What a type of the SDK cannot hold is turned into text, never into a wrong number.

import { getOrMake } from '../../base/maps/maps.js';
import type { Resource } from '../../collector/reporter.js';
import { LIBRARY_NAME, LIBRARY_VERSION, resourceProperties } from '../../formats/library.js';
import { ListedState, type SdkResource, sdkResource } from '../../formats/sdk-shapes.js';
import { setOwn } from '../../record/properties.js';
import type { EventRecord, SpanRecord } from '../../record/record.js';
import type { Link, Properties, PropertyList, PropertyValue, SpanKind } from '../../rows/property.js';
import type { SpanScope } from '../../rows/row-text.js';

/** Whole seconds and nanoseconds. */
type HrTime = [number, number];

type SdkAttributeValue = string | number | boolean | string[] | number[] | boolean[];
type SdkAttributes = Record<string, SdkAttributeValue>;

interface SdkScope {
  readonly name: string;
  readonly version: string;
  readonly schemaUrl?: string;
  readonly attributes?: SdkAttributes;
}

/** The API's SpanKind and SpanStatusCode. */
const KIND: Readonly<Record<SpanKind, number>> = { internal: 0, server: 1, client: 2, producer: 3, consumer: 4 };
const STATUS = { unset: 0, ok: 1, error: 2 } as const;
/** W3C trace flags: only sampled spans get here. */
const SAMPLED = 1;
const RANDOM_ID = 2;

const OWN: SdkScope = Object.freeze({ name: LIBRARY_NAME, version: LIBRARY_VERSION });

// One object a scope: exporters group by identity.
const SCOPES = new WeakMap<SpanScope, SdkScope>();

const toScope = (scope: SpanScope | undefined): SdkScope => {
  if (scope === undefined) return OWN;
  const { name, version, schemaUrl, properties } = scope;
  return getOrMake(SCOPES, scope, () => ({
    name,
    version,
    ...(schemaUrl === undefined ? undefined : { schemaUrl }),
    ...(Object.keys(properties).length === 0 ? undefined : { attributes: toAttributes(properties) }),
  }));
};

// The SDK has no bigint. A double holds what is within 2^53; beyond, the digits as text lose nothing.
const fromBigInt = (value: bigint): number | string => {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
};

const toAttribute = (value: PropertyValue): SdkAttributeValue => {
  if (typeof value === 'bigint') return fromBigInt(value);
  if (!Array.isArray(value)) return value as SdkAttributeValue;
  if (typeof value[0] !== 'bigint') return [...value] as SdkAttributeValue;
  // An array has one type: one large integer makes text of all.
  const items = value.map(fromBigInt);
  return items.every((item) => typeof item === 'number') ? items : value.map(String);
};

const listToAttributes = (list: PropertyList | null): SdkAttributes => {
  const out: SdkAttributes = {};
  if (list === null) return out;
  for (let i = 0; i < list.length; i += 2) setOwn(out, list[i] as string, toAttribute(list[i + 1] as PropertyValue));
  return out;
};

const toAttributes = (properties: Properties): SdkAttributes => {
  const out: SdkAttributes = {};
  for (const [key, value] of Object.entries(properties)) if (value !== undefined) setOwn(out, key, toAttribute(value));
  return out;
};

const toContext = (traceId: string, spanId: string, traceState: string, traceFlags: number, isRemote?: boolean) => ({
  traceId,
  spanId,
  traceFlags,
  ...(isRemote === undefined ? {} : { isRemote }),
  ...(traceState === '' ? {} : { traceState: new ListedState(traceState) }),
});

const toEvent = ({ name, sec, nano, propertyList, droppedAttributesCount }: EventRecord) => ({
  name,
  time: [sec, nano] satisfies HrTime,
  attributes: listToAttributes(propertyList),
  droppedAttributesCount,
});

const toLink = ({ traceId, spanId, traceState, properties, droppedAttributesCount = 0 }: Link) => ({
  context: toContext(traceId, spanId, traceState ?? '', SAMPLED),
  attributes: toAttributes(properties ?? {}),
  droppedAttributesCount,
});

const durationOf = ({ startSec, startNano, endSec, endNano }: SpanRecord): HrTime =>
  endNano >= startNano ? [endSec - startSec, endNano - startNano] : [endSec - startSec - 1, endNano - startNano + 1e9];

/** The resource in the SDK's form; one object for all spans of a batch, for exporters group by identity. */
export const toSdkResource = (resource: Resource): SdkResource<SdkAttributes> =>
  sdkResource(toAttributes(resourceProperties(resource)));

export const toSdkSpan = (span: SpanRecord, resource: SdkResource<SdkAttributes>) => {
  const { traceId, parentSpanId, status } = span;
  const { traceState, isRandom } = span.trace;
  const flags = isRandom ? SAMPLED | RANDOM_ID : SAMPLED;
  const context = toContext(traceId, span.spanId, traceState, flags);
  // SDK 1 has the id alone.
  const parent =
    parentSpanId === ''
      ? {}
      : { parentSpanContext: toContext(traceId, parentSpanId, traceState, flags, span.hasRemoteParent), parentSpanId };
  return {
    name: span.name,
    kind: KIND[span.kind],
    spanContext: () => context,
    ...parent,
    startTime: [span.startSec, span.startNano] satisfies HrTime,
    endTime: [span.endSec, span.endNano] satisfies HrTime,
    duration: durationOf(span),
    status: { code: STATUS[status.code], ...(status.message === undefined ? {} : { message: status.message }) },
    attributes: listToAttributes(span.propertyList),
    links: span.links.map(toLink),
    events: span.events.map(toEvent),
    ended: true,
    resource,
    instrumentationScope: toScope(span.scope),
    /** SDK 1. */
    instrumentationLibrary: toScope(span.scope),
    droppedAttributesCount: span.droppedAttributesCount,
    droppedEventsCount: span.droppedEventsCount,
    droppedLinksCount: span.droppedLinksCount,
  };
};

export type SdkSpan = ReturnType<typeof toSdkSpan>;
