// The server for scrapes: what it answers to whom, where it listens, that thousands of sets do not stop everything else, and what a client can cost.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { get, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { Slices } from '../../src/base/calls/timers.js';
import { Histogram } from '../../src/metrics/instruments.js';
import { PrometheusServer } from '../../src/metrics/prometheus-server.js';
import { Instruments, Reader } from '../../src/metrics/reader.js';
import { fakeTimers } from '../support/fake-timers.js';

const servers: PrometheusServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

const instruments = new Instruments();
const sizes = instruments.add(
  new Histogram({
    name: 'sizes',
    unit: 'By',
    description: 'Sizes',
    keys: ['user'],
    boundaries: Array.from({ length: 20 }, (_, i) => i),
  }),
);
for (let i = 0; i < 3000; i++) sizes.record(1, [`user ${i}`]);

const said: string[] = [];
let reads = 0;
instruments.onRead(() => {
  reads++;
});

const start = (port: number, furtherPorts = 0, host = '127.0.0.1', from = instruments): Promise<string> =>
  new Promise((resolve, reject) => {
    servers.push(
      new PrometheusServer({
        host,
        port,
        furtherPorts,
        allowedHosts: ['host.docker.internal'],
        reader: new Reader(from, 'cumulative'),
        resource: () => ({ 'service.name': 'shop' }),
        listens: resolve,
        fails: (reason) => {
          said.push(reason);
          reject(new Error(reason));
        },
      }),
    );
  });

test('the format that is asked for, and nothing elsewhere', async () => {
  const url = await start(0);
  const get = async (accept: string) => {
    const answer = await fetch(url, { headers: { accept } });
    return { type: answer.headers.get('content-type'), text: await answer.text() };
  };
  const open = await get('application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3');
  expect(open.type).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
  expect(open.text.match(/_count\{/g)).toHaveLength(2000);
  expect(open.text.endsWith('# EOF\n')).toBe(true);
  const plain = await get('*/*');
  expect(plain.type).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(plain.text).toContain('sizes_bytes_count{otel_metric_overflow="true"} 1001\n');
  expect((await fetch(new URL('/', url))).status).toBe(404);
  const posted = await fetch(url, { method: 'POST' });
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  expect(await (await fetch(url, { method: 'HEAD' })).text()).toBe('');
});

const statusFor = (url: string, headers: OutgoingHttpHeaders): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    get(url, { headers, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    }).on('error', reject);
  });

test('on loopback no web page reaches it by a name of its own', async () => {
  const url = await start(0);
  for (const host of [
    ...['localhost', 'LOCALHOST:9464', 'localhost.', 'shop.localhost', 'host.docker.internal:9464'],
    ...['127.0.0.1:1', '2130706433', '[::1]:9464', '[::ffff:127.0.0.1]'],
  ])
    expect([host, await statusFor(url, { host })]).toEqual([host, 200]);
  for (const host of [
    'shop.example',
    'shop.example:9464',
    'localhost.shop.example',
    '10.0.0.1',
    '127.0.0.1.shop.example',
  ])
    expect([host, await statusFor(url, { host })]).toEqual([host, 403]);
});

test('where others reach it they have names of their own for it', async () => {
  const { port } = new URL(await start(0, 0, '0.0.0.0'));
  expect(await statusFor(`http://127.0.0.1:${port}/metrics`, { host: 'shop.example' })).toBe(200);
});

test('other work goes on while thousands of sets are written', async () => {
  const next = vi.spyOn(Slices.prototype, 'next');
  onTestFinished(() => next.mockRestore());
  const text = await (await fetch(await start(0))).text();
  expect(text.match(/_count\{/g)).toHaveLength(2000);
  expect(next).toHaveBeenCalled();
});

test('a port that is taken: the next one where there may be several, else a reason', async () => {
  const first = new URL(await start(0));
  const second = new URL(await start(Number(first.port), 50));
  expect(Number(second.port)).toBeGreaterThan(Number(first.port));
  await expect(start(Number(first.port))).rejects.toThrow(/EADDRINUSE.*set OTEL_EXPORTER_PROMETHEUS_PORT/);
});

test('above the last port there is none', async () => {
  await start(65_535).catch(() => {});
  await expect(start(65_535, 50)).rejects.toThrow(/EADDRINUSE/);
});

const open = (url: string): Socket => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  return socket;
};

const GET = 'GET /metrics HTTP/1.1\r\nhost: localhost\r\n';

test('scrapes at the same time share one text', async () => {
  const socket = open(await start(0));
  const before = reads;
  // In one packet: they are begun one right after the other.
  socket.write(`${GET}\r\n${GET}\r\n${GET}connection: close\r\n\r\n`);
  const answers = await textOf(socket);
  expect(answers.match(/^HTTP\/1\.1 200/gm)).toHaveLength(3);
  expect(answers.match(/^sizes_bytes_count\{/gm)).toHaveLength(6000);
  expect(reads - before).toBe(1);
});

/** Of 50 MB, which no system keeps for a client that takes nothing. */
const large = new Instruments();
const names = large.add(
  new Histogram({
    name: 'names',
    unit: 'By',
    description: 'Names',
    keys: ['one', 'two', 'three', 'four'],
    boundaries: Array.from({ length: 20 }, (_, i) => i),
  }),
);
for (let i = 0; i < 2000; i++) names.record(1, new Array(4).fill(`${i} `.padEnd(250, 'x')));

test('a client that takes nothing costs a small part of the text, and not for long', async () => {
  const responses: ServerResponse[] = [];
  const begun = (message: unknown): void => void responses.push((message as { response: ServerResponse }).response);
  subscribe('http.server.request.start', begun);
  onTestFinished(() => void unsubscribe('http.server.request.start', begun));
  fakeTimers('setTimeout', 'clearTimeout');
  const socket = open(await start(0, 0, '127.0.0.1', large));
  socket.write(`${GET}\r\n`);
  await once(socket, 'readable');
  const [response] = responses;
  const { socket: theirs } = response;
  const waiting = (): number => response.writableLength;
  // Until nothing moves any more.
  for (let last = -1; last !== theirs?.bytesWritten || waiting() === 0; ) {
    last = theirs?.bytesWritten ?? 0;
    await sleep(50);
  }
  // A buffer of Node's of 64 KiB at most, that is filled, and the part behind it: 64 KiB, and one set of some 20 lines of 1,100 characters.
  expect(waiting()).toBeLessThan(160 * 1024);
  expect(response.writableFinished).toBe(false);
  vi.advanceTimersByTime(29_000);
  expect(response.destroyed).toBe(false);
  vi.advanceTimersByTime(1000);
  expect(response.destroyed).toBe(true);
  socket.resume();
  await once(socket, 'close');
});

test('more connections than it may have are refused, which is said once', async () => {
  said.length = 0;
  const url = await start(0);
  const sockets = Array.from({ length: 32 }, () => open(url));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (let i = 0; i < 2; i++) await once(open(url).resume(), 'close');
  expect(said).toEqual([`Prometheus has more than 32 connections to ${url}: further ones are refused.`]);
  for (const socket of sockets) socket.destroy();
  await vi.waitFor(async () => expect((await fetch(url)).status).toBe(200));
});
