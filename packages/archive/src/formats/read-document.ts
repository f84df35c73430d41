// A document of traces in one of the forms that are read, told by what it holds: OTLP/JSON by itself or in the answers of Jaeger's API version 3 and of
// Tempo, Jaeger's JSON, Zipkin's. What holds none of them is refused with what it is: a document must never count as read when nothing of it was.
import { DecodeContext, type DecodedTraces, type DecodeLimits, type KnownParts } from './decode-context.js';
import { readJaeger } from './jaeger-json/read-traces.js';
import { type JsonObject, listOf, textOf, toObject } from './json-fields.js';
import { readOtlp } from './otlp/read-json.js';
import { parseJson } from './parse-json.js';
import { readZipkin } from './read-zipkin.js';
import { malformed } from './trace-format-error.js';

export const READ_FORMATS = ['otlp', 'jaeger', 'zipkin'] as const;
export type ReadFormat = (typeof READ_FORMATS)[number];

/** What the members of a document that is none say it is. */
const OTHERS: readonly (readonly [member: string, what: string])[] = [
  ['resourceMetrics', 'it holds metrics, no traces'],
  ['resourceLogs', 'it holds logs, no traces'],
  ['resourceProfiles', 'it holds profiles, no traces'],
  ['resource_spans', 'OTLP/JSON has lowerCamelCase names: "resourceSpans", not "resource_spans"'],
  ['traceEvents', 'it is a trace of Chrome'],
  ['ph', 'it is a trace of Chrome'],
  ['binaryAnnotations', "it is of Zipkin's API version 1: ask for version 2"],
  ['spanID', 'they are spans of Jaeger without their processes: save the trace that they are of'],
];

const EXPECTED =
  'expected "resourceSpans" (OTLP), "data" or "spans" (Jaeger), or a list of Zipkin spans with "traceId" and "id"';

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const unknown = (value: unknown): Error => {
  const other = isObject(value) ? OTHERS.find(([member]) => member in value) : undefined;
  return malformed(`no document of traces: ${other?.[1] ?? EXPECTED}`);
};

const isZipkinSpan = (value: unknown): boolean =>
  isObject(value) && 'traceId' in value && 'id' in value && !('binaryAnnotations' in value);

/** Tempo writes ids as protobuf's own JSON has bytes. */
const BASE64_DIGITS: Readonly<Record<number, number>> = { 24: 32, 12: 16 };

const withHexId = (holder: JsonObject, key: string): JsonObject => {
  const id = holder[key];
  if (typeof id !== 'string' || BASE64_DIGITS[id.length] === undefined || !id.endsWith('=')) return holder;
  const hex = Buffer.from(id, 'base64').toString('hex');
  return hex.length === BASE64_DIGITS[id.length] ? { ...holder, [key]: hex } : holder;
};

const withHexIds = (raw: unknown): unknown => {
  if (!isObject(raw)) return raw;
  const span = ['traceId', 'spanId', 'parentSpanId'].reduce(withHexId, raw);
  if (!Array.isArray(span.links)) return span;
  const links = span.links.map((link) => (isObject(link) ? ['traceId', 'spanId'].reduce(withHexId, link) : link));
  return { ...span, links };
};

/** Before OTLP 1.0 a scope had another name. */
const OLD_SCOPES = 'instrumentationLibrarySpans';

/** The scopes of an element of `resourceSpans`, which may have their old name; its spans may have ids as Tempo writes them. */
const scopesOf = (holder: JsonObject, isTempo: boolean): readonly unknown[] => {
  const old = listOf(holder, OLD_SCOPES).map((raw) => {
    const scope = toObject(raw, `an element of ${OLD_SCOPES}`);
    return { ...scope, scope: scope.instrumentationLibrary };
  });
  const scopes = [...listOf(holder, 'scopeSpans'), ...old];
  if (scopes.length === 0 && 'scope_spans' in holder)
    throw malformed('OTLP/JSON has lowerCamelCase names: "scopeSpans", not "scope_spans"');
  if (!isTempo) return scopes;
  return scopes.map((raw) => {
    const scope = toObject(raw, 'an element of scopeSpans');
    return { ...scope, spans: listOf(scope, 'spans').map(withHexIds) };
  });
};

const currentForm = (list: readonly unknown[], isTempo: boolean): JsonObject => ({
  resourceSpans: list.map((raw) => {
    const holder = toObject(raw, 'an element of resourceSpans');
    return { ...holder, scopeSpans: scopesOf(holder, isTempo) };
  }),
});

/** The OTLP in a document, whatever it is wrapped in; undefined for a document without. */
const otlpIn = (document: JsonObject, isTempo = false): JsonObject | undefined => {
  if ('resourceSpans' in document) return currentForm(listOf(document, 'resourceSpans'), isTempo);
  if ('batches' in document) return currentForm(listOf(document, 'batches'), true);
  if (isObject(document.trace)) return otlpIn(document.trace, true);
  if (isObject(document.result)) return otlpIn(document.result);
  const error = isObject(document.error) ? document.error : undefined;
  if (error !== undefined) throw malformed(`the answer is an error: ${textOf(error, 'message')}`);
  return undefined;
};

/** The traces of a list: of Jaeger or of Zipkin. */
const readList = (list: readonly unknown[], context: DecodeContext): void => {
  const first: unknown = list.flat(1)[0];
  if (isZipkinSpan(first)) readZipkin(list, context);
  else if (isObject(first) && 'spans' in first) readJaeger(list, context);
  // An answer that found nothing.
  else if (first !== undefined) throw unknown(first);
};

const readAny = (document: unknown, context: DecodeContext, known: KnownParts): void => {
  if (Array.isArray(document)) {
    readList(document, context);
    return;
  }
  if (!isObject(document)) throw unknown(document);
  const otlp = otlpIn(document);
  if (otlp !== undefined) readOtlp(otlp, context, known);
  else if ('data' in document || 'spans' in document) readJaeger(document, context);
  else if (isZipkinSpan(document)) readZipkin([document], context);
  else throw unknown(document);
};

/** The spans of a document of `format`, or of the one that its content tells. Throws a `TraceFormatError` for what is none. */
export const readTraceDocument = (
  bytes: Uint8Array,
  format: ReadFormat | undefined,
  limits: DecodeLimits,
  known: KnownParts,
): DecodedTraces => {
  const document = parseJson(bytes, limits);
  const context = new DecodeContext(limits);
  if (format === undefined) readAny(document, context, known);
  else if (format === 'jaeger') readJaeger(document, context);
  else if (format === 'zipkin') readZipkin(isZipkinSpan(document) ? [document] : document, context);
  else {
    const otlp = isObject(document) ? otlpIn(document) : undefined;
    if (otlp === undefined) throw unknown(document);
    readOtlp(otlp, context, known);
  }
  return context.done();
};
