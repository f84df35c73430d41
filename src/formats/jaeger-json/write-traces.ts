// Finished spans, and traces of them, in the form that Jaeger's UI reads from a file. Where Jaeger's own form says all there is it is that form, so that an answer
// of Jaeger comes out as it came in. Nanoseconds, and all else that the form has no field for, become tags and logs: reading them back loses
// nothing but the types of lists, maps and values without content.
import type { ArchivedResource, ArchivedSpan, ArchivedValue } from '../../record/archived-span.js';
import {
  type Extras,
  extrasOf,
  type FinishedEvent,
  type FinishedLink,
  type FinishedSpan,
  type SpanProperties,
} from '../../record/finished-span.js';
import { ObjectView } from '../../record/object-view.js';
import { ObjectProperties, propertyOf } from '../../record/properties.js';
import { DURATION_KEY, LINK_EVENT, NANOSECONDS_KEY, toMicroseconds } from '../jaeger-thrift/write-span.js';
import { KINDS, STATUS_CODES } from '../otlp/messages.js';
import * as Key from './keys.js';
import {
  EVENT_EXTRAS,
  extraTags,
  LINK_EXTRAS,
  RESOURCE_EXTRAS,
  SCOPE_EXTRAS,
  SPAN_EXTRAS,
  shownTraceId,
  tagJson,
  warningsIn,
} from './keys.js';
import { inOrder, type JaegerTag, ORDER_KEY, toTag, toTags, withRepeated } from './tags.js';

const isWhole = (nano: number): boolean => nano % 1000 === 0;

const hasExtras = (thing: Extras): boolean => Object.keys(extrasOf(thing)).length > 0;

const has = (properties: SpanProperties, key: string): boolean => properties.get(key) !== undefined;

const isChildOf = (link: FinishedLink): boolean => link.properties.get(Key.REFERENCE_TYPE) === 'child_of';

/** Whether any link is one that says this. */
const someLink = (span: FinishedSpan, isOne: (link: FinishedLink) => boolean): boolean => {
  for (let i = 0; i < span.linkCount; i++) if (isOne(span.link(i))) return true;
  return false;
};

const isInside =
  ({ traceId }: FinishedSpan) =>
  (link: FinishedLink): boolean =>
    link.traceId === traceId;

/** Whether Jaeger's form alone would be read as another span: what it cuts off, and a link that would be taken for the parent. */
const needsMore = (span: FinishedSpan): boolean =>
  !isWhole(span.startNano) ||
  !isWhole(span.endNano) ||
  has(span.properties, NANOSECONDS_KEY) ||
  has(span.properties, DURATION_KEY) ||
  (span.parentSpanId === '' && someLink(span, isInside(span))) ||
  hasExtras(span) ||
  hasExtras(span.scope);

/** Whether the last tag "error" will be read as the status where no code stands beside it. */
const saysError = (own: readonly JaegerTag[]): boolean => {
  const value = own.findLast(({ key }) => key === Key.ERROR)?.value;
  return value === true || value === 'true';
};

/** What is taken for a field when it is read back: for one of names, only these. */
const isText = (value: ArchivedValue): boolean => toTag('', value).type === 'string';
const isOneOf =
  (names: readonly string[]) =>
  (value: ArchivedValue): boolean =>
    typeof value === 'string' && names.includes(value.toLowerCase());
const isKind = isOneOf(KINDS);
const isStatusCode = isOneOf(STATUS_CODES);

const exact = (ns: bigint): number | bigint => (ns <= Number.MAX_SAFE_INTEGER ? Number(ns) : ns);

