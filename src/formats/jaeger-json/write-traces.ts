// Archived spans as the document that Jaeger's UI reads from a file. Where Jaeger's own form says all there is it is that form, so that an
// answer of Jaeger comes out as it came in. Nanoseconds, and all else that the form has no field for, become tags and logs: reading them
// back loses nothing but the types of lists, maps and values without content.

import type {
  ArchivedEvent,
  ArchivedLink,
  ArchivedProperties,
  ArchivedResource,
  ArchivedSpan,
  ArchivedValue,
} from '../../trace/archived-span.js';
import { type Extras, extrasOf } from '../../trace/extras.js';
import { propertyOf } from '../../trace/properties.js';
import { DURATION_KEY, LINK_EVENT, NANOSECONDS_KEY } from '../jaeger-thrift/write-span.js';
import { EVENT_EXTRAS, extraTags, LINK_EXTRAS, RESOURCE_EXTRAS, SCOPE_EXTRAS, SPAN_EXTRAS } from './extras.js';
import { Processes, tagJson } from './field-tags.js';
import { shownTraceId } from './ids.js';
import * as Key from './keys.js';
import { keptWarnings, WARNINGS_KEY } from './span-warnings.js';
import { type JaegerTag, toTag, toTags } from './tags.js';

const microseconds = (ns: bigint): number => Number(ns / 1000n);

const isWhole = (ns: bigint): boolean => ns % 1000n === 0n;

const hasExtras = (thing: Extras): boolean => Object.keys(extrasOf(thing)).length > 0;

/** Whether Jaeger's form alone would be read as another span: what it cuts off, and a link that would be taken for the parent. */
const needsMore = (span: ArchivedSpan): boolean => {
  const { startUnixNs, endUnixNs, properties, traceId, parentSpanId, links, scope } = span;
  return (
    !isWhole(startUnixNs) ||
    !isWhole(endUnixNs) ||
    Object.hasOwn(properties, NANOSECONDS_KEY) ||
    Object.hasOwn(properties, DURATION_KEY) ||
    (parentSpanId === '' && links.some((link) => link.traceId === traceId)) ||
    hasExtras(span) ||
    hasExtras(scope)
  );
};

const isTrue = (value: ArchivedValue | undefined): boolean => value === true || value === 'true';

/** Tags for fields: left out where the field has its default, unless a property of that key would be taken for it. */
const fieldTags = (span: ArchivedSpan, hasMore: boolean): JaegerTag[] => {
  const tags: JaegerTag[] = [];
  const add = (key: string, value: ArchivedValue, isDefault: boolean): void => {
    if (!isDefault || Object.hasOwn(span.properties, key)) tags.push(toTag(key, value));
  };
  const { code, message } = span.status;
  const { scope } = span;
  // Its properties are those behind its name.
  const hasScopeTags =
    Object.keys(scope.properties).length > 0 ||
    Object.keys(span.properties).some((key) => key.startsWith(Key.SCOPE_PROPERTY));
  add(Key.SCOPE_NAME, scope.name, scope.name === '' && !hasScopeTags);
  for (const [key, value] of Object.entries(scope.properties)) tags.push(toTag(Key.SCOPE_PROPERTY + key, value));
  add(Key.SCOPE_VERSION, scope.version, scope.version === '');
  if (hasMore) {
    add(NANOSECONDS_KEY, Number(span.startUnixNs % 1000n), false);
    const durationNs = span.endUnixNs - span.startUnixNs;
    add(DURATION_KEY, durationNs <= Number.MAX_SAFE_INTEGER ? Number(durationNs) : durationNs, false);
  }
  // Beside nanoseconds no kind means "internal", as our Thrift has it.
  add(Key.KIND, span.kind, span.kind === 'unspecified' && !hasMore);
  // Without a code the tag "error" would say it.
  add(Key.STATUS_CODE, code.toUpperCase(), code === 'unset' && !isTrue(propertyOf(span.properties, Key.ERROR)));
  if (code === 'error') add(Key.ERROR, true, false);
  add(Key.STATUS_MESSAGE, message, message === '');
  add(Key.TRACE_STATE, span.traceState, span.traceState === '');
  if (hasMore)
    tags.push(...extraTags(scope, span.properties, SCOPE_EXTRAS), ...extraTags(span, span.properties, SPAN_EXTRAS));
  return tags;
};

/** Whether the parent is told as a FOLLOWS_FROM: where it will be read as the parent again. */
const followsFrom = (span: ArchivedSpan): boolean =>
  span.parentSpanId !== '' &&
  propertyOf(span.properties, Key.REFERENCE_TYPE) === Key.FOLLOWS_FROM &&
  !needsMore(span) &&
  !span.links.some(({ traceId, properties }) => traceId === span.traceId && isChildOf(properties));

const isChildOf = (properties: ArchivedProperties): boolean =>
  propertyOf(properties, Key.REFERENCE_TYPE) === 'child_of';

const byKey = (a: JaegerTag, b: JaegerTag): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);

/** Of one key the property is first. In Jaeger's order where that loses nothing: properties of a scope are known by standing behind its name. */
const tagsOf = (span: ArchivedSpan): JaegerTag[] => {
  const hasMore = needsMore(span);
  const hasWarnings = keptWarnings(span.properties).length > 0;
  const follows = followsFrom(span);
  const shown = toTags(span.properties).filter(
    ({ key }) => !(hasWarnings && key === WARNINGS_KEY) && !(follows && key === Key.REFERENCE_TYPE),
  );
  const tags = [...shown, ...fieldTags(span, hasMore)];
  return hasMore || Object.keys(span.scope.properties).length > 0 ? tags : tags.sort(byKey);
};

