// Traces of Jaeger's UI as archived spans: files our exporters and `encodeJaegerJson` wrote come back whole, those of Jaeger's own server as
// OpenTelemetry's translation has them. One bad span does not cost the others.
import { getOrMake } from 'spanline/internal/base';
import { jaegerKeys } from 'spanline/internal/formats';
import { type ArchivedResource, PropertyDraft } from 'spanline/internal/record';
import { DecodeContext, type DecodedTraces, type DecodeLimits } from '../decode-context.js';
import { type JsonObject, listOf, objectOf, textOf, toObject, toText } from '../json-fields.js';
import { parseJson } from '../parse-json.js';
import { malformed } from '../trace-format-error.js';
import { readJaegerSpan, tagsOf } from './read-span.js';
import { takeExtras, withoutRepeated } from './read-tags.js';

const readProcess = (process: JsonObject, context: DecodeContext): ArchivedResource => {
  const properties = new PropertyDraft();
  const name = textOf(process, 'serviceName');
  if (name !== '') properties.set(jaegerKeys.SERVICE_NAME, name);
  const tags = tagsOf(process, 'tags', context);
  const extras = takeExtras(tags, jaegerKeys.RESOURCE_EXTRAS);
  for (const [key, value] of withoutRepeated(tags)) properties.set(key, value);
  return { properties: properties.done(), ...extras };
};

/** What an answer without traces says in their place. */
const errorsOf = (answer: JsonObject): string => {
  const errors = listOf(answer, 'errors').map((error) => textOf(toObject(error, 'an error'), 'msg'));
  return errors.length === 0 ? 'there is no "data" in the answer' : `the answer is an error: ${errors.join('; ')}`;
};

/** The traces of a document: an answer of a query API, a list of traces, or one trace. */
const tracesOf = (document: unknown): readonly unknown[] => {
  if (Array.isArray(document)) return document;
  const object = toObject(document, 'the document');
  if ('data' in object) {
    const traces = listOf(object, 'data');
    if (traces.length === 0 && (object.data === null || listOf(object, 'errors').length > 0))
      throw malformed(errorsOf(object));
    return traces;
  }
  if ('spans' in object) return [object];
  throw malformed('no Jaeger document: it has neither "data" nor "spans"');
};

const NOBODY: JsonObject = Object.freeze({});

const readTrace = (raw: unknown, context: DecodeContext): void => {
  const trace = toObject(raw, 'a trace');
  if (!Array.isArray(trace.spans)) throw malformed('a trace must have a list of "spans"');
  const processes = objectOf(trace, 'processes') ?? NOBODY;
  const resources = new Map<string, ArchivedResource>();
  const resourceOf = (span: JsonObject): ArchivedResource => {
    const own = objectOf(span, 'process');
    const id = textOf(span, 'processID');
    const name = own === undefined ? `id ${id}` : `own ${JSON.stringify(own)}`;
    return getOrMake(resources, name, () => {
      const process = own ?? (Object.hasOwn(processes, id) ? toObject(processes[id], 'a process') : NOBODY);
      return readProcess(process, context);
    });
  };
  let warnings: readonly string[] = listOf(trace, 'warnings').map((text) => toText(text, 'a warning'));
  for (const rawSpan of listOf(trace, 'spans')) {
    const taken = context.spans.length;
    try {
      const span = toObject(rawSpan, 'a span');
      readJaegerSpan(span, resourceOf(span), warnings, context);
      if (context.spans.length > taken) warnings = [];
    } catch (error) {
      context.refuse(error);
    }
  }
};

/** The spans of a parsed document: kept in the context, or refused there. A trace that is none counts as one; a document of no others is none. */
export const readJaeger = (document: unknown, context: DecodeContext): void => {
  let fault: unknown;
  for (const trace of tracesOf(document)) {
    try {
      readTrace(trace, context);
    } catch (error) {
      context.refuse(error);
      fault ??= error;
    }
  }
  if (fault !== undefined && context.spans.length === 0) throw fault;
};

/**
 * The spans of a JSON document of Jaeger's UI: `{"data":[...]}`, a list of traces, or one trace. Use it to import what was saved from a Jaeger
 * UI or API, or written by `JaegerReporter` and `FileReporter`. A span that cannot be kept is counted in `refused` and `reasons`. Spans of one
 * process have one and the same resource object. Throws {@link TraceFormatError} when the bytes are no such document or beyond a bound.
 *
 * @example
 * ```ts
 * import { decodeJaegerJson } from '@spanline/archive';
 * const { spans } = decodeJaegerJson(Buffer.from('{"data":[]}'));
 * console.assert(spans.length === 0);
 * ```
 */
export const decodeJaegerJson = (bytes: Uint8Array, limits?: DecodeLimits): DecodedTraces => {
  const context = new DecodeContext(limits);
  readJaeger(parseJson(bytes, limits), context);
  return context.done();
};
