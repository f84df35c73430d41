// An instrumentation is on once, however often it is asked for: by register and by the program, by two calls, by two copies of the package. Options
// that are given hold while they are; what is taken back gives way to what was there before.

import { once } from 'node:events';
import { cpSync, writeFileSync } from 'node:fs';
import { Agent, get, type IncomingMessage, type RequestOptions, type ServerResponse } from 'node:http';
import { connect, createServer } from 'node:http2';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { Span, SpanContext } from '../../src/index.js';
import { type InstrumentOptions, instrument, type Propagator } from '../../src/instrument/index.js';
import { startServer } from '../exporters/support/http-server.js';
import { buildFirst } from '../support/built.js';
import { out, root, runFile } from '../support/child.js';
import { later, recorded, serve, settled, when } from './support.js';

buildFirst();

const on = (options?: InstrumentOptions): (() => void) => {
  const { disable } = instrument(options);
  later(disable);
  return disable;
};

/** What was recorded of one request that is answered by calling on, by `http` and by `fetch`: kinds and names. */
const requestThrough = async (headers: string[] = []): Promise<string[]> => {
  const behind = await serve((request, response) => {
    headers.push(
      ...request.rawHeaders.filter((_, i) => i % 2 === 0 && /traceparent|x-job/i.test(request.rawHeaders[i])),
    );
    response.end();
  });
  const { url } = await serve(async (_, response) => {
    await (await fetch(behind.url)).text();
    get(behind.url, (answer) => answer.resume().on('end', () => response.end()));
  });
  await (await fetch(url)).text();
  return kindsOf(await settled(6));
};

const kindsOf = (spans: Awaited<ReturnType<typeof recorded>>): string[] =>
  spans.map(({ kind, name }) => `${kind} ${name}`).sort();

const ONE_EACH = ['client GET', 'client GET', 'client GET', 'server GET', 'server GET', 'server GET'];

test('two calls: a span for each request, one header', async () => {
  on();
  on();
  const headers: string[] = [];
  expect(await requestThrough(headers)).toEqual(ONE_EACH);
  expect(headers).toEqual(['traceparent', 'traceparent']);
});

test('whichever is taken back first, what the other asked for stays on', async () => {
  for (const first of [0, 1]) {
    const offs = [on(), on({ http: { server: { requestHeaders: ['x-a'] } } })];
    offs[first]();
    expect(await requestThrough()).toEqual(ONE_EACH);
    offs[1 - first]();
    offs[1 - first]();
    const { url } = await serve((_, response) => void response.end());
    await (await fetch(url)).text();
    expect(await recorded()).toEqual([]);
  }
});

test('options that are given hold, for a side too, and go when they are taken back', async () => {
  const names = async (): Promise<string[]> => {
    const { url } = await serve((_, response) => void response.end());
    await (await fetch(`${url}/quiet`)).text();
    await (await fetch(`${url}/loud`)).text();
    await Span.root('barrier').runToEnd(() => {});
    return kindsOf(await recorded()).filter((one) => one.startsWith('server'));
  };
  on();
  const disable = on({ http: { server: { ignore: ({ url }) => url === '/quiet' } } });
  on();
  expect(await names()).toEqual(['server GET']);
  disable();
  expect(await names()).toEqual(['server GET', 'server GET']);
});

test('options that come while requests are in flight are those of new requests, and what began before ends as it began', async () => {
  const noted: string[] = [];
  const noting = (when: string): InstrumentOptions => {
    const enrich = (side: string) => (_: Span, about: { url?: string; path?: string }) =>
      void noted.push(`${when} ${side} ${about.path ?? about.url}`);
    return {
      http: { server: { enrich: enrich('server') }, client: { enrich: enrich('http') } },
      undici: { enrich: enrich('fetch') },
    };
  };
  on(noting('old'));
  const waiting: ServerResponse[] = [];
  const { url } = await serve((request, response) => {
    if (request.url?.endsWith('cut')) request.socket.destroy();
    else if (request.url?.endsWith('slow')) waiting.push(response);
    else response.end();
  });
  // One connection, which the requests after the first one find open.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  later(() => agent.destroy());
  const byHttp = async (path: string, options: RequestOptions = { agent }): Promise<void> => {
    const [answer] = (await once(get(url + path, options), 'response')) as [IncomingMessage];
    await answer.resume().toArray();
  };
  const byFetch = async (path: string): Promise<void> => void (await (await fetch(url + path)).text());
  await byHttp('/http-kept');
  const slow = [byHttp('/http-slow', {}), byFetch('/fetch-slow')];
  await when(() => waiting.length === 2);
  on(noting('new'));
  await byHttp('/http');
  await byFetch('/fetch');
  await expect(byHttp('/http-cut')).rejects.toThrow();
  await expect(byFetch('/fetch-cut')).rejects.toThrow();
  for (const response of waiting) response.end();
  await Promise.all(slow);
  await settled(14);
  const old = ['/http-kept', '/http-slow', '/fetch-slow'];
  const recent = ['/http', '/fetch', '/http-cut', '/fetch-cut'];
  const of = (when: string, paths: readonly string[]): string[] =>
    paths.flatMap((path) => [
      `${when} server ${path}`,
      `${when} ${path.startsWith('/http') ? 'http' : 'fetch'} ${path}`,
    ]);
  expect(noted.sort()).toEqual([...of('old', old), ...of('new', recent)].sort());
});

