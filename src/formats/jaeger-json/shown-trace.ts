// Traces field for field as a Jaeger 2 answers with them in its older query API. What has no field there is left out, as it is there: nothing
// of ours is added, so this is not a form to keep traces in.
import { ArchivedDouble } from '../../record/archived-double.js';
import type { ArchivedEvent, ArchivedProperties, ArchivedSpan, ArchivedValue } from '../../record/archived-span.js';
import { goJson, propertyOf } from '../../record/properties.js';
import * as Key from './keys.js';
import { byKey, Processes, shownTraceId, tagJson, textTag } from './keys.js';
import { referencesOf } from './references.js';
import { keptWarnings, WARNINGS_KEY, warningsOf } from './span-warnings.js';
import { type JaegerTag, toTag } from './tags.js';

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
    ...(keptWarnings(properties).length > 0 ? own.filter(({ key }) => key !== WARNINGS_KEY) : own),
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
  return tagJson({ serviceName: shownService(properties), tags });
};

/** One trace in pieces, one a span, so that a caller can pause. `spans` are of one trace. */
export const shownTrace = function* (traceId: string, spans: readonly ArchivedSpan[]): Generator<string> {
  const processes = new Processes();
  const warnings = warningsOf(spans);
  yield `{"traceID":"${shownTraceId(traceId)}","spans":[`;
  for (const [i, span] of spans.entries()) {
    const all = spanTags(span);
    const moved = all.filter(({ key }) => PROCESS_KEYS.has(key));
    const json = tagJson({
      traceID: shownTraceId(span.traceId),
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
