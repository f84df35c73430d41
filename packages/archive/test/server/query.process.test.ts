// Both of Jaeger's query APIs answer in form and status as Jaeger does, with the traces that were asked for and no others, however many
// there are.
import { describe, expect, test } from 'vitest';
import type { ArchivedSpan } from '../../../../src/record/archived-span.js';
import { CorruptError } from '../../../graph/src/container/graph-error.js';
import { decodeJaegerJson } from '../../src/formats/jaeger-json/read-traces.js';
import { decodeOtlpJson } from '../../src/formats/otlp/read-json.js';
import type { TraceSearch } from '../../src/trace-search.js';
import { FULL_SPAN } from '../support/any-span.js';
import { ask, dial, type Served, serve } from '../support/serve.js';

const T0 = 1_700_000_000_000_000_000n;
const idOf = (number: number, digits: number): string => number.toString(16).padStart(digits, '0');

/** Trace `n` starts `n` seconds after T0 and lasts `n` ms; its child is in another service. */
const traceOf = (n: number): ArchivedSpan[] => {
  const root: ArchivedSpan = {
    ...FULL_SPAN,
    traceId: idOf(n, 32),
    spanId: idOf(n, 16),
    parentSpanId: '',
    name: `op ${n % 3}`,
    kind: n % 2 === 0 ? 'server' : 'unspecified',
    startUnixNs: T0 + BigInt(n) * 1_000_000_000n,
    endUnixNs: T0 + BigInt(n) * 1_000_000_000n + BigInt(n) * 1_000_000n,
    status: { code: n === 3 ? 'error' : 'unset', message: '' },
    properties: { n, even: n % 2 === 0 },
    events: [],
    links: [],
    resource: { properties: { 'service.name': 'front/end' } },
  };
  const child: ArchivedSpan = {
    ...root,
    spanId: idOf(n + 0x1000, 16),
    parentSpanId: n === 4 ? 'ffffffffffffffff' : root.spanId,
    name: 'SELECT',
    kind: 'client',
    endUnixNs: root.startUnixNs,
    properties: {},
    resource: { properties: { 'service.name': 'db' } },
  };
  return [root, child];
};

const started = async (count = 6, options = {}): Promise<Served> => {
  const served = await serve(options);
  for (let n = 1; n <= count; n++) served.archive.append(traceOf(n));
  return served;
};
const seconds = (n: number): string => new Date(Number(T0 / 1_000_000n) + n * 1000).toISOString();
const micros = (n: number): string => String(T0 / 1000n + BigInt(n) * 1_000_000n);

/** All of time, which this search has to name. */
const EVER = 'query.start_time_min=1970-01-01T00:00:00Z&query.start_time_max=2200-01-01T00:00:00Z';

const v3Ids = (json: unknown): number[] => {
  const { spans } = decodeOtlpJson(Buffer.from(JSON.stringify((json as { result: object }).result)));
  return [...new Set(spans.map(({ traceId }) => Number.parseInt(traceId, 16)))];
};
const v1Ids = (json: unknown): number[] =>
  (json as { data: { traceID: string }[] }).data.map(({ traceID }) => Number.parseInt(traceID, 16));

