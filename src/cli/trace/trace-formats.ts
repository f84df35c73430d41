// The files traces are exported to and imported from: OTLP/JSON, a document a line, which other OpenTelemetry tools read too, and the JSON
// document of Jaeger's UI.
import type { DecodedTraces } from '../../formats/decode-context.js';
import { decodeJaegerJson } from '../../formats/jaeger-json/read-traces.js';
import { decodeOtlpJson } from '../../formats/otlp/read-json.js';
import type { KnownParts } from '../../formats/otlp/shared-parts.js';
import { JAEGER_DOCUMENT, OTLP_LINES, type TraceDocument } from '../../formats/trace-documents.js';

export const TRACE_FORMATS = ['otlp', 'jaeger'] as const;
export type TraceFormat = (typeof TRACE_FORMATS)[number];

/** How a file is written, by format. */
export const WRITINGS: Readonly<Record<TraceFormat, TraceDocument>> = { otlp: OTLP_LINES, jaeger: JAEGER_DOCUMENT };

/** What a person may import at a time is bounded by the memory of their machine, not by what a stranger may send. */
const LIMITS = { maxItems: 100_000_000 } as const;
const HEAD_BYTES = 64 * 1024;

/** The member every OTLP document has and no Jaeger document. */
const isOtlp = (document: Buffer): boolean =>
  /"resource_?[sS]pans"\s*:/.test(document.subarray(0, HEAD_BYTES).toString('latin1'));

/** The spans of a document; its format is told by its content where none is given. Throws a `TraceFormatError`. */
export const readDocument = (document: Buffer, format: TraceFormat | undefined, known: KnownParts): DecodedTraces =>
  format === 'otlp' || (format === undefined && isOtlp(document))
    ? decodeOtlpJson(document, LIMITS, known)
    : decodeJaegerJson(document, LIMITS);