/** A nameless event has no field of that name, unless the property would be taken for the name: any text, beside nanoseconds an empty one too. */
const isNamed = ({ name, properties }: ArchivedEvent, hasMore: boolean): boolean => {
  const own = propertyOf(properties, Key.EVENT);
  return name !== '' || (typeof own === 'string' && (own !== '' || hasMore));
};

const eventLog = (event: ArchivedEvent): object => {
  const { name, timeUnixNs, properties } = event;
  const hasMore = !isWhole(timeUnixNs) || Object.hasOwn(properties, NANOSECONDS_KEY) || hasExtras(event);
  const fields = toTags(properties);
  if (isNamed(event, hasMore)) fields.unshift(toTag(Key.EVENT, name));
  if (hasMore) {
    fields.push(...extraTags(event, properties, EVENT_EXTRAS), toTag(NANOSECONDS_KEY, Number(timeUnixNs % 1000n)));
  }
  return { timestamp: microseconds(timeUnixNs), fields };
};

const hasMore = (link: ArchivedLink): boolean =>
  link.traceState !== '' ||
  Object.keys(link.properties).length > 0 ||
  extraTags(link, link.properties, LINK_EXTRAS).length > 0;

/** A reference holds ids only; the rest of the links goes into logs at the span's start, one for each, in their order. */
const linkLogs = ({ links, startUnixNs }: ArchivedSpan): object[] => {
  if (!links.some(hasMore)) return [];
  return links.map(({ traceId, spanId, traceState, properties, ...extras }) => ({
    timestamp: microseconds(startUnixNs),
    fields: [
      toTag(Key.EVENT, LINK_EVENT),
      toTag(Key.LINK_TRACE_ID, traceId),
      toTag(Key.LINK_SPAN_ID, spanId),
      ...(traceState === '' && !Object.hasOwn(properties, Key.TRACE_STATE) ? [] : [toTag(Key.TRACE_STATE, traceState)]),
      ...toTags(properties),
      ...extraTags(extras, properties, LINK_EXTRAS),
    ],
  }));
};

const references = (span: ArchivedSpan): object[] => {
  const { traceId, parentSpanId, links } = span;
  // In a span without parent it would be taken for one.
  const isChild = (link: ArchivedLink): boolean =>
    isChildOf(link.properties) && (parentSpanId !== '' || link.traceId !== traceId);
  const list: object[] = links.map((link) => ({
    refType: isChild(link) ? 'CHILD_OF' : 'FOLLOWS_FROM',
    traceID: shownTraceId(link.traceId),
    spanID: link.spanId,
  }));
  // The parent is the first of all.
  const refType = followsFrom(span) ? 'FOLLOWS_FROM' : 'CHILD_OF';
  if (parentSpanId !== '') list.unshift({ refType, traceID: shownTraceId(traceId), spanID: parentSpanId });
  return list;
};

const spanJson = (span: ArchivedSpan, processID: string): string => {
  const warnings = keptWarnings(span.properties);
  const startTime = microseconds(span.startUnixNs);
  return tagJson({
    traceID: shownTraceId(span.traceId),
    spanID: span.spanId,
    operationName: span.name,
    references: references(span),
    startTime,
    duration: microseconds(span.endUnixNs) - startTime,
    tags: tagsOf(span),
    logs: [...span.events.map(eventLog), ...linkLogs(span)],
    processID,
    warnings: warnings.length === 0 ? null : warnings,
  });
};

const processJson = (resource: ArchivedResource): string => {
  const { properties } = resource;
  const extras = extraTags(resource, properties, RESOURCE_EXTRAS);
  const name = propertyOf(properties, Key.SERVICE_NAME);
  if (typeof name !== 'string') return tagJson({ serviceName: '', tags: [...toTags(properties), ...extras] });
  const tags = Object.keys(properties)
    .filter((key) => key !== Key.SERVICE_NAME)
    .map((key) => toTag(key, properties[key]));
  return tagJson({ serviceName: name, tags: [...tags, ...extras] });
};

/** One trace in pieces, one a span, so that a caller can pause. `spans` are of one trace. */
export const jaegerTrace = function* (traceId: string, spans: readonly ArchivedSpan[]): Generator<string> {
  const processes = new Processes();
  yield `{"traceID":"${shownTraceId(traceId)}","spans":[`;
  for (const [i, span] of spans.entries())
    yield (i === 0 ? '' : ',') + spanJson(span, processes.idOf(processJson(span.resource)));
  yield `],"processes":{${processes.json}},"warnings":null}`;
};

/**
 * Traces as the JSON document that Jaeger's UI reads from a file. Use it to look at archived traces in a
 * Jaeger UI that is not connected to the archive. Times are microseconds there; nanoseconds are kept in
 * tags. What came from an answer of Jaeger is that answer again. Source of the format:
 * jaegertracing/jaeger, internal/uimodel.
 *
 * @example
 * ```ts
 * import { decodeJaegerJson, encodeJaegerJson } from 'spanline/archive';
 * const text = encodeJaegerJson(new Map());
 * console.assert(decodeJaegerJson(Buffer.from(text)).spans.length === 0);
 * ```
 */
export const encodeJaegerJson = (traces: ReadonlyMap<string, readonly ArchivedSpan[]>): string => {
  const data = [...traces].map(([traceId, spans]) => [...jaegerTrace(traceId, spans)].join(''));
  return `{"data":[${data.join(',')}],"total":0,"limit":0,"offset":0,"errors":null}`;
};
