// Traces field for field as a Jaeger 2 answers with them in its older query API. What has no field there is left out, as it is there: nothing
// of ours is added, so this is not a form to keep traces in.
import { type JaegerTag, jaegerKeys as Key, toTag } from 'spanline/internal/formats';
import {
  ArchivedDouble,
  type ArchivedEvent,
  type ArchivedProperties,
  type ArchivedSpan,
  type ArchivedValue,
  goJson,
  propertyOf,
} from 'spanline/internal/record';
import { compare } from '../../values/fields.js';
import { referencesOf } from './references.js';
import { keptWarnings, warningsOf } from './span-warnings.js';

/** Services whose name is none. */
export const MISSING_SERVICE = 'missing-service-name';
const EMPTY_SERVICE = 'empty-service-name';
const ODD_SERVICE = 'service-name-wrong-type';

/** Tags of spans that are shown with their process. */
const PROCESS_KEYS = new Set([
  ...['telemetry.sdk.language', 'telemetry.sdk.name', 'telemetry.sdk.version'],
  ...['telemetry.distro.name', 'telemetry.distro.version'],
]);

/** Numbers under these keys are addresses. */
const ADDRESS_KEYS = new Set(['ip', 'peer.ipv4']);

/** In the order of the types of Jaeger's model. */
const TYPES: readonly JaegerTag['type'][] = ['string', 'bool', 'int64', 'float64', 'binary'];

/** By key, then type, then value. */
const byKey = (a: JaegerTag, b: JaegerTag): number =>
  compare(a.key, b.key) || compare(TYPES.indexOf(a.type), TYPES.indexOf(b.type)) || compare(a.value, b.value);

/** A tag if there is something to say. */
const textTag = (key: string, text: string): JaegerTag[] => (text === '' ? [] : [toTag(key, text)]);

const microseconds = (ns: bigint): number => Number(ns / 1000n);

const shownAddress = (tag: JaegerTag): JaegerTag => {
  if (!ADDRESS_KEYS.has(tag.key) || (tag.type !== 'int64' && tag.type !== 'float64')) return tag;
  const whole = tag.type === 'int64' ? BigInt(tag.value) : BigInt(Math.trunc(Number(tag.value)) || 0);
  const bits = Number(BigInt.asUintN(32, whole));
  const address = [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join('.');
  return { key: tag.key, type: 'string', value: address };
};

const isListOrMap = (value: ArchivedValue): boolean =>
  typeof value === 'object' && value !== null && !(value instanceof Uint8Array) && !(value instanceof ArchivedDouble);

const shownTag = (key: string, value: ArchivedValue): JaegerTag =>
  isListOrMap(value) ? { key, type: 'string', value: goJson(value) } : toTag(key, value);

const tagsOf = (properties: ArchivedProperties): JaegerTag[] =>
  Object.keys(properties).map((key) => shownTag(key, properties[key]));

const spanTags = ({ properties, scope, kind, status, traceState }: ArchivedSpan): JaegerTag[] => {
  const own = tagsOf(properties);
  return [
    ...textTag(Key.SCOPE_NAME, scope.name),
    ...textTag(Key.SCOPE_VERSION, scope.version),
    ...(keptWarnings(properties).length > 0 ? own.filter(({ key }) => key !== Key.WARNINGS) : own),
    ...textTag(Key.KIND, kind === 'unspecified' ? '' : kind),
    ...textTag(Key.STATUS_CODE, status.code === 'unset' ? '' : status.code.toUpperCase()),
    ...(status.code === 'error' ? [toTag(Key.ERROR, true)] : []),
    ...textTag(Key.STATUS_MESSAGE, status.message),
    ...textTag(Key.TRACE_STATE, traceState),
  ]
    .sort(byKey)
    .map(shownAddress);
};

const logOf = ({ name, timeUnixNs, properties }: ArchivedEvent): object => {
  const tags = tagsOf(properties);
  if (!Object.hasOwn(properties, Key.EVENT)) tags.unshift(...textTag(Key.EVENT, name));
  const isName = ({ key, type }: JaegerTag): boolean => key === Key.EVENT && type === 'string';
  const fields = [...tags.filter(isName), ...tags.filter((tag) => !isName(tag)).sort(byKey)];
  return { timestamp: microseconds(timeUnixNs), fields };
};

/** The name of the service of a resource, as it is shown. */
export const shownService = (properties: ArchivedProperties): string => {
  const name = propertyOf(properties, Key.SERVICE_NAME);
  if (name === undefined) return MISSING_SERVICE;
  if (typeof name !== 'string') return ODD_SERVICE;
  return name === '' ? EMPTY_SERVICE : name;
};

/** @param moved Tags of the span that are shown here. */
const processJson = (properties: ArchivedProperties, moved: readonly JaegerTag[]): string => {
  const own = tagsOf(properties).filter(({ key }) => key !== Key.SERVICE_NAME);
  const tags = [...own, ...moved].map(shownAddress).sort(byKey);
  return Key.tagJson({ serviceName: shownService(properties), tags });
};

/** One trace in pieces, one a span, so that a caller can pause. `spans` are of one trace. */
export const shownTrace = function* (traceId: string, spans: readonly ArchivedSpan[]): Generator<string> {
  const processes = new Key.Processes();
  const warnings = warningsOf(spans);
  yield `{"traceID":"${Key.shownTraceId(traceId)}","spans":[`;
  for (const [i, span] of spans.entries()) {
    const all = spanTags(span);
    const moved = all.filter(({ key }) => PROCESS_KEYS.has(key));
    const json = Key.tagJson({
      traceID: Key.shownTraceId(span.traceId),
      spanID: span.spanId,
      operationName: span.name,
      references: referencesOf(span),
      startTime: microseconds(span.startUnixNs),
      duration: microseconds(span.endUnixNs - span.startUnixNs),
      tags: moved.length === 0 ? all : all.filter((tag) => !moved.includes(tag)),
      logs: span.events.map(logOf),
      processID: processes.idOf(processJson(span.resource.properties, moved)),
      warnings: warnings.get(span) ?? null,
    });
    yield (i === 0 ? '' : ',') + json;
  }
  yield `],"processes":{${processes.json}},"warnings":null}`;
};
