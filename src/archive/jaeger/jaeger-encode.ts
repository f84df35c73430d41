// Archived spans as the traces of Jaeger's UI, which older query APIs answer with and the UI reads from files. Times are whole microseconds
// there; nanoseconds, and all else that the format has no field for, become tags and logs, so that reading them back loses nothing but the
// types of lists and maps.
import { DURATION_KEY, LINK_EVENT, NANOSECONDS_KEY } from '../../exporters/jaeger/span-struct.js';
import type { ArchivedEvent, ArchivedLink, ArchivedResource, ArchivedSpan, ArchivedValue } from '../archived-span.js';
import { propertyOf } from '../properties.js';
import * as Key from './keys.js';
import { type JaegerTag, toTag, toTags } from './tags.js';

const microseconds = (ns: bigint): number => Number(ns / 1000n);

/** Tags for fields: left out where the field has its default, unless a property of that key would be taken for it. */
const fieldTags = (span: ArchivedSpan): JaegerTag[] => {
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
  add(NANOSECONDS_KEY, Number(span.startUnixNs % 1000n), false);
  const durationNs = span.endUnixNs - span.startUnixNs;
  add(DURATION_KEY, durationNs <= Number.MAX_SAFE_INTEGER ? Number(durationNs) : durationNs, false);
  add(Key.KIND, span.kind, false);
  add(Key.STATUS_CODE, code.toUpperCase(), code === 'unset');
  if (code === 'error') add(Key.ERROR, true, false);
  add(Key.STATUS_MESSAGE, message, message === '');
  add(Key.TRACE_STATE, span.traceState, span.traceState === '');
  return tags;
};

const eventLog = ({ name, timeUnixNs, properties }: ArchivedEvent): object => ({
  timestamp: microseconds(timeUnixNs),
  fields: [toTag(Key.EVENT, name), ...toTags(properties), toTag(NANOSECONDS_KEY, Number(timeUnixNs % 1000n))],
});

const hasMore = ({ traceState, properties }: ArchivedLink): boolean =>
  traceState !== '' || Object.keys(properties).length > 0;

/** A reference holds ids only; the rest of the links goes into logs at the span's start, one for each, in their order. */
const linkLogs = ({ links, startUnixNs }: ArchivedSpan): object[] => {
  if (!links.some(hasMore)) return [];
  return links.map(({ traceId, spanId, traceState, properties }) => ({
    timestamp: microseconds(startUnixNs),
    fields: [
      toTag(Key.EVENT, LINK_EVENT),
      toTag(Key.LINK_TRACE_ID, traceId),
      toTag(Key.LINK_SPAN_ID, spanId),
      ...(traceState === '' && !Object.hasOwn(properties, Key.TRACE_STATE) ? [] : [toTag(Key.TRACE_STATE, traceState)]),
      ...toTags(properties),
    ],
  }));
};

const references = ({ traceId, parentSpanId, links }: ArchivedSpan): object[] => {
  // In a span without parent it would be taken for one.
  const isChild = (link: ArchivedLink): boolean =>
    propertyOf(link.properties, Key.REFERENCE_TYPE) === 'child_of' && (parentSpanId !== '' || link.traceId !== traceId);
  const list: object[] = links.map((link) => ({
    refType: isChild(link) ? 'CHILD_OF' : 'FOLLOWS_FROM',
    traceID: link.traceId,
    spanID: link.spanId,
  }));
  // The parent is the first of all.
  if (parentSpanId !== '') list.unshift({ refType: 'CHILD_OF', traceID: traceId, spanID: parentSpanId });
  return list;
};

const spanJson = (span: ArchivedSpan, processID: string): string => {
  const startTime = microseconds(span.startUnixNs);
  return JSON.stringify({
    traceID: span.traceId,
    spanID: span.spanId,
    flags: 1,
    operationName: span.name,
    references: references(span),
    startTime,
    duration: microseconds(span.endUnixNs) - startTime,
    tags: [...toTags(span.properties), ...fieldTags(span)],
    logs: [...span.events.map(eventLog), ...linkLogs(span)],
    processID,
    warnings: null,
  });
};

const processJson = ({ properties }: ArchivedResource): string => {
  const name = propertyOf(properties, Key.SERVICE_NAME);
  if (typeof name !== 'string') return JSON.stringify({ serviceName: '', tags: toTags(properties) });
  const tags = Object.keys(properties)
    .filter((key) => key !== Key.SERVICE_NAME)
    .map((key) => toTag(key, properties[key]));
  return JSON.stringify({ serviceName: name, tags });
};

/** One trace in pieces, one a span, so that a caller can pause. `spans` are of one trace. */
export const jaegerTrace = function* (traceId: string, spans: readonly ArchivedSpan[]): Generator<string> {
  const processes = new Map<ArchivedResource, string>();
  yield `{"traceID":"${traceId}","spans":[`;
  for (let i = 0; i < spans.length; i++) {
    const { resource } = spans[i];
    const processId = processes.get(resource) ?? `p${processes.size + 1}`;
    processes.set(resource, processId);
    yield (i === 0 ? '' : ',') + spanJson(spans[i], processId);
  }
  const members = [...processes].map(([resource, id]) => `"${id}":${processJson(resource)}`);
  yield `],"processes":{${members.join(',')}},"warnings":null}`;
};

/**
 * Traces as the JSON document that Jaeger's UI reads from a file and older query APIs answer with. Use it to look at archived traces in a
 * Jaeger UI that is not connected to the archive. Times are microseconds there, nanoseconds are kept in tags. Source of the format:
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
