// Over a real server: batches arrive whole, split where they must be, each span once however often a batch is tried again,
// and everything a server refuses is counted.
import type { ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type ReportBatch, ReportError } from '../../../src/collector/reporter.js';
import { OtlpReporter, type OtlpReporterOptions } from '../../../src/exporters/otlp.js';
import type { SpanRecord } from '../../../src/record/record.js';
import { deadUrl, type ReceivedRequest, startServer, type TestServer } from '../support/http-server.js';
import { decodeJson, decodeProtobuf, encodeMessage } from '../support/otlp-decode.js';
import { modelOf } from '../support/otlp-model.js';
import { batchOf, fullRecord, numberedRecords, RESOURCE, randomTraces, record } from '../support/records.js';

let server: TestServer;
const reporters: OtlpReporter[] = [];

beforeEach(async () => {
  server = await startServer();
});
afterEach(async () => {
  for (const reporter of reporters.splice(0)) await reporter.shutdown();
  await server.close();
});

const open = (options: OtlpReporterOptions = {}): OtlpReporter => {
  const reporter = new OtlpReporter({ endpoint: server.url, ...options });
  reporters.push(reporter);
  return reporter;
};

const decode = ({ headers, body }: ReceivedRequest) => {
  const plain = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
  return headers['content-type'] === 'application/json' ? decodeJson(plain) : decodeProtobuf(plain);
};
const receivedNames = () => server.requests.flatMap((request) => decode(request).spans.map(({ name }) => name));
const namesOf = (spans: readonly SpanRecord[]) => spans.map(({ name }) => name);

const failure = async (sent: Promise<unknown>): Promise<ReportError> => {
  const error = await sent.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ReportError);
  return error as ReportError;
};

/** As the collector does it: the same batch object with a fresh signal. */
const again = (reporter: OtlpReporter, batch: ReportBatch): Promise<void> => {
  (batch as { signal: AbortSignal }).signal = new AbortController().signal;
  return reporter.report(batch);
};