describe('/api/v3', () => {
  test('services and operations', async () => {
    const { url } = await started();
    const { json, headers } = await ask(`${url}/api/v3/services`);
    expect(json).toEqual({ services: ['db', 'front/end'] });
    expect(headers['content-type']).toBe('application/json');
    const operations = async (query: string) =>
      ((await ask(`${url}/api/v3/operations?${query}`)).json as { operations: object[] }).operations;
    expect(await operations('service=db')).toEqual([{ name: 'SELECT', spanKind: 'client' }]);
    expect(await operations('service=front%2Fend')).toHaveLength(6);
    expect(await operations('service=front%2Fend&span_kind=server')).toHaveLength(3);
    expect(await operations('service=front%2Fend&spanKind=INTERNAL')).toHaveLength(3);
    expect(await operations('service=nobody')).toEqual([]);
    expect(await ask(`${url}/api/v3/operations`)).toMatchObject({
      status: 400,
      json: { error: { httpCode: 400, message: 'the parameter service is required' } },
    });
  });

  test('a trace by its id', async () => {
    const { url } = await started();
    for (const id of [idOf(5, 32), '5', '0005', idOf(5, 32).toUpperCase()]) {
      const { json, status } = await ask(`${url}/api/v3/traces/${id}?raw_traces=true&start_time=${seconds(0)}`);
      expect(status).toBe(200);
      expect(decodeOtlpJson(Buffer.from(JSON.stringify((json as { result: object }).result))).spans).toEqual(
        traceOf(5),
      );
    }
    expect(await ask(`${url}/api/v3/traces/99`)).toMatchObject({
      status: 404,
      json: { error: { httpCode: 404, message: 'No traces found' } },
    });
    for (const id of ['0', '0'.repeat(32)]) expect((await ask(`${url}/api/v3/traces/${id}`)).status).toBe(404);
    for (const id of ['xyz', '0'.repeat(33), '%00', 'CvdlGRbNQ92ESOshHIAxnA==']) {
      expect((await ask(`${url}/api/v3/traces/${id}`)).status).toBe(400);
    }
  });

  test.each<[string, number[]]>([
    ['', [6, 5, 4, 3, 2, 1]],
    ['query.service_name=db', [6, 5, 4, 3, 2, 1]],
    ['query.serviceName=front%2Fend&query.operationName=op%201', [4, 1]],
    ['query.operation_name=op+2', [5, 2]],
    [`query.start_time_min=${seconds(3)}&query.start_time_max=${seconds(4)}`, [4, 3]],
    ['query.startTimeMin=2023-11-14T23:13:24.999999999%2B01:00', [6, 5]],
    ['query.startTimeMin=2023-11-14T23:13:24.999999999+01:00', [6, 5]],
    ['query.startTimeMin=2023-11-14T22:13:25.000000001Z', [6]],
    ['query.duration_min=4ms&query.duration_max=0.005s', [5, 4]],
    ['query.duration_min=4ms&query.operation_name=SELECT', []],
    ['query.duration_max=1ms&query.service_name=front%2Fend', [1]],
    ['query.durationMin=5000us', [6, 5]],
    [`query.attributes=${encodeURIComponent('{"n":"2"}')}`, [2]],
    [`query.attributes=${encodeURIComponent('{"even":true}')}`, [6, 4, 2]],
    [`query.attributes=${encodeURIComponent('{"error":"true"}')}`, [3]],
    ['query.search_depth=2', [6, 5]],
    ['query.searchDepth=1&query.raw_traces=true', [6]],
    ['query.num_traces=3', [6, 5, 4]],
  ])('search: %s', async (query, ids) => {
    const { url } = await started();
    const asked = new URLSearchParams(EVER);
    for (const [key, value] of new URLSearchParams(query)) {
      const snake = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      asked.delete(snake);
      asked.append(key, value);
    }
    const answer = await ask(`${url}/api/v3/traces?${asked}`);
    expect(answer.status === 404 ? [] : v3Ids(answer.json)).toEqual(ids);
  });

  test.each([
    '',
    'query.service_name=db',
    'query.start_time_min=2023-11-14T22:13:25Z',
    'query.startTimeMax=2023-11-14T22:13:25Z',
  ])('without both ends of the time it is refused: %s', async (query) => {
    const { url } = await started();
    expect(await ask(`${url}/api/v3/traces?${query}`)).toMatchObject({
      status: 400,
      json: { error: { message: expect.stringContaining('start_time_max are required') } },
    });
  });

  test('nothing found is a 404', async () => {
    const { url } = await started();
    expect((await ask(`${url}/api/v3/traces?${EVER}&query.service_name=nobody`)).status).toBe(404);
  });

  test.each([
    'query.start_time_min=yesterday',
    'query.start_time_min=2023-13-01T00:00:00Z',
    'query.start_time_min=2023-02-30T00:00:00Z',
    `query.start_time_min=${seconds(4)}&query.start_time_max=${seconds(3)}`,
    'query.duration_min=5',
    'query.duration_min=-5s',
    'query.duration_min=5s&query.duration_max=4s',
    'query.attributes=nonsense',
    'query.attributes=[]',
    `query.attributes=${encodeURIComponent('{"a":{}}')}`,
    'query.search_depth=0',
    'query.search_depth=1501',
    'query.search_depth=1e3',
    'query.filter={}',
    'query.service=db',
    'query.Service_name=db',
    'query.num_Traces=1',
    'query.=1',
  ])('refused: %s', async (query) => {
    const { url } = await started();
    const { status, json } = await ask(`${url}/api/v3/traces?${query}`);
    expect(status).toBe(400);
    expect(json).toEqual({
      error: { httpCode: 400, message: expect.stringMatching(/^(the parameter query\.|the .*time|the .*duration)/) },
    });
  });

  test('summaries for a list of results', async () => {
    const { url } = await started();
    const { json } = await ask(`${url}/api/v3/trace-summaries?query.search_depth=4`);
    const { summaries } = json as { summaries: object[] };
    expect(summaries).toHaveLength(4);
    expect(summaries[2]).toEqual({
      traceId: idOf(4, 32),
      rootServiceName: 'front/end',
      rootOperationName: 'op 1',
      minStartTimeUnixNano: String(T0 + 4_000_000_000n),
      maxEndTimeUnixNano: String(T0 + 4_004_000_000n),
      spanCount: 2,
      errorSpanCount: 0,
      orphanSpanCount: 1,
      services: [
        { name: 'db', spanCount: 1, errorSpanCount: 0 },
        { name: 'front/end', spanCount: 1, errorSpanCount: 0 },
      ],
    });
    expect((await ask(`${url}/api/v3/trace-summaries?query.service_name=nobody`)).json).toEqual({ summaries: [] });
  });
});