/** Tags for fields: left out where the field has its default, unless a property of that key would be taken for it. */
const fieldTags = (
  span: FinishedSpan,
  properties: SpanProperties,
  own: readonly JaegerTag[],
  hasMore: boolean,
): JaegerTag[] => {
  const tags: JaegerTag[] = [];
  const add = (key: string, value: ArchivedValue, isDefault: boolean, isTaken = isText): boolean => {
    const property = properties.get(key);
    if (isDefault && (property === undefined || !isTaken(property))) return false;
    tags.push(toTag(key, value));
    return true;
  };
  const { scope, kind, statusCode, statusMessage, traceState } = span;
  // Its properties are those behind its name.
  const ofScope = Object.entries(scope.properties);
  const hasScopeTags = ofScope.length > 0 || own.some(({ key }) => key.startsWith(Key.SCOPE_PROPERTY));
  add(Key.SCOPE_NAME, scope.name, scope.name === '' && !hasScopeTags);
  for (const [key, value] of ofScope) tags.push(toTag(Key.SCOPE_PROPERTY + key, value));
  add(Key.SCOPE_VERSION, scope.version, scope.version === '');
  if (hasMore) {
    add(NANOSECONDS_KEY, span.startNano % 1000, false);
    add(DURATION_KEY, exact(span.durationNs), false);
  }
  // Beside nanoseconds no kind means "internal", as in our Thrift; elsewhere "unspecified".
  add(Key.KIND, kind, kind === (hasMore ? 'internal' : 'unspecified'), isKind);
  // Without a code a property "error" says it, as older tracers have it; beside nanoseconds no code is none.
  const isSaid = saysError(own);
  const isDefault = isSaid ? statusCode === 'error' && !hasMore : statusCode === 'unset';
  const hasCode = add(Key.STATUS_CODE, statusCode.toUpperCase(), isDefault, isStatusCode);
  if (hasCode && statusCode === 'error') add(Key.ERROR, true, false);
  add(Key.STATUS_MESSAGE, statusMessage, statusMessage === '');
  add(Key.TRACE_STATE, traceState, traceState === '');
  if (hasMore) tags.push(...extraTags(scope, properties, SCOPE_EXTRAS), ...extraTags(span, properties, SPAN_EXTRAS));
  return tags;
};

/** Whether the parent is written as a FOLLOWS_FROM: where it will be read as the parent again. */
const followsFrom = (span: FinishedSpan, hasMore: boolean): boolean =>
  span.parentSpanId !== '' &&
  span.properties.get(Key.REFERENCE_TYPE) === Key.FOLLOWS_FROM &&
  !hasMore &&
  !someLink(span, (link) => isInside(span)(link) && isChildOf(link));

const byKey = (a: JaegerTag, b: JaegerTag): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);

/** The flags that Jaeger had of the span. */
const flagsIn = (properties: SpanProperties): number => {
  const flags = properties.get(Key.FLAGS);
  return typeof flags === 'number' && Number.isInteger(flags) && flags > 0 && flags < 2 ** 32 ? flags : 0;
};

/** The place that a property says, where there are that many others before it; 0 otherwise. */
const placeIn = (properties: SpanProperties, key: string, others: number): number => {
  const at = properties.get(key);
  return typeof at === 'number' && Number.isInteger(at) && at > 0 && at <= others ? at : 0;
};

const SCOPE_KEYS: readonly string[] = [Key.SCOPE_NAME, Key.SCOPE_VERSION];

/**
 * In the order that Jaeger shows, by key; where properties have another, in that of its answers as they are stored: the scope, properties, and
 * what else stands for fields.
 */
const ordered = (own: readonly JaegerTag[], ofFields: readonly JaegerTag[]): JaegerTag[] => {
  const isInOrder = own.every((tag, i) => i === 0 || byKey(own[i - 1], tag) <= 0);
  if (isInOrder) return [...own, ...ofFields].sort(byKey);
  const isOfScope = ({ key }: JaegerTag): boolean => SCOPE_KEYS.includes(key);
  if (own.some(isOfScope)) return [...own, ...ofFields];
  return [...ofFields.filter(isOfScope), ...own, ...ofFields.filter((tag) => !isOfScope(tag))];
};

/** Properties of a scope are known by standing behind its name: none of the span may come to stand there. */
const takesNone = (tags: readonly JaegerTag[]): boolean => {
  const at = tags.findLastIndex(({ key }) => key === Key.SCOPE_NAME);
  return at < 0 || !tags.slice(at).some(({ key }) => key.startsWith(Key.SCOPE_PROPERTY));
};

/** In the order in which they came, where a property says it; then it is not a tag itself. */
const asTheyCame = (own: readonly JaegerTag[], ofFields: readonly JaegerTag[], order: ArchivedValue): JaegerTag[] => {
  const others = own.filter(({ key }) => key !== ORDER_KEY);
  const tags = inOrder(ordered(others, ofFields), order);
  return tags !== undefined && takesNone(tags) ? tags : ordered(own, ofFields);
};