const job: Propagator = {
  extract: () => SpanContext.random(),
  inject: ({ traceId }, set) => set('x-job', traceId),
};

test('a propagator that is given later holds for what is on already, and goes with who gave it', async () => {
  on();
  on({ http: { client: { requireParent: false } } });
  const disable = on({ propagator: job });
  const headers: string[] = [];
  expect(await requestThrough(headers)).toEqual(ONE_EACH);
  expect(headers.map((name) => name.toLowerCase())).toEqual(['x-job', 'x-job']);
  disable();
  expect(await requestThrough(headers)).toEqual(ONE_EACH);
  expect(headers.slice(2)).toEqual(['traceparent', 'traceparent']);
});

test('a propagator that is given stays where options come without one', async () => {
  on({ propagator: job });
  on({ undici: { requireParent: false }, http: { client: { requireParent: false } } });
  const headers: string[] = [];
  await requestThrough(headers);
  expect(headers.map((name) => name.toLowerCase())).toEqual(['x-job', 'x-job']);
});

test('http2: one span of the server, one of the client', async () => {
  on();
  on();
  const server = createServer((_, response) => void response.end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  later(() => server.close());
  const session = connect(`http://127.0.0.1:${(server.address() as { port: number }).port}`);
  await new Promise((resolve) => session.request({ ':path': '/' }).on('close', resolve).resume().end());
  await new Promise<void>((resolve) => session.close(resolve));
  expect(kindsOf(await settled(2))).toEqual(['client GET', 'server GET']);
});

test('an option that is wrong takes nothing of the others back, and leaves nothing on', async () => {
  const wrong = {
    get: () => {
      throw new TypeError('broken');
    },
  };
  expect(() => instrument({ express: Object.defineProperty({}, 'module', wrong) })).toThrow('broken');
  const { url } = await serve((_, response) => void response.end());
  await (await fetch(url)).text();
  expect(await recorded()).toEqual([]);
});

/** Another copy of the built package, as a command that is installed elsewhere brings one. */
const otherCopy = (): string => {
  const copy = join(out, 'other/node_modules/spanline');
  for (const part of ['dist/cjs', 'dist/esm', 'package.json'])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  return copy;
};

test.each([
  ['mjs', '--import', () => 'spanline/register'],
  ['cjs', '--require', () => 'spanline/register'],
  ['mjs', '--import', () => pathToFileURL(join(otherCopy(), 'dist/esm/register/preload.js')).href],
  ['cjs', '--require', () => join(otherCopy(), 'dist/cjs/register/index.js')],
])(
  'register and a program (%s) that calls instrument and setRoute, by %s of one copy or two',
  async (format, flag, register) => {
    const file = join(out, `registered.${format}`);
    const imports =
      format === 'mjs'
        ? `import { createServer } from 'node:http'; import { instrument, setRoute } from 'spanline/instrument';`
        : `const { createServer } = require('node:http'); const { instrument, setRoute } = require('spanline/instrument');`;
    writeFileSync(
      file,
      `${imports}
     instrument();
     const server = createServer((request, response) => {
       setRoute(request, '/named');
       response.end(request.headers.traceparent);
     }).listen(0, async () => {
       for (let i = 0; i < 2; i++) console.log(await (await fetch('http://127.0.0.1:' + server.address().port)).text());
       server.close();
     });`,
    );
    const collector = await startServer();
    later(() => collector.close());
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };
    const child = await runFile(file, { execArgv: [flag, register()], env });
    expect(child).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^(00-[0-9a-f]{32}-[0-9a-f]{16}-0[13]\n){2}$/),
      stderr: '',
    });
    const names = collector.requests.flatMap(({ body }) => [...body.toString().matchAll(/"name":"(GET.*?)"/g)]);
    expect(names.map(([, name]) => name).sort()).toEqual(['GET', 'GET', 'GET /named', 'GET /named']);
  },
);
