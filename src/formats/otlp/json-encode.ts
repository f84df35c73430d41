// Archived spans as OTLP/JSON, in pieces: what decodes it gets back what went in. No line breaks, so that a document is one line of a file.

import { ArchivedDouble } from '../../trace/archived-double.js';
import type {
  ArchivedEvent,
  ArchivedLink,
  ArchivedProperties,
  ArchivedResource,
  ArchivedScope,
  ArchivedSpan,
  ArchivedValue,
} from '../../trace/archived-span.js';
import { type Extras, extrasOf } from '../../trace/extras.js';
import { KINDS, STATUS_CODES } from './kinds.js';
import { isInt64 } from './protobuf-writer.js';

const numberValue = (value: number): object => {
  if (Number.isSafeInteger(value) && !Object.is(value, -0)) return { intValue: String(value) };
  // JSON has neither NaN nor Infinity, and minus zero would lose its sign.
  const hasNumber = Number.isFinite(value) && value !== 0;
  return { doubleValue: hasNumber ? value : Object.is(value, -0) ? '-0' : String(value) };
};

const anyValue = (value: ArchivedValue): object => {
  switch (typeof value) {
    case 'string':
      return { stringValue: value };
    case 'number':
      return numberValue(value);
    case 'boolean':
      return { boolValue: value };
    case 'bigint':
      // OTLP has no place for more than 64 bits; digits are better than a rounded number.
      return isInt64(value) ? { intValue: String(value) } : { stringValue: String(value) };
    default:
      if (value === null) return {};
      if (value instanceof ArchivedDouble) return { doubleValue: value.value };
      if (value instanceof Uint8Array) return { bytesValue: Buffer.from(value).toString('base64') };
      if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } };
      return { kvlistValue: { values: pairs(value as ArchivedProperties) } };
  }
};

const pairs = (properties: ArchivedProperties): object[] =>
  Object.keys(properties).map((key) => ({ key, value: anyValue(properties[key]) }));

/** `attributes`, counts and flags; members without content are left out. A schema URL stands outside of what it describes. */
const attributes = (thing: Extras & { readonly properties: ArchivedProperties }): object => {
  const list = pairs(thing.properties);
  const { schemaUrl, ...counts } = extrasOf(thing);
  return list.length === 0 ? counts : { attributes: list, ...counts };
};

const schemaUrl = ({ schemaUrl = '' }: Extras): string =>
  schemaUrl === '' ? '' : `,"schemaUrl":${JSON.stringify(schemaUrl)}`;

const event = (of: ArchivedEvent): object => ({
  timeUnixNano: String(of.timeUnixNs),
  name: of.name,
  ...attributes(of),
});

const link = (of: ArchivedLink): object => ({
  traceId: of.traceId,
  spanId: of.spanId,
  ...(of.traceState === '' ? undefined : { traceState: of.traceState }),
  ...attributes(of),
});

const status = ({ code, message }: ArchivedSpan['status']): object => ({
  ...(message === '' ? undefined : { message }),
  ...(code === 'unset' ? undefined : { code: STATUS_CODES.indexOf(code) }),
});

const spanJson = (span: ArchivedSpan): string =>
  JSON.stringify({
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.traceState === '' ? undefined : { traceState: span.traceState }),
    ...(span.parentSpanId === '' ? undefined : { parentSpanId: span.parentSpanId }),
    name: span.name,
    kind: KINDS.indexOf(span.kind),
    startTimeUnixNano: String(span.startUnixNs),
    endTimeUnixNano: String(span.endUnixNs),
    ...attributes(span),
    ...(span.events.length === 0 ? undefined : { events: span.events.map(event) }),
    ...(span.links.length === 0 ? undefined : { links: span.links.map(link) }),
    status: status(span.status),
  });

const scopeJson = (scope: ArchivedScope): string =>
  JSON.stringify({
    ...(scope.name === '' ? undefined : { name: scope.name }),
    ...(scope.version === '' ? undefined : { version: scope.version }),
    ...attributes(scope),
  });

type ByScope = Map<ArchivedScope, ArchivedSpan[]>;

const group = (spans: readonly ArchivedSpan[]): Map<ArchivedResource, ByScope> => {
  const byResource = new Map<ArchivedResource, ByScope>();
  for (const span of spans) {
    const byScope: ByScope = byResource.get(span.resource) ?? new Map();
    byResource.set(span.resource, byScope);
    const some = byScope.get(span.scope);
    if (some === undefined) byScope.set(span.scope, [span]);
    else some.push(span);
  }
  return byResource;
};

/** The elements of `resourceSpans` with commas between them, in pieces: one a span, so that a caller can pause. */
export const otlpResourceSpans = function* (spans: readonly ArchivedSpan[]): Generator<string> {
  let isFirstResource = true;
  for (const [resource, byScope] of group(spans)) {
    yield `${isFirstResource ? '' : ','}{"resource":${JSON.stringify(attributes(resource))},"scopeSpans":[`;
    isFirstResource = false;
    let isFirstScope = true;
    for (const [scope, some] of byScope) {
      yield `${isFirstScope ? '' : ','}{"scope":${scopeJson(scope)},"spans":[`;
      isFirstScope = false;
      for (let i = 0; i < some.length; i++) yield (i === 0 ? '' : ',') + spanJson(some[i]);
      yield `]${schemaUrl(scope)}}`;
    }
    yield `]${schemaUrl(resource)}}`;
  }
};

/**
 * Spans as one OTLP/JSON document (`TracesData`) without line breaks. Use it to write files of one document a line, which other OpenTelemetry
 * tools read too. Spans of one resource and scope object stand together. Integers beyond 64 bits become text, which OTLP has no number for.
 * Source of the format: opentelemetry-proto, OTLP/JSON.
 *
 * @example
 * ```ts
 * import { decodeOtlpJson, encodeOtlpJson } from 'spanline/archive';
 * const line = encodeOtlpJson([]);
 * console.assert(decodeOtlpJson(Buffer.from(line)).spans.length === 0);
 * ```
 */
export const encodeOtlpJson = (spans: readonly ArchivedSpan[]): string =>
  `{"resourceSpans":[${[...otlpResourceSpans(spans)].join('')}]}`;