/** What decides how a span is shown. */
const shapeOf = (span: FinishedSpan) => {
  const hasMore = needsMore(span);
  const follows = followsFrom(span, hasMore);
  return {
    hasMore,
    follows,
    parentAt: placeOfParent(span, follows),
    flags: flagsIn(span.properties),
    warnings: warningsIn(span.properties.get(Key.WARNINGS)),
  };
};

/**
 * The tags of a span of the document. Of one key the property is first. In Jaeger's order where that loses nothing: properties of a scope are known by
 * standing behind its name.
 */
export const spanTags = (span: FinishedSpan, shape = shapeOf(span)): JaegerTag[] => {
  const { properties } = span;
  const { hasMore, follows, parentAt, flags, warnings } = shape;
  const own = withRepeated(toTags(properties), properties);
  const shown = own.filter(
    ({ key }) =>
      !(warnings.length > 0 && key === Key.WARNINGS) &&
      !(follows && key === Key.REFERENCE_TYPE) &&
      !(parentAt > 0 && key === Key.PARENT_AT) &&
      !(flags > 0 && key === Key.FLAGS) &&
      !(key === Key.TRACE_WARNINGS && warningsIn(properties.get(key)).length > 0),
  );
  const ofFields = fieldTags(span, properties, own, hasMore);
  if (hasMore || Object.keys(span.scope.properties).length > 0) return [...shown, ...ofFields];
  const order = properties.get(ORDER_KEY);
  return order === undefined ? ordered(shown, ofFields) : asTheyCame(shown, ofFields, order);
};

/**
 * A nameless event has no field of that name, unless the property would be taken for the name: whatever is shown as text, beside nanoseconds
 * an empty one too.
 */
const isNamed = (name: string, properties: SpanProperties, hasMore: boolean): boolean => {
  const own = properties.get(Key.EVENT);
  if (name !== '' || own === undefined) return name !== '';
  const { type, value } = toTag(Key.EVENT, own);
  return type === 'string' && (value !== '' || hasMore);
};

/** The name first, or where it stood: behind no other that would be taken for it. */
const withName = (name: string, own: JaegerTag[], properties: SpanProperties): JaegerTag[] => {
  const others = own.filter(({ key }) => key !== Key.EVENT_AT);
  const at = placeIn(properties, Key.EVENT_AT, others.length);
  const isTaken = others.slice(0, at).some(({ key, type }) => key === Key.EVENT && type === 'string');
  if (at === 0 || isTaken) return [toTag(Key.EVENT, name), ...own];
  return others.toSpliced(at, 0, toTag(Key.EVENT, name));
};

const eventLog = (event: FinishedEvent): object => {
  const { name, sec, nano, properties } = event;
  const hasMore = !isWhole(nano) || has(properties, NANOSECONDS_KEY) || hasExtras(event);
  const own = withRepeated(toTags(properties), properties);
  const fields = isNamed(name, properties, hasMore) ? withName(name, own, properties) : own;
  if (hasMore) fields.push(...extraTags(event, properties, EVENT_EXTRAS), toTag(NANOSECONDS_KEY, nano % 1000));
  return { timestamp: toMicroseconds(sec, nano), fields };
};

/** Whether a reference alone says less of the link; that it is a CHILD_OF it says. */
const hasRest = (link: FinishedLink, isChild: boolean): boolean =>
  link.traceState !== '' || link.properties.size > (isChild ? 1 : 0) || hasExtras(link);

/** In a span without parent it would be taken for one. */
const isShownAsChild = (span: FinishedSpan, link: FinishedLink): boolean =>
  isChildOf(link) && (span.parentSpanId !== '' || link.traceId !== span.traceId);

const linkLog = (link: FinishedLink, timestamp: number): object => {
  const { traceId, spanId, traceState, properties } = link;
  return {
    timestamp,
    fields: [
      toTag(Key.EVENT, LINK_EVENT),
      toTag(Key.LINK_TRACE_ID, traceId),
      toTag(Key.LINK_SPAN_ID, spanId),
      ...(traceState === '' && !has(properties, Key.TRACE_STATE) ? [] : [toTag(Key.TRACE_STATE, traceState)]),
      ...toTags(properties),
      ...extraTags(link, properties, LINK_EXTRAS),
    ],
  };
};

