// The files traces are exported to: OTLP/JSON, a document a line, which other OpenTelemetry tools read too, and the JSON document of Jaeger's UI.
import { JAEGER_DOCUMENT, OTLP_LINES, type TraceDocument } from 'spanline/internal/formats';

export const TRACE_FORMATS = ['otlp', 'jaeger'] as const;
export type TraceFormat = (typeof TRACE_FORMATS)[number];

/** How a file is written, by format. */
export const WRITINGS: Readonly<Record<TraceFormat, TraceDocument>> = { otlp: OTLP_LINES, jaeger: JAEGER_DOCUMENT };
