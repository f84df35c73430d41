// The Pyroscope sink sends what the server's /ingest takes, tries again what may succeed later, and gives up within its bounds.
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { readProfile } from '../../src/output/read-profile.js';
import { pyroscopeSink } from '../../src/sinks/pyroscope.js';
import { sampled, shop, summary } from '../support/sampled.js';

interface Request {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly form: FormData;
}

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A server that answers with one status after the other; the last for ever. 0 hangs up. */
const serverOf = async (statuses: readonly number[], headers: Readonly<Record<string, string>> = {}) => {
  const requests: Request[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = new Response(Buffer.concat(chunks), {
      headers: { 'content-type': String(request.headers['content-type']) },
    });
    requests.push({
      method: request.method ?? '',
      url: new URL(request.url ?? '', 'http://localhost'),
      headers: request.headers,
      form: await body.formData(),
    });
    const status = statuses[Math.min(requests.length, statuses.length) - 1];
    if (status === 0) request.socket.destroy();
    else response.writeHead(status, headers).end('words of the server');
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
};

const fast = { name: 'shop', backoffMs: 1 };

test('a profile as the server takes it: name with tags, times in seconds, pprof in a form', async () => {
  const { endpoint, requests } = await serverOf([200]);
  const sink = pyroscopeSink({
    endpoint,
    name: 'shop',
    tags: { region: 'eu', 'a b': 'x{y}=z,"' },
    headers: { 'X-Scope-OrgID': 'team' },
  });
  await sink(shop());
  const [{ method, url, headers, form }] = requests;
  expect(method).toBe('POST');
  expect(url.pathname).toBe('/ingest');
  expect(Object.fromEntries(url.searchParams)).toEqual({
    name: 'shop{region=eu,a_b=x_y__z__}',
    from: '1750000000',
    until: '1750000002',
    format: 'pprof',
    spyName: 'nodespy',
    sampleRate: '1000',
  });
  expect(headers['x-scope-orgid']).toBe('team');
  const file = form.get('profile') as File;
  expect(summary(await readProfile(new Uint8Array(await file.arrayBuffer())))).toEqual(summary(shop()));
  const types = JSON.parse(await (form.get('sample_type_config') as File).text()) as Record<string, { units: string }>;
  expect(Object.entries(types).map(([type, { units }]) => [type, units])).toEqual([
    ['samples', 'samples'],
    ['cpu', 'nanoseconds'],
  ]);
  expect(sink.stats()).toMatchObject({ profiles: 1, retries: 0, failures: 0, lastStatus: 200, bytes: file.size });
});

test('labels that would be a series each stay at home', async () => {
  const { endpoint, requests } = await serverOf([200]);
  const profile = sampled([{ stack: ['main'], labels: { trace_id: 't1', span_id: 's1', query: 'q' }, samples: 1 }]);
  await pyroscopeSink({ endpoint, name: 'shop' })(profile);
  await pyroscopeSink({ endpoint, name: 'shop', keepKey: (key) => key === 'trace_id' })(profile);
  const sent = await Promise.all(
    requests.map(async ({ form }) => {
      const { labels, samples } = await readProfile(new Uint8Array(await (form.get('profile') as File).arrayBuffer()));
      return labels[samples.label[0]];
    }),
  );
  expect(sent).toEqual([{ span_id: 's1', query: 'q' }, { trace_id: 't1' }]);
});

test('what may succeed later is tried again: an error of the server, a connection cut', async () => {
  const { endpoint, requests } = await serverOf([503, 0, 200]);
  const sink = pyroscopeSink({ endpoint, ...fast });
  await sink(shop());
  expect(requests).toHaveLength(3);
  expect(sink.stats()).toMatchObject({ profiles: 1, retries: 2, failures: 0 });
});

test('tries are bounded and counted', async () => {
  const { endpoint, requests } = await serverOf([503]);
  const sink = pyroscopeSink({ endpoint, ...fast, attempts: 2 });
  await expect(sink(shop())).rejects.toMatchObject({
    code: 'ERR_SPANLINE_PROFILE_PUSH',
    message: expect.stringContaining('/ingest answered 503: words of the server'),
  });
  expect(requests).toHaveLength(2);
  expect(sink.stats()).toMatchObject({ profiles: 0, retries: 1, failures: 1, lastStatus: 503 });
});

test('what never succeeds is not tried again: a refusal, a redirect', async () => {
  for (const status of [400, 401, 307]) {
    const { endpoint, requests } = await serverOf([status], { location: 'http://127.0.0.1:1/' });
    const sink = pyroscopeSink({ endpoint, ...fast });
    await expect(sink(shop())).rejects.toMatchObject({ code: 'ERR_SPANLINE_PROFILE_PUSH' });
    expect(requests).toHaveLength(1);
    expect(sink.stats()).toMatchObject({ retries: 0, failures: 1, lastStatus: status });
  }
});

test('Retry-After is obeyed in place of the pause', async () => {
  const { endpoint, requests } = await serverOf([429, 200], { 'retry-after': '0' });
  await pyroscopeSink({ endpoint, name: 'shop', backoffMs: 3_600_000 })(shop());
  expect(requests).toHaveLength(2);
});

test('Retry-After is in seconds; pauses grow', async () => {
  const waited = async (headers: Record<string, string>, statuses: readonly number[], backoffMs: number) => {
    const { endpoint } = await serverOf(statuses, headers);
    const since = performance.now();
    await pyroscopeSink({ endpoint, name: 'shop', attempts: 4, backoffMs })(shop());
    return performance.now() - since;
  };
  // Timers are early by less than a millisecond each, and late by anything.
  expect(await waited({ 'retry-after': '1' }, [503, 200], 0)).toBeGreaterThan(999);
  // At least half of each of 100, 200 and 400 ms: more than three of 100 can be.
  expect(await waited({}, [503, 503, 503, 200], 100)).toBeGreaterThan(340);
});

test('nobody there: an error that says so, without credentials', async () => {
  const sink = pyroscopeSink({ endpoint: 'http://user:secret@127.0.0.1:1', ...fast });
  const error: unknown = await sink(shop()).catch((caught: unknown) => caught);
  expect(String(error)).toMatch(/http:\/\/127\.0\.0\.1:1\/ingest could not be reached/);
  expect(String(error)).not.toContain('secret');
});

test('credentials of the address are sent as a header', async () => {
  const { endpoint, requests } = await serverOf([200]);
  await pyroscopeSink({ endpoint: endpoint.replace('//', '//us%20er:p%40ss@'), name: 'shop' })(shop());
  expect(requests[0].headers.authorization).toBe(`Basic ${Buffer.from('us er:p@ss').toString('base64')}`);
});

test('a server that never answers costs one timeout a try', async () => {
  const server = createServer(() => undefined);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sink = pyroscopeSink({ endpoint, ...fast, timeoutMs: 50, attempts: 2 });
  await expect(sink(shop())).rejects.toThrow(/did not answer within 50 ms/);
  expect(sink.stats()).toMatchObject({ retries: 1, failures: 1, lastStatus: 0 });
});

test('an answer without end is not read to its end', async () => {
  let sent = 0;
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(request.url?.includes('name=good') ? 200 : 400);
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(1 << 16))) sent += 1 << 16;
    };
    response.on('drain', more);
    more();
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await pyroscopeSink({ endpoint, ...fast, name: 'good' })(shop());
  const sink = pyroscopeSink({ endpoint, ...fast, name: 'bad' });
  await expect(sink(shop())).rejects.toThrow(/answered 400: x{200}\.\.\.$/);
  expect(sink.stats()).toMatchObject({ failures: 1, retries: 0, lastStatus: 400 });
  expect(sent).toBeLessThan(16 << 20);
});

test('options that are wrong are refused at once', () => {
  for (const wrong of [
    { endpoint: 'here' },
    { endpoint: 'ftp://x' },
    { name: '' },
    { attempts: 0 },
    { timeoutMs: Number.NaN },
    { backoffMs: -1 },
    { headers: { 'a b': '' } },
  ]) {
    expect(() => pyroscopeSink({ endpoint: 'http://x', name: 'shop', ...wrong })).toThrow(
      expect.objectContaining({ code: 'ERR_SPANLINE_PROFILE_OPTION' }),
    );
  }
});
