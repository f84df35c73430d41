// One span of Jaeger's UI as an archived span. A tag that stands for a field is taken for it only where it is the last of its key: an
// earlier one is a property.
import {
  DURATION_KEY,
  jaegerKeys as Key,
  KINDS,
  LINK_EVENT,
  NANOSECONDS_KEY,
  ORDER_KEY,
  STATUS_CODES,
  spanTags,
} from 'spanline/internal/formats';
import {
  type ArchivedEvent,
  type ArchivedLink,
  type ArchivedProperties,
  type ArchivedResource,
  type ArchivedScope,
  type ArchivedSpan,
  type ArchivedValue,
  type Extras,
  NO_PROPERTIES,
  ObjectView,
  PropertyDraft,
} from 'spanline/internal/record';
import { type DecodeContext, NO_SPAN_ID } from '../decode-context.js';
import { idOf, type JsonObject, listOf, textOf, toObject, toText, uint32Of, uint64Of } from '../json-fields.js';
import { isSorted, isText, orderOf, readTag, type Tag, takeExtras, takeLast, withoutRepeated } from './read-tags.js';

/** The tags in a member of `holder`. */
export const tagsOf = (holder: JsonObject, member: string, context: DecodeContext): Tag[] =>
  listOf(holder, member).map((raw) => {
    context.item();
    return readTag(raw);
  });

const propertiesOf = (tags: readonly Tag[]): ArchivedProperties => {
  if (tags.length === 0) return NO_PROPERTIES;
  const properties = new PropertyDraft();
  for (const [key, value] of withoutRepeated(tags)) properties.set(key, value);
  return properties.done();
};

const isTrue = (value: ArchivedValue): value is true | string => value === true || value === 'true';
const isBelowThousand = (value: ArchivedValue): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 1000;
const isDuration = (value: ArchivedValue): value is number | bigint =>
  (typeof value === 'bigint' || Number.isSafeInteger(value)) && (value as number) >= 0;
const isKind = (value: ArchivedValue): value is ArchivedSpan['kind'] => KINDS.includes(value as ArchivedSpan['kind']);

interface Reference {
  readonly isChild: boolean;
  readonly traceId: string;
  readonly spanId: string;
}

const referencesOf = (span: JsonObject, context: DecodeContext): Reference[] =>
  listOf(span, 'references').map((raw) => {
    context.item();
    const reference = toObject(raw, 'a reference');
    return {
      isChild: textOf(reference, 'refType') === 'CHILD_OF',
      traceId: idOf(reference, 'traceID', 32),
      spanId: idOf(reference, 'spanID', 16),
    };
  });

/** Place of the reference to the parent, negative without one. In our own documents it is always CHILD_OF. */
const placeOfParent = (references: readonly Reference[], traceId: string, isOurs: boolean): number => {
  const isInside = (reference: Reference): boolean => reference.traceId === traceId;
  const at = references.findIndex((reference) => reference.isChild && isInside(reference));
  return at < 0 && !isOurs ? references.findIndex(isInside) : at;
};

/** A place that is not the first is a property, unless the sender has one of that key. */
const keepPlace = (tags: Tag[], key: string, at: number): void => {
  if (at > 0 && !tags.some((tag) => tag[0] === key)) tags.push([key, at]);
};

interface LinkLog {
  readonly traceId: ArchivedValue | undefined;
  readonly spanId: ArchivedValue | undefined;
  readonly traceState: string;
  readonly properties: ArchivedProperties;
  readonly extras: Extras;
}

const linkLogOf = (tags: readonly Tag[]): LinkLog => {
  const [, [, traceId] = [], [, spanId] = [], ...rest] = tags;
  const hasState = rest[0]?.[0] === Key.TRACE_STATE;
  const own = hasState ? rest.slice(1) : rest;
  const extras = takeExtras(own, Key.LINK_EXTRAS);
  return {
    traceId,
    spanId,
    traceState: hasState ? String(rest[0][1]) : '',
    properties: propertiesOf(own),
    extras,
  };
};