describe('/api', () => {
  test('services and operations', async () => {
    const { url } = await started();
    const rest = { limit: 0, offset: 0, errors: null };
    expect((await ask(`${url}/api/services`)).json).toEqual({ data: ['db', 'front/end'], total: 2, ...rest });
    const names = await ask(`${url}/api/services/front%2Fend/operations`);
    expect(names.json).toEqual({ data: ['op 1', 'op 2', 'op 0'], total: 3, ...rest });
    expect((await ask(`${url}/api/operations?service=db&spanKind=client`)).json).toEqual({
      data: [{ name: 'SELECT', spanKind: 'client' }],
      total: 1,
      ...rest,
    });
    expect((await ask(`${url}/api/operations?service=front%2Fend&spanKind=server`)).json).toMatchObject({ total: 3 });
    expect((await ask(`${url}/api/operations`)).status).toBe(400);
  });

  test('a trace by its id', async () => {
    const { url } = await started();
    const { json, body } = await ask(`${url}/api/traces/${idOf(2, 32)}?start=1&end=2`);
    // Jaeger's form has no place for nanoseconds, properties of a scope, flags and counts of what was dropped.
    const { name, version } = FULL_SPAN.scope;
    const inForm = (span: ArchivedSpan): ArchivedSpan => {
      const { flags: _, droppedAttributesCount: __, droppedLinksCount: ___, ...rest } = span;
      return { ...rest, scope: { name, version, properties: {} } };
    };
    expect(json).toMatchObject({ total: 0, limit: 0, offset: 0, errors: null });
    expect(v1Ids(json)).toEqual([2]);
    expect(decodeJaegerJson(body).spans).toEqual(traceOf(2).map(inForm));
    expect(await ask(`${url}/api/traces/99`)).toMatchObject({
      status: 404,
      json: { data: null, errors: [{ code: 404, msg: 'trace not found' }] },
    });
    expect((await ask(`${url}/api/traces/0`)).status).toBe(404);
    expect((await ask(`${url}/api/traces/nonsense`)).status).toBe(400);
  });

  test('traces by ids: those that are not there are named', async () => {
    const { url } = await started();
    const { json } = await ask(`${url}/api/traces?traceID=3&traceID=99&traceID=1&traceID=3`);
    expect(v1Ids(json)).toEqual([3, 1]);
    expect(json).toMatchObject({ errors: [{ msg: 'trace not found', traceID: idOf(0x99, 16) }] });
  });

  test.each<[string, number[]]>([
    ['service=db', [6, 5, 4, 3, 2, 1]],
    ['service=db&operation=SELECT&limit=2', [6, 5]],
    ['service=front%2Fend&operation=op+1', [4, 1]],
    [`service=db&start=${micros(3)}&end=${micros(4)}`, [4, 3]],
    ['service=front%2Fend&minDuration=4ms&maxDuration=5ms', [5, 4]],
    ['service=db&minDuration=4ms', []],
    ['service=db&maxDuration=4ms', [6, 5, 4, 3, 2, 1]],
    ['service=db&maxDuration=0s', [6, 5, 4, 3, 2, 1]],
    ['service=front%2Fend&tag=error:false', [6, 5, 4, 2, 1]],
    ['service=front%2Fend&tag=span.kind:server', [6, 4, 2]],
    ['service=front%2Fend&tag=span.kind:client', []],
    ['service=front%2Fend&tag=otel.status_code:ERROR', [3]],
    ['service=db&tag=otel.scope.name:http&limit=1', [6]],
    ['service=db&tag=short:true&limit=1', [6]],
    ['service=db&tag=service.name:db&limit=1', [6]],
    [`service=front%2Fend&tags=${encodeURIComponent('{"n":"2"}')}`, [2]],
    ['service=front%2Fend&tag=n:2', [2]],
    ['service=front%2Fend&tag=error:true', [3]],
    ['service=nobody', []],
    ['service=db&tag=__proto__:x', []],
    ['service=db&tags=%7B%22__proto__%22%3A%22x%22%7D', []],
  ])('search: %s', async (query, ids) => {
    const { url } = await started();
    const { status, json } = await ask(`${url}/api/traces?${query}`);
    expect(status).toBe(200);
    expect(v1Ids(json)).toEqual(ids);
  });

  test.each([
    'operation=x',
    'service=db&limit=many',
    'service=db&start=yesterday',
    'service=db&minDuration=2s&maxDuration=1s',
    'service=db&tag=n',
    'service=db&tags=n',
  ])('refused: %s', async (query) => {
    const { url } = await started();
    const { status, json } = await ask(`${url}/api/traces?${query}`);
    expect(status).toBe(400);
    expect(json).toMatchObject({ data: null, total: 0, errors: [{ code: 400, msg: expect.any(String) }] });
  });
});

