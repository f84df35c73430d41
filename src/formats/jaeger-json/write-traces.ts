// Traces as the document that Jaeger's UI reads from a file.
import type { ArchivedSpan } from '../../record/archived-span.js';
import { ObjectView } from '../../record/object-view.js';
import { propertyOf } from '../../record/properties.js';
import { Processes, shownTraceId, TRACE_WARNINGS, warningsIn } from './keys.js';
import { processJson, spanJson } from './write-span.js';

/** One trace in pieces, one a span, so that a caller can pause. `spans` are of one trace. */
export const jaegerTrace = function* (traceId: string, spans: readonly ArchivedSpan[]): Generator<string> {
  const processes = new Processes();
  const view = new ObjectView();
  yield `{"traceID":"${shownTraceId(traceId)}","spans":[`;
  for (const [i, span] of spans.entries())
    yield (i === 0 ? '' : ',') + spanJson(view.of(span), processes.idOf(processJson(span.resource)));
  const warnings = spans.flatMap(({ properties }) => warningsIn(propertyOf(properties, TRACE_WARNINGS)));
  yield `],"processes":{${processes.json}},"warnings":${warnings.length === 0 ? 'null' : JSON.stringify(warnings)}}`;
};

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
