// Jaeger's older query API, as its UI and Grafana's data source ask it: traces in the form of the UI, everything in one envelope.
import { shownTraceId } from '../../formats/jaeger-json/ids.js';
import { shownTrace } from '../../formats/jaeger-json/shown-trace.js';
import { JsonStream, sendJson } from './answer.js';
import { dependenciesOf } from './dependencies.js';
import { HttpError } from './http-error.js';
import { type LoadedTrace, loadTraces } from './load-traces.js';
import type { ArchiveReader, Operation } from './ports.js';
import { millisecondsNs, pick, traceIdOf } from './query-values.js';
import type { Call, Route } from './route.js';
import { v1Search } from './search-parameters.js';
import { SeenDamage } from './seen-damage.js';

const NOT_FOUND = 'trace not found';

/** A day. */
const DEFAULT_LOOKBACK_MS = '86400000';

/** The UI shows `errors`, with the data beside them. */
const damageErrors = ({ messages }: SeenDamage) => messages.map((msg) => ({ code: 500, msg }));

const envelope = (data: readonly unknown[], damage: SeenDamage) => {
  if (data.length === 0) damage.mustBeNone();
  const errors = damageErrors(damage);
  return { data, total: data.length, limit: 0, offset: 0, errors: errors.length === 0 ? null : errors };
};

/** Jaeger leaves a kind that is not known empty here. */
const shownKind = ({ kind }: Operation): string => (kind === 'unspecified' ? '' : kind);

/** @param wanted Ids asked for: those that are not there are named as errors. */
const streamTraces = async (
  { response, signal }: Call,
  traces: AsyncIterable<LoadedTrace>,
  damage: SeenDamage,
  wanted: readonly string[] = [],
): Promise<void> => {
  const stream = new JsonStream(response, signal);
  const missing = new Set(wanted);
  let count = 0;
  for await (const [traceId, spans] of traces) {
    await stream.write(count++ === 0 ? '{"data":[' : ',');
    missing.delete(traceId);
    await stream.writeAll(shownTrace(traceId, spans));
  }
  if (count === 0) {
    damage.mustBeNone();
    await stream.write('{"data":[');
  }
  const absent = [...missing].map((id) => ({ msg: NOT_FOUND, traceID: shownTraceId(id) }));
  const errors = [...absent, ...damageErrors(damage)];
  const shown = errors.length === 0 ? null : errors;
  await stream.write(`],"total":0,"limit":0,"offset":0,"errors":${JSON.stringify(shown)}}\n`);
  await stream.end();
};

/** Traces whose size is not known are read few at a time. */
const UNKNOWN_BYTES = 1024 * 1024;

const withIds = (ids: readonly string[]) => ids.map((traceId) => ({ traceId, bytes: UNKNOWN_BYTES }));

const get = (path: string, handle: Route['handle']): Route => ({
  method: 'GET',
  path: path.split('/').slice(1),
  errors: 'v1',
  isQuery: true,
  handle,
});

/** The endpoints. */
export const v1Routes = (archive: ArchiveReader, maxTraces: number): Route[] => [
  get('/api/services', async ({ response, signal }) => {
    const damage = new SeenDamage(signal);
    sendJson(response, 200, envelope(await archive.services(damage.options), damage));
  }),
  get('/api/services/*/operations', async ({ parts: [service], response, signal }) => {
    const damage = new SeenDamage(signal);
    const { options } = damage;
    const operations = await archive.operations(service, options);
    sendJson(response, 200, envelope([...new Set(operations.map(({ name }) => name))], damage));
  }),
  get('/api/operations', async ({ query, response, signal }) => {
    const service = query.get('service') ?? '';
    if (service === '') throw new HttpError(400, 'the parameter service is required');
    const kind = pick(query, 'spanKind')?.[1].toLowerCase();
    const damage = new SeenDamage(signal);
    const { options } = damage;
    const operations = await archive.operations(service, options);
    const wanted = operations.filter((operation) => kind === undefined || shownKind(operation) === kind);
    const data = wanted.map((operation) => ({ name: operation.name, spanKind: shownKind(operation) }));
    sendJson(response, 200, envelope(data, damage));
  }),
  get('/api/traces', async (call) => {
    const { query, signal } = call;
    const ids = new Set(query.getAll('traceID').map((id) => traceIdOf('traceID', id)));
    if (ids.size > maxTraces) throw new HttpError(400, `no more than ${maxTraces} traces can be asked for at a time`);
    const damage = new SeenDamage(signal);
    const { options } = damage;
    if (ids.size > 0) return streamTraces(call, loadTraces(archive, withIds([...ids]), options), damage, [...ids]);
    const search = v1Search(query, maxTraces);
    const found = await archive.search(search, options);
    return streamTraces(call, loadTraces(archive, found, options), damage);
  }),
  get('/api/dependencies', async ({ query, response, signal }) => {
    const toUnixNs = millisecondsNs(pick(query, 'endTs') ?? ['endTs', String(Date.now())]);
    const lookbackNs = millisecondsNs(pick(query, 'lookback') ?? ['lookback', DEFAULT_LOOKBACK_MS]);
    const service = pick(query, 'service')?.[1];
    const damage = new SeenDamage(signal);
    const all = await dependenciesOf(archive, toUnixNs - lookbackNs, toUnixNs, damage.options);
    const data = all.filter(({ parent, child }) => service === undefined || parent === service || child === service);
    sendJson(response, 200, { ...envelope(data, damage), total: 0 });
  }),
  get('/api/traces/*', async (call) => {
    const traceId = traceIdOf('traceID', call.parts[0]);
    const damage = new SeenDamage(call.signal);
    const spans = (await archive.traces([traceId], damage.options)).get(traceId);
    if (spans === undefined || spans.length === 0) {
      // It may be in what cannot be read.
      damage.mustBeNone();
      throw new HttpError(404, NOT_FOUND);
    }
    await streamTraces(
      call,
      (async function* (): AsyncGenerator<LoadedTrace> {
        yield [traceId, spans];
      })(),
      damage,
    );
  }),
];