describe('bounds', () => {
  test('many traces are read in batches and answered whole', async () => {
    const { url, archive } = await started(500);
    const batches: number[] = [];
    const { traces } = archive;
    archive.traces = async (ids, options) => {
      batches.push(ids.length);
      return traces.call(archive, ids, options);
    };
    const { json } = await ask(`${url}/api/v3/traces?${EVER}&query.search_depth=500`);
    expect(v3Ids(json)).toHaveLength(500);
    expect(batches).toEqual([100, 100, 100, 100, 100]);
    expect(v3Ids((await ask(`${url}/api/v3/traces?${EVER}`)).json)).toHaveLength(100);
    expect(v1Ids((await ask(`${url}/api/traces?service=db&limit=500`)).json)).toHaveLength(500);
  });

  test('large traces are read one after another', async () => {
    const { url, archive } = await started();
    const batches: number[] = [];
    const { search, traces } = archive;
    archive.search = async (wanted: TraceSearch) =>
      (await search.call(archive, wanted)).map((summary) => ({ ...summary, bytes: 5_000_000 }));
    archive.traces = async (ids, options) => {
      batches.push(ids.length);
      return traces.call(archive, ids, options);
    };
    expect(v3Ids((await ask(`${url}/api/v3/traces?${EVER}`)).json)).toEqual([6, 5, 4, 3, 2, 1]);
    expect(batches).toEqual([2, 2, 2]);
  });

  test('the limit of an answer is an option', async () => {
    const { url } = await started(6, { maxTraces: 2 });
    expect(v1Ids((await ask(`${url}/api/traces?service=db`)).json)).toEqual([6, 5]);
    expect((await ask(`${url}/api/traces?service=db&limit=3`)).status).toBe(400);
    expect((await ask(`${url}/api/traces?traceID=1&traceID=2&traceID=3`)).status).toBe(400);
  });

  test('a trace that was deleted meanwhile is left out', async () => {
    const { url, archive } = await started();
    const { search } = archive;
    archive.search = async (wanted) => {
      const found = await search.call(archive, wanted);
      archive.buffered.delete(idOf(4, 32));
      return found;
    };
    expect(v3Ids((await ask(`${url}/api/v3/traces?${EVER}`)).json)).toEqual([6, 5, 3, 2, 1]);
  });

  test('queries at a time: others wait, so many and so long, and are told to come again', async () => {
    const { url, archive, stats } = await started(6, { maxQueries: 2, maxWaitingQueries: 1, queryWaitMs: 200 });
    const waiting: (() => void)[] = [];
    archive.beforeRead = () => new Promise((resolve) => waiting.push(resolve));
    const slow = [ask(`${url}/api/services`), ask(`${url}/api/v3/services`)];
    while (waiting.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    const third = ask(`${url}/api/v3/services`);
    // On a busy machine its time may be over already.
    const isThirdThere = () => stats().queriesWaiting + stats().queriesRefused > 0;
    while (!isThirdThere()) await new Promise((resolve) => setTimeout(resolve, 5));
    const refusal = { status: 429, headers: { 'retry-after': '2' } };
    expect(await ask(`${url}/api/v3/services`)).toMatchObject(refusal);
    expect(await third).toMatchObject(refusal);
    expect(stats()).toMatchObject({ queriesWaiting: 0, queriesRefused: 2 });
    for (const go of waiting.splice(0)) go();
    expect((await Promise.all(slow)).map(({ status }) => status)).toEqual([200, 200]);
    archive.beforeRead = async () => {};
    expect((await ask(`${url}/api/services`)).status).toBe(200);
  });

  test('100 queries at once are all answered', async () => {
    const { url, archive, stats } = await started();
    let [running, max] = [0, 0];
    let go = (): void => {};
    const full = new Promise<void>((resolve) => {
      go = resolve;
    });
    archive.beforeRead = async () => {
      max = Math.max(max, ++running);
      // The first ones wait for each other, however slowly the requests come.
      if (running === 16) go();
      await full;
      await new Promise((resolve) => setTimeout(resolve, 2));
      running--;
    };
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask(`${url}/api/services`)));
    expect(answers.map(({ status }) => status)).toEqual(Array(100).fill(200));
    expect(max).toBe(16);
    expect(stats()).toMatchObject({ queriesWaiting: 0, queriesRefused: 0 });
  });

  test('a query whose client went away while it waited takes no place', async () => {
    const { url, archive, stats } = await started(6, { maxQueries: 1 });
    let go = (): void => {};
    archive.beforeRead = () =>
      new Promise((resolve) => {
        go = resolve;
      });
    const slow = ask(`${url}/api/services`);
    const { socket } = dial(url);
    socket.write('GET /api/services HTTP/1.1\r\nHost: localhost\r\n\r\n');
    while (stats().queriesWaiting < 1) await new Promise((resolve) => setTimeout(resolve, 5));
    socket.destroy();
    while (stats().queriesWaiting > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    go();
    expect((await slow).status).toBe(200);
    archive.beforeRead = async () => {};
    expect((await ask(`${url}/api/services`)).status).toBe(200);
  });

  test('an answer that takes too long is given up, and its place is free once the archive is done', async () => {
    const { url, archive, stats } = await started(6, { answerTimeoutMs: 100, maxQueries: 1 });
    const signals: (AbortSignal | undefined)[] = [];
    let finish = (): void => {};
    archive.beforeRead = (signal) => {
      signals.push(signal);
      return new Promise((resolve) => {
        finish = resolve;
      });
    };
    expect(await ask(`${url}/api/v3/traces?${EVER}`)).toMatchObject({
      status: 503,
      json: { error: { message: expect.stringContaining('too long') } },
    });
    expect(signals[0]?.aborted).toBe(true);
    expect((await ask(`${url}/api/v3/services`)).status).toBe(429);
    finish();
    archive.beforeRead = async () => {};
    // On a busy machine an answer may be late again, which counts too.
    let failed = 1;
    for (let status = 0; status !== 200; failed += status === 503 ? 1 : 0)
      ({ status } = await ask(`${url}/api/v3/services`));
    expect(stats()).toMatchObject({ failed });
  });

  test('damage before the answer is an error, damage in it cuts it off', async () => {
    const { url, archive, stats } = await started();
    const { search, traces } = archive;
    archive.search = async () => {
      throw new CorruptError('seg-1.spans: a block of the section values is damaged', 'values', 1);
    };
    expect(await ask(`${url}/api/v3/traces?${EVER}`)).toMatchObject({
      status: 500,
      json: { error: { message: expect.stringContaining('values is damaged') } },
    });
    archive.search = async (wanted) =>
      (await search.call(archive, wanted)).map((summary) => ({ ...summary, bytes: 10_000_000 }));
    let reads = 0;
    archive.traces = async (ids, options) => {
      if (++reads === 3) throw new CorruptError('damaged', 'values');
      const found = await traces.call(archive, ids, options);
      const large = (spans: ArchivedSpan[]) => spans.map((span) => ({ ...span, traceState: 'x'.repeat(50_000) }));
      return new Map([...found].map(([id, spans]) => [id, large(spans)]));
    };
    await expect(ask(`${url}/api/v3/traces?${EVER}`)).rejects.toThrow();
    expect(stats()).toMatchObject({ failed: 1, aborted: 1 });
  });

  test('a bug of the archive is an error without its words', async () => {
    const { url, archive } = await started();
    archive.search = async () => {
      throw new TypeError('secret');
    };
    const { status, body } = await ask(`${url}/api/v3/traces?${EVER}`);
    expect(status).toBe(500);
    expect(body.toString()).not.toContain('secret');
  });
});
