// Spans of an archive as whole documents of text, for those who do not write them in pieces.
import { jaegerTrace, otlpResourceSpans } from 'spanline/internal/formats';
import type { ArchivedSpan } from 'spanline/internal/record';

/**
 * Spans as one OTLP/JSON document (`TracesData`) without line breaks. Use it to write files of one document a line, which other OpenTelemetry
 * tools read too. Spans of one resource and scope object stand together. Integers beyond 64 bits become text, which OTLP has no number for.
 * Source of the format: opentelemetry-proto, OTLP/JSON.
 *
 * @example
 * ```ts
 * import { decodeOtlpJson, encodeOtlpJson } from '@spanline/archive';
 * const line = encodeOtlpJson([]);
 * console.assert(decodeOtlpJson(Buffer.from(line)).spans.length === 0);
 * ```
 */
export const encodeOtlpJson = (spans: readonly ArchivedSpan[]): string =>
  `{"resourceSpans":[${[...otlpResourceSpans(spans)].join('')}]}`;

/**
 * Traces as the JSON document that Jaeger's UI reads from a file. Use it to look at archived traces in a
 * Jaeger UI that is not connected to the archive. Times are microseconds there; nanoseconds are kept in
 * tags. What came from an answer of Jaeger is that answer again. Source of the format:
 * jaegertracing/jaeger, internal/uimodel.
 *
 * @example
 * ```ts
 * import { decodeJaegerJson, encodeJaegerJson } from '@spanline/archive';
 * const text = encodeJaegerJson(new Map());
 * console.assert(decodeJaegerJson(Buffer.from(text)).spans.length === 0);
 * ```
 */
export const encodeJaegerJson = (traces: ReadonlyMap<string, readonly ArchivedSpan[]>): string => {
  const data = [...traces].map(([traceId, spans]) => [...jaegerTrace(traceId, spans)].join(''));
  return `{"data":[${data.join(',')}],"total":0,"limit":0,"offset":0,"errors":null}`;
};
