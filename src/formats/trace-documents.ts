// Traces as documents of text: what stands before, between and behind them. Whoever writes one must write all four.
import type { ArchivedSpan } from '../trace/archived-span.js';
import { jaegerTrace } from './jaeger-json/write-traces.js';
import { otlpResourceSpans } from './otlp/write-json.js';

export interface TraceDocument {
  readonly head: string;
  readonly between: string;
  readonly tail: string;
  trace(traceId: string, spans: readonly ArchivedSpan[]): Iterable<string>;
}

/** OTLP/JSON, a document a line for each trace. */
export const OTLP_LINES: TraceDocument = {
  head: '',
  between: '',
  tail: '',
  *trace(_traceId, spans) {
    yield '{"resourceSpans":[';
    yield* otlpResourceSpans(spans);
    yield ']}\n';
  },
};

/** One OTLP/JSON document. */
export const OTLP_DOCUMENT: TraceDocument = {
  head: '{"resourceSpans":[',
  between: ',',
  tail: ']}\n',
  trace: (_traceId, spans) => otlpResourceSpans(spans),
};

/** One document as Jaeger's UI uploads it. */
export const JAEGER_DOCUMENT: TraceDocument = {
  head: '{"data":[',
  between: ',',
  tail: '],"total":0,"limit":0,"offset":0,"errors":null}\n',
  trace: jaegerTrace,
};
