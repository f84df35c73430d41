// Jaeger's query API of version 3 over HTTP: traces as OTLP/JSON. What Jaeger answers with, in form and status.

import { getOrMake } from 'spanline/internal/base';
import { otlpResourceSpans } from 'spanline/internal/formats';
import type { ArchivedSpan } from 'spanline/internal/record';
import { shownService } from '../formats/jaeger-json/shown-trace.js';
import type { TraceSummary } from '../trace-search.js';
import type { Operation } from '../trace-source.js';
import { JsonStream, sendJson } from './answer.js';
import { HttpError } from './http-error.js';
import { type ArchiveReader, type LoadedTrace, loadTraces, type SeenDamage } from './ports.js';
import { pick, required, traceIdOf } from './query-values.js';
import { type Call, queryRoute, type Route } from './request-handler.js';
import { v3Search, v3SearchInTime } from './search-parameters.js';

/** Beside an answer that is not of everything, in the form of errors here. */
const errorOf = ({ messages }: SeenDamage) =>
  messages.length === 0 ? {} : { error: { httpCode: 500, message: messages.join('; ') } };

/** The same, to be put behind other members. */
const errorMember = (damage: SeenDamage): string => {
  const text = JSON.stringify(errorOf(damage)).slice(1, -1);
  return text === '' ? '' : `,${text}`;
};

const streamTraces = async ({ response, signal, damage }: Call, traces: AsyncIterable<LoadedTrace>): Promise<void> => {
  const stream = new JsonStream(response, signal);
  let count = 0;
  for await (const [, spans] of traces) {
    await stream.write(count++ === 0 ? '{"result":{"resourceSpans":[' : ',');
    for (const piece of otlpResourceSpans(spans)) await stream.write(asJaegerWrites(piece));
  }
  // They may be in what cannot be read.
  damage.checkNothing(count);
  if (count === 0) throw new HttpError(404, 'No traces found');
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
    const counts = getOrMake(services, of, (name) => ({ name, spanCount: 0, errorSpanCount: 0 }));
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

/** The endpoints. */
export const v3Routes = (archive: ArchiveReader, maxTraces: number): Route[] => [
  queryRoute('/api/v3/services', async ({ response, damage }) => {
    const services = await archive.services(damage.options);
    damage.checkNothing(services.length);
    sendJson(response, 200, { services, ...errorOf(damage) });
  }),
  queryRoute('/api/v3/operations', async ({ query, response, damage }) => {
    const service = required(query, 'service');
    const kind = pick(query, 'spanKind', 'span_kind')?.[1].toLowerCase();
    const operations = await archive.operations(service, damage.options);
    const wanted = operations.filter((operation) => isOfKind(operation, kind));
    damage.checkNothing(wanted.length);
    sendJson(response, 200, { operations: wanted.map(shownOperation), ...errorOf(damage) });
  }),
  queryRoute('/api/v3/traces', async (call) => {
    const { query, damage } = call;
    const found = await archive.search(v3SearchInTime(query, maxTraces), damage.options);
    await streamTraces(call, loadTraces(archive, found, damage.options));
  }),
  queryRoute('/api/v3/traces/*', async (call) => {
    const traceId = traceIdOf('trace_id', call.parts[0]);
    await streamTraces(call, loadTraces(archive, [{ traceId, bytes: 0 }], call.damage.options));
  }),
  queryRoute('/api/v3/trace-summaries', async ({ query, response, signal, damage }) => {
    const found = await archive.search(v3Search(query, maxTraces), damage.options);
    damage.checkNothing(found.length);
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
