// Jaeger's older query API, as its UI and Grafana's data source ask it: traces in the form of the UI, everything in one envelope. Which services call
// which is counted from the spans of a stretch of time whenever somebody asks, as nothing of it is kept.
import { getOrMake, timers } from 'spanline/internal/base';
import { jaegerKeys } from 'spanline/internal/formats';
import type { ArchivedSpan } from 'spanline/internal/record';
import { shownService, shownTrace } from '../formats/jaeger-json/shown-trace.js';
import type { Operation } from '../trace-source.js';
import { JsonStream, sendJson } from './answer.js';
import { HttpError } from './http-error.js';
import { type ArchiveReader, type LoadedTrace, loadTraces, type ReadOptions, type SeenDamage } from './ports.js';
import { millisecondsNs, pick, required, traceIdOf } from './query-values.js';
import { type Call, queryRoute, type Route } from './request-handler.js';
import { v1Search } from './search-parameters.js';

/** Traces looked at, the newest; as many as one search gives. */
const MAX_TRACES = 100_000;

/** Spans of one service whose parents are of another, or of the same. */
interface Dependency {
  readonly parent: string;
  readonly child: string;
  readonly callCount: number;
}

const nameOf = ({ resource }: ArchivedSpan): string => shownService(resource.properties);

/** The calls in all traces that begin and end within the time, both in Unix nanoseconds. */
const dependenciesOf = async (
  archive: ArchiveReader,
  fromUnixNs: bigint,
  toUnixNs: bigint,
  options: ReadOptions,
): Promise<Dependency[]> => {
  const counts = new Map<string, Map<string, number>>();
  if (toUnixNs < 0n || toUnixNs < fromUnixNs) return [];
  const found = await archive.search({ fromUnixNs, toUnixNs, limit: MAX_TRACES }, options);
  const inside = found.filter(
    ({ startUnixNs, durationNs }) => startUnixNs > fromUnixNs && startUnixNs + durationNs < toUnixNs,
  );
  for await (const [, spans] of loadTraces(archive, inside, options)) {
    const names = new Map(spans.map((span) => [span.spanId, nameOf(span)]));
    for (const span of spans) {
      const parent = span.parentSpanId === '' ? undefined : names.get(span.parentSpanId);
      if (parent === undefined) continue;
      const children = getOrMake(counts, parent, () => new Map<string, number>());
      children.set(nameOf(span), (children.get(nameOf(span)) ?? 0) + 1);
    }
  }
  return [...counts].flatMap(([parent, children]) =>
    [...children].map(([child, callCount]) => ({ parent, child, callCount })),
  );
};

const NOT_FOUND = 'trace not found';

/** A day. */
const DEFAULT_LOOKBACK_MS = '86400000';

/** The UI shows `errors`, with the data beside them. */
const damageErrors = ({ messages }: SeenDamage) => messages.map((msg) => ({ code: 500, msg }));

const envelope = (data: readonly unknown[], damage: SeenDamage) => {
  damage.checkNothing(data.length);
  const errors = damageErrors(damage);
  return { data, total: data.length, limit: 0, offset: 0, errors: errors.length === 0 ? null : errors };
};

/** Jaeger leaves a kind that is not known empty here. */
const shownKind = ({ kind }: Operation): string => (kind === 'unspecified' ? '' : kind);

/** @param wanted Ids asked for: those that are not there are named as errors. */
const streamTraces = async (
  { response, signal, damage }: Call,
  traces: Iterable<LoadedTrace> | AsyncIterable<LoadedTrace>,
  wanted: readonly string[] = [],
): Promise<void> => {
  const stream = new JsonStream(response, signal);
  const missing = new Set(wanted);
  let count = 0;
  for await (const [traceId, spans] of traces) {
    await stream.write(count++ === 0 ? '{"data":[' : ',');
    missing.delete(traceId);
    for (const piece of shownTrace(traceId, spans)) await stream.write(piece);
  }
  damage.checkNothing(count);
  if (count === 0) await stream.write('{"data":[');
  const absent = [...missing].map((id) => ({ msg: NOT_FOUND, traceID: jaegerKeys.shownTraceId(id) }));
  const errors = [...absent, ...damageErrors(damage)];
  const shown = errors.length === 0 ? null : errors;
  await stream.write(`],"total":0,"limit":0,"offset":0,"errors":${JSON.stringify(shown)}}\n`);
  await stream.end();
};

/** Traces whose size is not known are read few at a time. */
const UNKNOWN_BYTES = 1024 * 1024;

/** The endpoints. */
export const v1Routes = (archive: ArchiveReader, maxTraces: number): Route[] => [
  queryRoute('/api/services', async ({ response, damage }) => {
    sendJson(response, 200, envelope(await archive.services(damage.options), damage));
  }),
  queryRoute('/api/services/*/operations', async ({ parts: [service], response, damage }) => {
    const operations = await archive.operations(service, damage.options);
    sendJson(response, 200, envelope([...new Set(operations.map(({ name }) => name))], damage));
  }),
  queryRoute('/api/operations', async ({ query, response, damage }) => {
    const service = required(query, 'service');
    const kind = pick(query, 'spanKind')?.[1].toLowerCase();
    const operations = await archive.operations(service, damage.options);
    const data = operations
      .map((operation) => ({ name: operation.name, spanKind: shownKind(operation) }))
      .filter(({ spanKind }) => kind === undefined || spanKind === kind);
    sendJson(response, 200, envelope(data, damage));
  }),
  queryRoute('/api/traces', async (call) => {
    const { query, damage } = call;
    const ids = [...new Set(query.getAll('traceID').map((id) => traceIdOf('traceID', id)))];
    if (ids.length > maxTraces) throw new HttpError(400, `no more than ${maxTraces} traces can be asked for at a time`);
    const found =
      ids.length > 0
        ? ids.map((traceId) => ({ traceId, bytes: UNKNOWN_BYTES }))
        : await archive.search(v1Search(query, maxTraces), damage.options);
    return streamTraces(call, loadTraces(archive, found, damage.options), ids);
  }),
  queryRoute('/api/dependencies', async ({ query, response, damage }) => {
    const toUnixNs = millisecondsNs(pick(query, 'endTs') ?? ['endTs', String(timers.wallMs())]);
    const lookbackNs = millisecondsNs(pick(query, 'lookback') ?? ['lookback', DEFAULT_LOOKBACK_MS]);
    const service = pick(query, 'service')?.[1];
    const all = await dependenciesOf(archive, toUnixNs - lookbackNs, toUnixNs, damage.options);
    const data = all.filter(({ parent, child }) => service === undefined || parent === service || child === service);
    sendJson(response, 200, { ...envelope(data, damage), total: 0 });
  }),
  queryRoute('/api/traces/*', async (call) => {
    const { parts, damage } = call;
    const traceId = traceIdOf('traceID', parts[0]);
    const spans = (await archive.traces([traceId], damage.options)).get(traceId) ?? [];
    // It may be in what cannot be read.
    damage.checkNothing(spans.length);
    if (spans.length === 0) throw new HttpError(404, NOT_FOUND);
    await streamTraces(call, [[traceId, spans]]);
  }),
];
