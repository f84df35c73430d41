// Only who may ask is answered: programs of this machine, or those with the token. Pages of the web are kept out unless they were let in.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { encodeOtlpJson } from '../../src/formats/encode.js';
import { createArchiveServer } from '../../src/server/archive-server.js';
import type { ArchiveServerOptions } from '../../src/server/server-options.js';
import { FULL_SPAN } from '../support/any-span.js';
import { MemoryArchive } from '../support/memory-archive.js';
import { ask, dial, onCleanUp, serve } from '../support/serve.js';

const TOKEN = 'correct-horse-battery';
const post = (url: string, headers: Record<string, string> = {}) =>
  ask(`${url}/v1/traces`, {
    method: 'POST',
    body: encodeOtlpJson([FULL_SPAN]),
    headers: { 'content-type': 'application/json', ...headers },
  });

describe('a token', () => {
  test('is wanted by everything but the sign of life', async () => {
    const { url, archive } = await serve({ token: TOKEN });
    expect(await ask(`${url}/`)).toMatchObject({ status: 200, json: { status: 'ok', server: 'spanline' } });
    for (const path of [
      '/api/v3/services',
      '/api/services',
      '/api/traces/1',
      '/stats',
      '/nothing',
      '/api/v3/traces/../services',
    ]) {
      const answer = await ask(url + path);
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
    }
    expect((await post(url)).status).toBe(401);
    expect(archive.all).toEqual([]);
  });

  test.each([
    ['Bearer correct-horse-battery', 200],
    ['bearer  correct-horse-battery', 200],
    ['Bearer correct-horse-batterz', 401],
    ['Bearer correct-horse', 401],
    ['Bearer correct-horse-battery-and-more', 401],
    ['Bearer correct-horse-battery x', 401],
    ['Basic correct-horse-battery', 401],
    ['correct-horse-battery', 401],
    ['Bearer', 401],
  ])('%s: %i', async (authorization, status) => {
    const { url } = await serve({ token: TOKEN });
    expect((await ask(`${url}/api/v3/services`, { headers: { authorization } })).status).toBe(status);
    expect((await post(url, { authorization })).status).toBe(status);
  });

  test('is needed to listen to others; without one nothing starts', async () => {
    for (const host of ['0.0.0.0', '::', '192.0.2.1', 'example.com']) {
      await expect(createArchiveServer({ archive: new MemoryArchive(), host, port: 0 })).rejects.toMatchObject({
        code: 'ERR_SPANLINE_GRAPH_BAD_OPTIONS',
        message: expect.stringContaining('token'),
      });
    }
    const { url } = await serve({ host: '0.0.0.0', token: TOKEN });
    const port = new URL(url).port;
    const headers = { authorization: `Bearer ${TOKEN}` };
    expect((await ask(`http://127.0.0.1:${port}/api/services`, { headers })).status).toBe(200);
    expect((await ask(`http://127.0.0.1:${port}/api/services`)).status).toBe(401);
  });

  test('with one, the name of the host does not matter', async () => {
    const { url } = await serve({ token: TOKEN });
    const headers = { authorization: `Bearer ${TOKEN}`, host: 'traces.example.com' };
    expect((await ask(`${url}/api/services`, { headers })).status).toBe(200);
  });
});

describe('without a token', () => {
  test.each([
    ['localhost', 200],
    ['localhost:16686', 200],
    ['app.localhost', 200],
    ['127.0.0.1', 200],
    ['127.9.9.9:1', 200],
    ['[::1]:16686', 200],
    ['traces.internal', 200],
    ['evil.example', 403],
    ['127.0.0.1.evil.example', 403],
    ['localhost.evil.example', 403],
    ['192.168.0.1', 403],
    ['a b', 400],
  ])('asked as %s: %i', async (host, status) => {
    const { url } = await serve({ allowedHosts: ['Traces.Internal'] });
    const answer = await ask(`${url}/api/v3/services`, { headers: { host } });
    expect(answer.status).toBe(status);
    expect((await post(url, { host })).status).toBe(status);
  });

  test('on the IPv6 address of this machine', async () => {
    const { url } = await serve({ host: '::1' });
    expect(url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await ask(`${url}/api/services`)).status).toBe(200);
  });
});