/** Events, and what a reference has no place for: a log at the span's start, in order where several links go to one span. */
const logsOf = (span: FinishedSpan): object[] => {
  const logs: object[] = [];
  for (let i = 0; i < span.eventCount; i++) logs.push(eventLog(span.event(i)));
  const logged = new Set<string>();
  for (let i = 0; i < span.linkCount; i++) {
    const link = span.link(i);
    if (hasRest(link, isShownAsChild(span, link))) logged.add(link.traceId + link.spanId);
  }
  const start = toMicroseconds(span.startSec, span.startNano);
  for (let i = 0; i < span.linkCount; i++) {
    const link = span.link(i);
    if (logged.has(link.traceId + link.spanId)) logs.push(linkLog(link, start));
  }
  return logs;
};

/** Where the parent stands among the references: first, or behind links none of which will be taken for it. */
const placeOfParent = (span: FinishedSpan, follows: boolean): number => {
  if (span.parentSpanId === '') return 0;
  const at = placeIn(span.properties, Key.PARENT_AT, span.linkCount);
  for (let i = 0; i < at; i++) {
    const link = span.link(i);
    if (isInside(span)(link) && (follows || isChildOf(link))) return 0;
  }
  return at;
};

const references = (span: FinishedSpan, follows: boolean, parentAt: number): object[] => {
  const { traceId, parentSpanId } = span;
  const list: object[] = [];
  for (let i = 0; i < span.linkCount; i++) {
    const link = span.link(i);
    const refType = isShownAsChild(span, link) ? 'CHILD_OF' : 'FOLLOWS_FROM';
    list.push({ refType, traceID: shownTraceId(link.traceId), spanID: link.spanId });
  }
  if (parentSpanId === '') return list;
  const refType = follows ? 'FOLLOWS_FROM' : 'CHILD_OF';
  return list.toSpliced(parentAt, 0, { refType, traceID: shownTraceId(traceId), spanID: parentSpanId });
};

/** A span of the document; `processID` is that of its process within the trace. */
export const spanJson = (span: FinishedSpan, processID: string): string => {
  const shape = shapeOf(span);
  const { follows, parentAt, flags, warnings } = shape;
  const startTime = toMicroseconds(span.startSec, span.startNano);
  return tagJson({
    traceID: shownTraceId(span.traceId),
    spanID: span.spanId,
    operationName: span.name,
    references: references(span, follows, parentAt),
    startTime,
    duration: toMicroseconds(span.endSec, span.endNano) - startTime,
    tags: spanTags(span, shape),
    logs: logsOf(span),
    processID,
    warnings: warnings.length === 0 ? null : warnings,
    ...(flags > 0 ? { flags } : {}),
  });
};

/** A process of the document. */
export const processJson = (resource: ArchivedResource): string => {
  const properties = new ObjectProperties().of(resource.properties);
  const extras = extraTags(resource, properties, RESOURCE_EXTRAS);
  const name = properties.get(Key.SERVICE_NAME);
  const hasName = typeof name === 'string';
  const own = toTags(properties).filter(({ key }) => !hasName || key !== Key.SERVICE_NAME);
  return tagJson({ serviceName: hasName ? name : '', tags: [...withRepeated(own, properties), ...extras] });
};

/** One trace in pieces, one a span, so that a caller can pause. `spans` are of one trace. */
export const jaegerTrace = function* (traceId: string, spans: readonly ArchivedSpan[]): Generator<string> {
  const processes = new Key.Processes();
  const view = new ObjectView();
  yield `{"traceID":"${shownTraceId(traceId)}","spans":[`;
  for (const [i, span] of spans.entries())
    yield (i === 0 ? '' : ',') + spanJson(view.of(span), processes.idOf(processJson(span.resource)));
  const warnings = spans.flatMap(({ properties }) => warningsIn(propertyOf(properties, Key.TRACE_WARNINGS)));
  yield `],"processes":{${processes.json}},"warnings":${warnings.length === 0 ? 'null' : JSON.stringify(warnings)}}`;
};
