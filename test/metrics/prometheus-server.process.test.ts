// The server for scrapes: what it answers to whom, where it listens, and that thousands of sets do not stop everything else.
import { get, type OutgoingHttpHeaders } from 'node:http';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { Slices } from '../../src/base/calls/timers.js';
import { Histogram } from '../../src/metrics/instruments.js';
import { PrometheusServer } from '../../src/metrics/prometheus-server.js';
import { Instruments, Reader } from '../../src/metrics/reader.js';

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

const start = (port: number, furtherPorts = 0, host = '127.0.0.1'): Promise<string> =>
  new Promise((resolve, reject) => {
    servers.push(
      new PrometheusServer({
        host,
        port,
        furtherPorts,
        reader: new Reader(instruments, 'cumulative'),
        resource: () => ({ 'service.name': 'shop' }),
        listens: resolve,
        fails: (reason) => reject(new Error(reason)),
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
  for (const host of ['localhost', 'LOCALHOST:9464', '127.0.0.1:1', '[::1]:9464', 'shop.localhost', '2130706433'])
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
