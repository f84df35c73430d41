// Jaeger's older query API, as its UI and Grafana's data source ask it: traces in the form of the UI, everything in one envelope.
import { jaegerTrace } from '../jaeger/jaeger-encode.js';
import { JsonStream, sendJson } from './answer.js';
import { HttpError } from './http-error.js';
import { type LoadedTrace, loadTraces } from './load-traces.js';
import type { ArchiveReader, Operation } from './ports.js';
import { pick, traceIdOf } from './query-values.js';
import type { Call, Route } from './route.js';
import { v1Search } from './search-parameters.js';

const NOT_FOUND = 'trace not found';

const envelope = (data: readonly unknown[]) => ({ data, total: data.length, limit: 0, offset: 0, errors: null });

/** Jaeger leaves a kind that is not known empty here. */
const shownKind = ({ kind }: Operation): string => (kind === 'unspecified' ? '' : kind);

/** @param wanted Ids asked for: those that are not there are named as errors. */
const streamTraces = async (
  { response, signal }: Call,
  traces: AsyncIterable<LoadedTrace>,
  wanted: readonly string[] = [],
): Promise<void> => {
  const stream = new JsonStream(response, signal);
  const missing = new Set(wanted);
  await stream.write('{"data":[');
  let isFirst = true;
  for await (const [traceId, spans] of traces) {
    if (!isFirst) await stream.write(',');
    isFirst = false;
    missing.delete(traceId);
    await stream.writeAll(jaegerTrace(traceId, spans));
  }
  const errors = missing.size === 0 ? null : [...missing].map((traceID) => ({ msg: NOT_FOUND, traceID }));
  await stream.write(`],"total":0,"limit":0,"offset":0,"errors":${JSON.stringify(errors)}}\n`);
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
    sendJson(response, 200, envelope(await archive.services({ signal })));
  }),
  get('/api/services/*/operations', async ({ parts: [service], response, signal }) => {
    const operations = await archive.operations(service, { signal });
    sendJson(response, 200, envelope([...new Set(operations.map(({ name }) => name))]));
  }),
  get('/api/operations', async ({ query, response, signal }) => {
    const service = query.get('service') ?? '';
    if (service === '') throw new HttpError(400, 'the parameter service is required');
    const kind = pick(query, 'spanKind')?.[1].toLowerCase();
    const operations = await archive.operations(service, { signal });
    const wanted = operations.filter((operation) => kind === undefined || shownKind(operation) === kind);
    const data = wanted.map((operation) => ({ name: operation.name, spanKind: shownKind(operation) }));
    sendJson(response, 200, envelope(data));
  }),
  get('/api/traces', async (call) => {
    const { query, signal } = call;
    const ids = new Set(query.getAll('traceID').map((id) => traceIdOf('traceID', id)));
    if (ids.size > maxTraces) throw new HttpError(400, `no more than ${maxTraces} traces can be asked for at a time`);
    if (ids.size > 0) return streamTraces(call, loadTraces(archive, withIds([...ids]), signal), [...ids]);
    const found = await archive.search(v1Search(query, maxTraces), { signal });
    return streamTraces(call, loadTraces(archive, found, signal));
  }),
  get('/api/traces/*', async (call) => {
    const traceId = traceIdOf('traceID', call.parts[0]);
    const traces = await archive.traces([traceId], { signal: call.signal });
    const spans = traces.get(traceId);
    if (spans === undefined || spans.length === 0) throw new HttpError(404, NOT_FOUND);
    await streamTraces(
      call,
      (async function* (): AsyncGenerator<LoadedTrace> {
        yield [traceId, spans];
      })(),
    );
  }),
];