const linksOf = (references: readonly Reference[], logs: LinkLog[], context: DecodeContext): ArchivedLink[] =>
  references.map(({ isChild, traceId, spanId }) => {
    if (traceId.length !== 32 || spanId.length !== 16) context.flaw('bad link');
    const at = logs.findIndex((log) => log.traceId === traceId && log.spanId === spanId);
    const [log] = at < 0 ? [] : logs.splice(at, 1);
    const { traceState = '', properties = NO_PROPERTIES, extras } = log ?? {};
    const ids = { traceId, spanId, traceState, ...extras };
    if (!isChild || Object.hasOwn(properties, Key.REFERENCE_TYPE)) return { ...ids, properties };
    return { ...ids, properties: { ...properties, [Key.REFERENCE_TYPE]: 'child_of' } };
  });

const eventOf = (timestamp: bigint, tags: Tag[]): ArchivedEvent => {
  const ns = takeLast(tags, NANOSECONDS_KEY, isBelowThousand);
  // Others have these as properties.
  const extras = ns === undefined ? {} : takeExtras(tags, Key.EVENT_EXTRAS);
  const isName = ([key, value]: Tag): boolean => key === Key.EVENT && isText(value);
  const at = tags.findIndex(isName);
  // Others have no field for a name that is empty: it is what the sender said.
  const isOwn = at >= 0 && tags[at][1] === '' && ns === undefined && tags.filter(isName).length === 1;
  const name = at < 0 || isOwn ? '' : String(tags.splice(at, 1)[0][1]);
  if (!isOwn) keepPlace(tags, Key.EVENT_AT, at);
  return { name, timeUnixNs: timestamp * 1000n + BigInt(ns ?? 0), properties: propertiesOf(tags), ...extras };
};

const scopeOf = (tags: Tag[]): ArchivedScope => {
  const version = takeLast(tags, Key.SCOPE_VERSION, isText) ?? '';
  const at = tags.findLastIndex(([key]) => key === Key.SCOPE_NAME);
  const name = takeLast(tags, Key.SCOPE_NAME, isText);
  if (name === undefined) return { name: '', version, properties: NO_PROPERTIES };
  // Only we write properties of scopes: behind its name.
  const behind = tags.splice(at);
  const isOwn = ([key]: Tag): boolean => key.startsWith(Key.SCOPE_PROPERTY);
  tags.push(...behind.filter((tag) => !isOwn(tag)));
  const own = behind.filter(isOwn).map(([key, value]): Tag => [key.slice(Key.SCOPE_PROPERTY.length), value]);
  return { name, version, properties: propertiesOf(own) };
};

const statusOf = (tags: Tag[], isOurs: boolean): ArchivedSpan['status'] => {
  const isCode = (value: ArchivedValue): value is string =>
    isText(value) && STATUS_CODES.includes(value.toLowerCase() as ArchivedSpan['status']['code']);
  const message = takeLast(tags, Key.STATUS_MESSAGE, isText) ?? '';
  const code = takeLast(tags, Key.STATUS_CODE, isCode)?.toLowerCase() as ArchivedSpan['status']['code'] | undefined;
  if (code === 'error') takeLast(tags, Key.ERROR, isTrue);
  if (code !== undefined || isOurs) return { code: code ?? 'unset', message };
  // Without a code the tag "error" of older tracers says it, and stays theirs.
  const said = tags.findLast(([key]) => key === Key.ERROR);
  return { code: said !== undefined && isTrue(said[1]) ? 'error' : 'unset', message };
};

/** The properties of `span`, and the order of its tags where they would be written in another; `came` are their keys as they came. */
const withOrder = (span: ArchivedSpan, tags: readonly Tag[], came: readonly string[]): ArchivedProperties => {
  if (isSorted(came) || came.includes(ORDER_KEY)) return span.properties;
  const order = orderOf(came, spanTags(new ObjectView().of(span)));
  return order === undefined ? span.properties : propertiesOf([...tags, [ORDER_KEY, order]]);
};