describe('pages of the web', () => {
  const headers = { origin: 'http://localhost:3000' };

  test('are told nothing by default', async () => {
    const { url } = await serve();
    const { status, headers: got } = await ask(`${url}/api/v3/services`, { headers });
    expect(status).toBe(200);
    expect(Object.keys(got).filter((name) => name.startsWith('access-control'))).toEqual([]);
    const preflight = await ask(`${url}/v1/traces`, { method: 'OPTIONS', headers });
    expect(preflight).toMatchObject({ status: 204, headers: { allow: 'POST, OPTIONS' } });
    expect(Object.keys(preflight.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  test('of allowed origins may read, with a token too', async () => {
    const { url } = await serve({ corsOrigins: ['http://localhost:3000'], token: TOKEN });
    const preflight = await ask(`${url}/api/v3/services`, { method: 'OPTIONS', headers });
    expect(preflight).toMatchObject({
      status: 204,
      headers: {
        'access-control-allow-origin': 'http://localhost:3000',
        'access-control-allow-headers': 'authorization, content-type',
        'access-control-allow-methods': 'GET, HEAD, OPTIONS',
        vary: 'origin',
      },
    });
    const answer = await ask(`${url}/api/v3/services`, { headers: { ...headers, authorization: `Bearer ${TOKEN}` } });
    expect(answer).toMatchObject({ status: 200, headers: { 'access-control-allow-origin': 'http://localhost:3000' } });
    const other = await ask(`${url}/api/v3/services`, {
      method: 'OPTIONS',
      headers: { origin: 'http://evil.example' },
    });
    expect(other.headers).toMatchObject({ vary: 'origin' });
    expect(other.headers['access-control-allow-origin']).toBeUndefined();
  });
});

describe('methods and paths', () => {
  test('HEAD answers without a body, OPTIONS names the methods, others are refused', async () => {
    const { url, archive } = await serve();
    archive.append([FULL_SPAN]);
    for (const path of [
      '/',
      '/api/v3/services',
      '/api/services',
      '/api/v3/traces?query.start_time_min=1970-01-01T00:00:00Z&query.start_time_max=2200-01-01T00:00:00Z',
      `/api/traces/${FULL_SPAN.traceId}`,
    ]) {
      const head = await ask(url + path, { method: 'HEAD' });
      expect(head.status).toBe(200);
      expect(head.body).toHaveLength(0);
      expect(await ask(url + path, { method: 'OPTIONS' })).toMatchObject({
        status: 204,
        headers: { allow: 'GET, HEAD, OPTIONS' },
      });
      expect(await ask(url + path, { method: 'DELETE' })).toMatchObject({
        status: 405,
        headers: { allow: 'GET, HEAD, OPTIONS' },
      });
    }
    expect(await ask(`${url}/v1/traces`)).toMatchObject({ status: 405, headers: { allow: 'POST, OPTIONS' } });
  });

  test.each([
    '/favicon.ico',
    '/api',
    '/api/v3',
    '/api/v3/traces/1/2',
    '/api/services//operations',
    '/v1/metrics',
    '/v1/traces/x',
    '/../../../../etc/passwd',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/api/v3/traces/..%2f..%2fetc%2fpasswd',
    '/API/services',
    '//evil.example/api/services',
  ])('nothing at %s', async (path) => {
    const { url } = await serve();
    const { status, headers, json } = await ask(url + path);
    expect([400, 404]).toContain(status);
    expect(headers['content-type']).toBe('application/json');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(json).toBeTypeOf('object');
  });

  test('a path that cannot be read is refused, a slash at the end changes nothing', async () => {
    const { url } = await serve();
    expect((await ask(`${url}/api/services/%ff/operations`)).status).toBe(400);
    expect((await ask(`${url}/api/v3/services/`)).status).toBe(200);
  });

  test('the endpoints that are wanted, and no others', async () => {
    const statuses = async (endpoints: 'query' | 'ingest') => {
      const { url } = await serve({ endpoints });
      return [(await ask(`${url}/api/services`)).status, (await post(url)).status, (await ask(`${url}/`)).status];
    };
    expect(await statuses('query')).toEqual([200, 404, 200]);
    expect(await statuses('ingest')).toEqual([404, 200, 200]);
  });
});

describe('options', () => {
  const archive = new MemoryArchive();
  test.each<[string, Partial<Record<keyof ArchiveServerOptions | 'prot', unknown>>]>([
    ['port', { port: -1 }],
    ['port', { port: '80' }],
    ['token', { token: '' }],
    ['token', { token: 'short' }],
    ['token', { token: 'with a blank' }],
    ['host', { host: '' }],
    ['endpoints', { endpoints: 'some' }],
    ['maxBodyBytes', { maxBodyBytes: 0 }],
    ['requestTimeoutMs', { requestTimeoutMs: 0.5 }],
    ['allowedHosts', { allowedHosts: 'a' }],
    ['corsOrigins', { corsOrigins: [1] }],
    ['corsOrigins', { corsOrigins: ['*'] }],
    ['corsOrigins', { corsOrigins: ['http://localhost:3000/'] }],
    ['allowedHosts', { allowedHosts: ['traces.internal:16686'] }],
    ['allowedHosts', { allowedHosts: ['http://traces.internal'] }],
    ['allowedHosts', { allowedHosts: [''] }],
    ['prot', { prot: 80 }],
    ['archive', { archive: undefined }],
  ])('a wrong %s is refused: %j', async (name, options) => {
    await expect(createArchiveServer({ archive, port: 0, ...options } as ArchiveServerOptions)).rejects.toMatchObject({
      code: 'ERR_SPANLINE_GRAPH_BAD_OPTIONS',
      message: expect.stringContaining(name),
    });
  });

  test('a port that is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    onCleanUp(() => other.close());
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    await expect(createArchiveServer({ archive, port })).rejects.toMatchObject({
      code: 'ERR_SPANLINE_GRAPH_TRANSPORT',
      message: expect.stringContaining(`127.0.0.1:${port}`),
    });
  });
});

test.each([
  ['two hosts', 'Host: localhost\r\nHost: evil.com'],
  ['the same host twice', 'Host: localhost\r\nhost: localhost'],
  ['a backslash', 'Host: localhost\\@evil.com'],
  ['a user', 'Host: localhost@evil.com'],
  ['a path', 'Host: localhost/evil.com'],
])('a request that names its host in a doubtful way is refused: %s', async (_, headers) => {
  const { url } = await serve();
  const { socket, received } = dial(url);
  socket.write(`GET /api/services HTTP/1.1\r\n${headers}\r\nConnection: close\r\n\r\n`);
  expect(await received).toMatch(/^HTTP\/1\.1 400 /);
});