describe.each(['protobuf', 'json'] as const)('%s', (protocol) => {
  test.each(['none', 'gzip'] as const)('compression %s: the whole batch in one request', async (compression) => {
    const reporter = open({ protocol, compression, headers: { 'X-Key': 'k1' } });
    const traces = [...randomTraces(3, 250), [fullRecord()]];
    await reporter.report(batchOf(traces));
    expect(server.requests).toHaveLength(1);
    const [request] = server.requests;
    expect(request).toMatchObject({
      method: 'POST',
      path: '/v1/traces',
      headers: {
        'x-key': 'k1',
        'content-type': protocol === 'json' ? 'application/json' : 'application/x-protobuf',
        'user-agent': expect.stringMatching(/^spanline\//),
      },
    });
    expect(request.headers['content-encoding']).toBe(compression === 'gzip' ? 'gzip' : undefined);
    expect(decode(request).spans).toEqual(traces.flat().map(modelOf));
    expect(reporter.stats()).toMatchObject({ spansSent: 251, requestsSent: 1, bytesSent: request.body.length });
  });

  test('a partial success is counted and its words kept', async () => {
    const partialSuccess = { rejectedSpans: 3, errorMessage: 'no more than 7' };
    server.answer = (response, { headers }) => {
      const type = headers['content-type'] as string;
      response.writeHead(200, { 'content-type': type });
      if (type === 'application/json')
        response.end(JSON.stringify({ partialSuccess: { ...partialSuccess, rejectedSpans: '3' } }));
      else response.end(encodeMessage('Response', { partialSuccess }));
    };
    const reporter = open({ protocol });
    await reporter.report(batchOf([numberedRecords(10)]));
    expect(reporter.stats()).toMatchObject({ spansSent: 10, rejectedSpans: 3 });
    expect(reporter.lastError).toContain('rejected 3 of 10 spans: no more than 7');
  });

  test("a failure carries the server's words", async () => {
    server.answer = (response, { headers }) => {
      const type = headers['content-type'] as string;
      const status = { code: 3, message: 'span without a name' };
      response.writeHead(400, { 'content-type': type });
      response.end(type === 'application/json' ? JSON.stringify(status) : encodeMessage('RpcStatus', status));
    };
    const reporter = open({ protocol });
    const error = await failure(reporter.report(batchOf([numberedRecords(4)])));
    expect(error).toMatchObject({ code: 'ERR_SPANLINE_HTTP_STATUS', retryable: false });
    expect(error.message).toContain('"span without a name"');
    expect(reporter.stats()).toMatchObject({ refusedSpans: 4, spansSent: 0, requestsFailed: 1 });
  });

  test('split by bytes: every request within the bound, every span once and in order', async () => {
    const reporter = open({ protocol, maxRequestBytes: 8192, concurrency: 1 });
    const spans = numberedRecords(400, ['table', 'tiles', 'n', 7]);
    await reporter.report(batchOf([spans.slice(0, 150), spans.slice(150, 151), spans.slice(151)]));
    expect(server.requests.length).toBeGreaterThan(4);
    for (const { body } of server.requests) expect(body.length).toBeLessThanOrEqual(8192);
    expect(receivedNames()).toEqual(namesOf(spans));
  });
});

test('a body that is not an answer of the protocol changes nothing', async () => {
  server.answer = (response) => response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end('<html>');
  const reporter = open();
  await reporter.report(batchOf([numberedRecords(2)]));
  expect(reporter.stats()).toMatchObject({ spansSent: 2, rejectedSpans: 0 });
  expect(reporter.lastError).toBe('');
});

test('split by span count, several requests under way at one time', async () => {
  let max = 0;
  const buffered: ServerResponse[] = [];
  server.answer = (response, _request, n) => {
    max = Math.max(max, buffered.push(response));
    // Three are answered together, a moment later: a fourth would have come by then.
    if (buffered.length === 3 || n === 10)
      setTimeout(() => {
        for (const one of buffered.splice(0)) one.end();
      }, 20);
  };
  const reporter = open({ maxRequestSpans: 10, concurrency: 3 });
  await reporter.report(batchOf([numberedRecords(95)]));
  expect(server.requests).toHaveLength(10);
  expect(receivedNames().sort()).toEqual(namesOf(numberedRecords(95)).sort());
  expect(max).toBe(3);
});

test('the resource is of each batch, not of the first', async () => {
  const reporter = open();
  await reporter.report(batchOf([numberedRecords(1)]));
  await reporter.report(batchOf([numberedRecords(1)], { serviceName: 'bank', attributes: {} }));
  const services = server.requests.map((request) => decode(request).resource[0][1]);
  expect(services).toEqual([
    ['string', 'shop'],
    ['string', 'bank'],
  ]);
});

test('a span that fits in no request is left out, counted once, and its neighbours arrive', async () => {
  const reporter = open({ maxRequestBytes: 8192 });
  const spans = numberedRecords(5);
  spans[2] = record({ name: 'x'.repeat(20_000) });
  spans[3] = record({ name: null as unknown as string });
  const batch = batchOf([spans]);
  server.answer = (response) => response.writeHead(503).end();
  await failure(reporter.report(batch));
  server.requests.length = 0;
  server.answer = (response) => response.end();
  await again(reporter, batch);
  expect(receivedNames()).toEqual(['span 0', 'span 1', 'span 4']);
  expect(reporter.stats()).toMatchObject({ spansTooLarge: 1, spansInvalid: 1, spansSent: 3 });
  expect(reporter.lastError).toMatch(/left out span/);
});

test('a resource that fits in no request fails for good and says so', async () => {
  const attributes = { blob: 'x'.repeat(100_000) };
  const error = await failure(
    open({ maxRequestBytes: 8192 }).report(batchOf([numberedRecords(1)], { ...RESOURCE, attributes })),
  );
  expect(error).toMatchObject({ code: 'ERR_SPANLINE_RESOURCE_TOO_LARGE', retryable: false });
});

describe('what fails', () => {
  test('a retry sends only what has not arrived', async () => {
    const reporter = open({ maxRequestSpans: 10, concurrency: 2 });
    const batch = batchOf([numberedRecords(25), numberedRecords(20)]);
    server.answer = (response, _request, n) => {
      if (n === 2) response.writeHead(503, { 'retry-after': '3' }).end();
      else response.end();
    };
    const error = await failure(reporter.report(batch));
    expect(error).toMatchObject({ code: 'ERR_SPANLINE_HTTP_STATUS', retryable: true, retryAfterMs: 3000 });
    const refused = server.requests.splice(1, 1);
    expect(decode(refused[0]).spans).toHaveLength(10);
    await again(reporter, batch);
    expect(receivedNames().sort()).toEqual([...namesOf(numberedRecords(25)), ...namesOf(numberedRecords(20))].sort());
    expect(reporter.stats()).toMatchObject({ spansSent: 45, requestsFailed: 1 });
    // Nothing is left: once more is not a request at all.
    const before = server.requests.length;
    await again(reporter, batch);
    expect(server.requests).toHaveLength(before);
  });

  test('after a failure that may pass, the other requests wait for the retry', async () => {
    const reporter = open({ maxRequestSpans: 10, concurrency: 1 });
    server.answer = (response) => response.writeHead(503).end();
    await failure(reporter.report(batchOf([numberedRecords(95)])));
    expect(server.requests.length).toBeLessThanOrEqual(2);
  });

  test('one request refused for good does not undo the others', async () => {
    const reporter = open({ maxRequestSpans: 10, concurrency: 1 });
    server.answer = (response, _request, n) => response.writeHead(n === 2 ? 400 : 200).end();
    await reporter.report(batchOf([numberedRecords(30)]));
    expect(reporter.stats()).toMatchObject({ spansSent: 20, refusedSpans: 10 });
    expect(reporter.lastError).toContain('answered 400');
  });

  test('nothing listens', async () => {
    const reporter = open({ endpoint: await deadUrl() });
    expect(await failure(reporter.report(batchOf([numberedRecords(3)])))).toMatchObject({
      code: 'ERR_SPANLINE_CONNECT',
      retryable: true,
    });
  });

  test('a server too slow; then it recovers', async () => {
    const reporter = open({ timeoutMs: 50 });
    const batch = batchOf([numberedRecords(3)]);
    server.answer = () => {};
    expect(await failure(reporter.report(batch))).toMatchObject({ code: 'ERR_SPANLINE_HTTP_TIMEOUT', retryable: true });
    server.answer = (response) => response.end();
    // On a busy machine 50 ms may be too short once more.
    let requestsFailed = 1;
    const retry = async (): Promise<void> => {
      requestsFailed++;
      await again(reporter, batch);
      requestsFailed--;
    };
    await vi.waitFor(retry, { timeout: 30_000 });
    expect(reporter.stats()).toMatchObject({ spansSent: 3, requestsSent: 1, requestsFailed });
  });

  test('an aborted report ends at once, and the retry that follows it does not mix with it', async () => {
    const controller = new AbortController();
    const reporter = open({ maxRequestSpans: 5, concurrency: 1 });
    const batch = batchOf([numberedRecords(20)], RESOURCE, controller.signal);
    server.answer = (response, _request, n) => {
      if (n === 2) controller.abort(new ReportError('ERR_SPANLINE_REPORT_TIMEOUT', 'too long'));
      else response.end();
    };
    const first = failure(reporter.report(batch));
    const second = first.then(() => again(reporter, batch));
    expect(await first).toMatchObject({ code: 'ERR_SPANLINE_REPORT_TIMEOUT' });
    await second;
    server.requests.splice(1, 1);
    expect(receivedNames()).toEqual(namesOf(numberedRecords(20)));
  });
});

test('encoding many spans for one request lets the event loop go round', async () => {
  const reporter = open({ protocol: 'json', maxRequestSpans: 1 << 20, maxRequestBytes: 1 << 28 });
  const batch = batchOf(randomTraces(5, 50_000, 1000));
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  const turnsAtLastSpan = new Promise<number>((resolve) => {
    const last = batch.traces[batch.traces.length - 1] as { spanAt: (index: number) => SpanRecord };
    const { spanAt } = last;
    last.spanAt = (index) => {
      if (index === 999) resolve(turns);
      return spanAt(index);
    };
  });
  setImmediate(count);
  await reporter.report(batch);
  isDone = true;
  expect(server.requests).toHaveLength(1);
  expect(await turnsAtLastSpan).toBeGreaterThan(2);
});