/** Keep the span in the context, or refuse it there. `traceWarnings` are remarks on its trace, which the first span of it keeps. */
export const readJaegerSpan = (
  span: JsonObject,
  resource: ArchivedResource,
  traceWarnings: readonly string[],
  context: DecodeContext,
): void => {
  context.item();
  const tags = tagsOf(span, 'tags', context);
  const came = tags.map(([key]) => key);
  const traceId = idOf(span, 'traceID', 32);
  const durationNs = takeLast(tags, DURATION_KEY, isDuration);
  const ns = takeLast(tags, NANOSECONDS_KEY, isBelowThousand);
  const isOurs = ns !== undefined;
  const extras = isOurs ? takeExtras(tags, Key.SPAN_EXTRAS) : {};
  const scopeExtras = isOurs ? takeExtras(tags, Key.SCOPE_EXTRAS) : {};
  const startUnixNs = uint64Of(span, 'startTime') * 1000n + BigInt(ns ?? 0);
  const endUnixNs = startUnixNs + (durationNs === undefined ? uint64Of(span, 'duration') * 1000n : BigInt(durationNs));
  const kind = takeLast(tags, Key.KIND, isKind) ?? (isOurs ? 'internal' : 'unspecified');
  const status = statusOf(tags, isOurs);
  const traceState = takeLast(tags, Key.TRACE_STATE, isText) ?? '';
  const scope = { ...scopeOf(tags), ...scopeExtras };
  const references = referencesOf(span, context);
  const oldParent = idOf(span, 'parentSpanID', 16);
  const parentAt = placeOfParent(references, traceId, isOurs);
  const [reference] = parentAt < 0 ? [] : references.splice(parentAt, 1);
  if (reference?.isChild === false && !tags.some(([key]) => key === Key.REFERENCE_TYPE))
    tags.push([Key.REFERENCE_TYPE, Key.FOLLOWS_FROM]);
  const parent = reference?.spanId || oldParent;
  const parentSpanId = parent === NO_SPAN_ID ? '' : parent;
  if (parentSpanId !== '' && parentSpanId.length !== 16) context.flaw('bad parent span id');
  const warnings = listOf(span, 'warnings').map((text) => toText(text, 'a warning'));
  if (warnings.length > 0) tags.push([Key.WARNINGS, warnings]);
  if (traceWarnings.length > 0) tags.push([Key.TRACE_WARNINGS, traceWarnings]);
  const flags = uint32Of(span, 'flags');
  if (flags > 0) tags.push([Key.FLAGS, flags]);
  keepPlace(tags, Key.PARENT_AT, parentAt);
  const events: ArchivedEvent[] = [];
  const linkLogs: LinkLog[] = [];
  for (const raw of listOf(span, 'logs')) {
    context.item();
    const log = toObject(raw, 'a log');
    const fields = tagsOf(log, 'fields', context);
    const isLink = fields[0]?.[0] === Key.EVENT && fields[0][1] === LINK_EVENT && fields[1]?.[0] === Key.LINK_TRACE_ID;
    if (isLink) linkLogs.push(linkLogOf(fields));
    else events.push(eventOf(uint64Of(log, 'timestamp'), fields));
  }
  const read: ArchivedSpan = {
    traceId,
    spanId: idOf(span, 'spanID', 16),
    parentSpanId,
    traceState,
    name: textOf(span, 'operationName'),
    kind,
    startUnixNs,
    endUnixNs,
    status,
    properties: propertiesOf(tags),
    events,
    links: linksOf(references, linkLogs, context),
    resource,
    scope,
    ...extras,
  };
  context.take(isOurs ? read : { ...read, properties: withOrder(read, tags, came) });
};
