// Jaeger's query API of version 3 over HTTP: traces as OTLP/JSON. What Jaeger answers with, in form and status.

import { shownService } from '../../formats/jaeger-json/shown-trace.js';
import { otlpResourceSpans } from '../../formats/otlp/write-json.js';
import type { ArchivedSpan, TraceSummary } from '../../trace/archived-span.js';
import { JsonStream, sendJson } from './answer.js';
import { HttpError } from './http-error.js';
import { loadTraces } from './load-traces.js';
import type { ArchiveReader, Operation } from './ports.js';
import { pick, traceIdOf } from './query-values.js';
import type { Call, Route } from './route.js';
import { v3Search, v3SearchInTime } from './search-parameters.js';
import { SeenDamage } from './seen-damage.js';

const noTraces = (): HttpError => new HttpError(404, 'No traces found');

/** Beside an answer that is not of everything, in the form of errors here. */
const errorOf = ({ messages }: SeenDamage) =>
  messages.length === 0 ? {} : { error: { httpCode: 500, message: messages.join('; ') } };

/** The same, to be put behind other members. */
const errorMember = (damage: SeenDamage): string => {
  const text = JSON.stringify(errorOf(damage)).slice(1, -1);
  return text === '' ? '' : `,${text}`;
};

const streamTraces = async (
  { response, signal }: Call,
  traces: AsyncIterable<readonly [string, readonly ArchivedSpan[]]>,
  damage: SeenDamage,
): Promise<void> => {
  const stream = new JsonStream(response, signal);
  let count = 0;
  for await (const [, spans] of traces) {
    await stream.write(count++ === 0 ? '{"result":{"resourceSpans":[' : ',');
    for (const piece of otlpResourceSpans(spans)) await stream.write(asJaegerWrites(piece));
  }
  if (count === 0) {
    // They may be in what cannot be read.
    damage.mustBeNone();
    throw noTraces();
  }
  await stream.write(`]}${errorMember(damage)}}\n`);
  await stream.end();
};

/** Jaeger leaves out a kind that is not known; who asks for "internal" gets it too. */
const shownOperation = ({ name, kind }: Operation) => (kind === 'unspecified' ? { name } : { name, spanKind: kind });
const isOfKind = ({ kind }: Operation, wanted: string | undefined): boolean =>
  wanted === undefined || kind === wanted || (kind === 'unspecified' && wanted === 'internal');

/** What protobuf's JSON leaves out, and minus zero as a number. No text can hold the patterns: its quotes are escaped. */
const asJaegerWrites = (json: string): string =>
  json
    .replace('"kind":0,"startTimeUnixNano"', '"startTimeUnixNano"')
    .replaceAll('"doubleValue":"-0"', '"doubleValue":-0');

/** What a list of results shows of a trace. */
const summaryJson = (
  { traceId, name, service, startUnixNs, durationNs }: TraceSummary,
  spans: readonly ArchivedSpan[],
) => {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const services = new Map<string, { name: string; spanCount: number; errorSpanCount: number }>();
  let orphanSpanCount = 0;
  let errorSpanCount = 0;
  for (const span of spans) {
    const of = shownService(span.resource.properties);
    const counts = services.get(of) ?? { name: of, spanCount: 0, errorSpanCount: 0 };
    services.set(of, counts);
    counts.spanCount++;
    if (span.status.code === 'error') {
      counts.errorSpanCount++;
      errorSpanCount++;
    }
    if (span.parentSpanId !== '' && !ids.has(span.parentSpanId)) orphanSpanCount++;
  }
  return {
    traceId,
    rootServiceName: service,
    rootOperationName: name,
    minStartTimeUnixNano: String(startUnixNs),
    maxEndTimeUnixNano: String(startUnixNs + durationNs),
    spanCount: spans.length,
    errorSpanCount,
    orphanSpanCount,
    services: [...services.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
};

const get = (path: string, handle: Route['handle']): Route => ({
  method: 'GET',
  path: path.split('/').slice(1),
  errors: 'v3',
  isQuery: true,
  handle,
});

/** The endpoints. */
export const v3Routes = (archive: ArchiveReader, maxTraces: number): Route[] => [
  get('/api/v3/services', async ({ response, signal }) => {
    const damage = new SeenDamage(signal);
    const services = await archive.services(damage.options);
    if (services.length === 0) damage.mustBeNone();
    sendJson(response, 200, { services, ...errorOf(damage) });
  }),
  get('/api/v3/operations', async ({ query, response, signal }) => {
    const service = query.get('service') ?? '';
    if (service === '') throw new HttpError(400, 'the parameter service is required');
    const kind = pick(query, 'spanKind', 'span_kind')?.[1].toLowerCase();
    const damage = new SeenDamage(signal);
    const { options } = damage;
    const operations = await archive.operations(service, options);
    const wanted = operations.filter((operation) => isOfKind(operation, kind));
    if (wanted.length === 0) damage.mustBeNone();
    sendJson(response, 200, { operations: wanted.map(shownOperation), ...errorOf(damage) });
  }),
  get('/api/v3/traces', async (call) => {
    const { query, signal } = call;
    const damage = new SeenDamage(signal);
    const { options } = damage;
    const search = v3SearchInTime(query, maxTraces);
    const found = await archive.search(search, options);
    await streamTraces(call, loadTraces(archive, found, options), damage);
  }),
  get('/api/v3/traces/*', async (call) => {
    const traceId = traceIdOf('trace_id', call.parts[0]);
    const damage = new SeenDamage(call.signal);
    await streamTraces(call, loadTraces(archive, [{ traceId, bytes: 0 }], damage.options), damage);
  }),
  get('/api/v3/trace-summaries', async ({ query, response, signal }) => {
    const damage = new SeenDamage(signal);
    const search = v3Search(query, maxTraces);
    const found = await archive.search(search, damage.options);
    if (found.length === 0) damage.mustBeNone();
    const byId = new Map(found.map((summary) => [summary.traceId, summary]));
    const stream = new JsonStream(response, signal);
    await stream.write('{"summaries":[');
    let isFirst = true;
    for await (const [traceId, spans] of loadTraces(archive, found, damage.options)) {
      const summary = summaryJson(byId.get(traceId) as TraceSummary, spans);
      await stream.write((isFirst ? '' : ',') + JSON.stringify(summary));
      isFirst = false;
    }
    await stream.write(`]${errorMember(damage)}}\n`);
    await stream.end();
  }),
];
