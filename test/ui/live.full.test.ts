// The view Live over an archive that another process writes: its figures are those of a model, new traces appear while the page is open, and a
// server that closes does not wait for those who watch.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Request } from '../../src/archive/follow/requests.js';
import { Archive } from '../../src/archive/index.js';
import type { LiveEvent } from '../../src/ui/api/live/answers.js';
import { MAX_OPERATIONS, MinuteCounts } from '../../src/ui/api/live/minute-counts.js';
import { percentile } from '../../src/ui/api/percentile.js';
import { createUiServer } from '../../src/ui/ui-server.js';
import { buildFirst, root, scratch } from '../cli/support/spanline.js';
import { spanAt } from '../cli/trace/support/traces.js';
import { accessibilityFaults } from './support/accessibility.js';
import { hasBrowser, SIZES, useBrowser } from './support/browser.js';
import { useServer } from './support/served.js';

const NOW_S = 1_800_000_000;
const NOW_MS = NOW_S * 1000 + 400;

/** A request that ended so long before the last whole second. */
const request = (i: number, endedMsAgo: number, durationUs: number, more: Partial<Request> = {}): Request => {
  const endUnixNs = BigInt(NOW_S * 1000 - endedMsAgo) * 1_000_000n;
  const ids = { traceId: i.toString(16).padStart(32, '0'), name: i % 3 === 0 ? 'GET /a' : 'GET /b', service: 'shop' };
  return {
    ...ids,
    startUnixNs: endUnixNs - BigInt(durationUs) * 1000n,
    endUnixNs,
    isFailed: false,
    isRoot: true,
    ...more,
  };
};

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

describe('figures of the last minute', () => {
  test('are those of all requests that ended in it, at thousands a second', () => {
    const counts = new MinuteCounts();
    const durations: Record<string, number[]> = { 'GET /a': [], 'GET /b': [] };
    const perSecond = new Array<number>(60).fill(0);
    const rounds = 120_000;
    for (let i = 0; i < rounds; i++) {
      // From a microsecond to some seconds, in no order of time.
      const durationUs = Math.ceil(Math.exp(((i * 7919) % 15_000) / 1000));
      const endedMsAgo = 1 + ((i * 6151) % 60_000);
      const one = request(i, endedMsAgo, durationUs, { isFailed: i % 10 === 0, isRoot: i % 2 === 0 });
      counts.add(one, NOW_MS);
      durations[one.name].push(durationUs);
      perSecond[Math.floor((60_000 - endedMsAgo) / 1000)]++;
    }
    for (const ago of [60_001, 70_000, -5000, 0, -399])
      counts.add(request(rounds, ago, 1e9, { name: 'GET /not' }), NOW_MS);
    const minute = counts.minute(NOW_MS);
    expect(minute.ended).toEqual(perSecond);
    expect(sumOf(minute.failed)).toBe(rounds / 10);
    expect(minute.traces).toBe(rounds / 2);
    expect(minute.operations.map(({ name, count, errors }) => [name, count, errors])).toEqual([
      ['GET /b', 80_000, 8000],
      ['GET /a', 40_000, 4000],
    ]);
    for (const { name, p50Us, p95Us, p99Us } of minute.operations) {
      const ascending = durations[name].sort((a, b) => a - b);
      for (const [share, value] of [
        [0.5, p50Us],
        [0.95, p95Us],
        [0.99, p99Us],
      ])
        expect(Math.abs(value / percentile(ascending, share) - 1)).toBeLessThanOrEqual(0.01 + 1e-9);
    }
  });

  test('go on: what is older than a minute is forgotten, and few durations are told as well as many', () => {
    const counts = new MinuteCounts();
    counts.add(request(1, 59_000, 40), NOW_MS);
    counts.add(request(2, 500, 7_000_000, { isFailed: true }), NOW_MS);
    expect(counts.minute(NOW_MS).operations).toHaveLength(1);
    expect(sumOf(counts.minute(NOW_MS).ended)).toBe(2);
    const later = counts.minute(NOW_MS + 5000);
    expect([sumOf(later.ended), sumOf(later.failed)]).toEqual([1, 1]);
    expect(Math.abs(later.operations[0].p50Us / 7_000_000 - 1)).toBeLessThan(0.01);
    expect(counts.minute(NOW_MS + 61_000)).toMatchObject({ traces: 0, operations: [], newest: [], slowest: [] });
  });

  test('the newest and the slowest are traces, each once, by its longest request', () => {
    const counts = new MinuteCounts();
    for (let i = 0; i < 1000; i++) {
      counts.add(request(i, 1 + i * 59, 1000 + ((i * 37) % 1000)), NOW_MS);
      // What it asked of another service.
      counts.add(request(i, 2 + i * 59, 500, { service: 'stock', isRoot: false }), NOW_MS);
    }
    const { newest, slowest } = counts.minute(NOW_MS);
    expect(newest.map(({ traceId, service }) => [Number(`0x${traceId}`), service])).toEqual(
      Array.from({ length: 10 }, (_, i) => [i, 'shop']),
    );
    expect(slowest.map(({ durationUs }) => durationUs)).toEqual(Array.from({ length: 10 }, (_, i) => 1999 - i));
  });

  test('operations beyond a hundred are counted together until one has had no request for a minute', () => {
    const counts = new MinuteCounts();
    for (let i = 0; i < MAX_OPERATIONS + 5; i++) counts.add(request(i, 30_000, 1, { name: `GET /${i}` }), NOW_MS);
    const minute = counts.minute(NOW_MS);
    expect([minute.operations.length, minute.further, sumOf(minute.ended)]).toEqual([MAX_OPERATIONS, 5, 105]);
    const laterMs = NOW_MS + 60_000;
    counts.add(request(7, -59_000, 1, { name: 'GET /new' }), laterMs);
    expect(counts.minute(laterMs)).toMatchObject({ operations: [{ name: 'GET /new' }], further: 0 });
  });

  test('a rate is of the seconds that were counted', () => {
    const counts = new MinuteCounts();
    for (let i = 0; i < 60; i++) counts.add(request(i, 1 + i * 1000, 1), NOW_MS);
    expect(counts.minute(NOW_MS, NOW_MS - 20_000).ended).toEqual(new Array(19).fill(1));
    expect(counts.minute(NOW_MS, NOW_MS).ended).toHaveLength(1);
  });
});

/** A program that makes a trace at each line it reads, traced from outside. */
const PROGRAM = `
  import { Span } from 'spanline';
  process.stdin.on('data', (data) => {
    for (const name of String(data).split('\\n').filter(Boolean)) {
      const span = Span.root(name);
      span.run(() => Span.startWithLocalParent('SELECT').end());
      if (name.startsWith('<')) span.setStatus('error', 'broken');
      span.end();
    }
  });
`;

describe('over the archive of another process', () => {
  buildFirst();
  const { open, keepPicture, expectFaults } = useBrowser();
  const serve = useServer();
  const dir = scratch();
  const directory = join(dir, 'traces');
  let archive: Archive;
  let app: ReturnType<typeof startApp> | undefined;
  const startApp = () =>
    spawn(process.execPath, ['--import', 'spanline/register', '--input-type=module', '-e', PROGRAM], {
      cwd: root,
      env: { ...process.env, NODE_OPTIONS: '', SPANLINE_ARCHIVE: directory, OTEL_SERVICE_NAME: 'shop' },
      stdio: ['pipe', 'ignore', 'inherit'],
    });
  beforeAll(async () => {
    archive = await Archive.open(directory, { readOnly: true, mayBeMissing: true });
  });
  afterAll(async () => {
    if (app !== undefined) {
      const closed = once(app, 'close');
      app.stdin.end();
      await closed;
    }
    await archive.close();
  });

  test('a server that closes ends the streams', async () => {
    const server = await createUiServer({ archive }, { host: '127.0.0.1', port: 0, version: 'test' });
    const { body } = await fetch(`${server.url}/ui/api/live`);
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    const first = new TextDecoder().decode((await reader.read()).value);
    expect(JSON.parse(first.replace('data: ', '')) as LiveEvent).toEqual({ waitsFor: directory });
    let isOver = false;
    const closed = server.close();
    // The connection is not cut off: the stream has an end.
    while (!isOver) isOver = (await reader.read()).done;
    await closed;
  });

  test('no more than a few listen at a time', async () => {
    const url = await serve({ archive });
    const controllers = Array.from({ length: 16 }, () => new AbortController());
    await Promise.all(controllers.map(({ signal }) => fetch(`${url}/api/live`, { signal })));
    expect((await fetch(`${url}/api/live`)).status).toBe(503);
    for (const controller of controllers) controller.abort();
    await expect
      .poll(async () => {
        const controller = new AbortController();
        const { status } = await fetch(`${url}/api/live`, { signal: controller.signal });
        controller.abort();
        return status;
      })
      .toBe(200);
  });

  test.skipIf(!hasBrowser)('requests appear as they end, from the first on, whatever they are called', async () => {
    const page = await open(await serve({ archive }));
    await page.getByText(`${directory} is not there yet`).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await keepPicture(page, 'live-waiting');
    app = startApp();
    await page.getByText('Nothing arrived in the last minute').waitFor();
    const hostile = '<img src=x onerror=alert(1)>';
    app.stdin.write(`${['GET /a', 'GET /a', 'GET /b', hostile].join('\n')}\n`);
    await page.getByRole('cell', { name: hostile }).waitFor();
    expect(await page.locator('main img').count()).toBe(0);
    // A service behind this one, in a process of its own.
    const stock = await Archive.open(directory);
    const startUnixNs = BigInt(Date.now()) * 1_000_000n;
    stock.append(
      Array.from({ length: 20 }, (_, i) => ({
        ...spanAt(i + 2, 1, 'GET /stock', 0, 0, {
          resource: { properties: { 'service.name': 'stock' } },
          kind: 'server',
        }),
        startUnixNs,
        endUnixNs: startUnixNs + 20_000_000n,
      })),
    );
    await page.getByRole('row', { name: /GET \/stock stock 20 0 20\.\d+ ms/ }).waitFor();
    await stock.close();
    for (let i = 0; i < 40; i++) app.stdin.write('GET /later\n');
    await page.getByRole('row', { name: 'GET /later shop 40 0' }).waitFor();
    await page.locator('dl').getByText('44', { exact: true }).waitFor();
    expect(await page.locator('dl dd').allInnerTexts()).toEqual(['1.1', '64', '2 %', '44']);
    expect(await page.getByRole('cell', { name: 'SELECT' }).count()).toBe(0);
    await page.keyboard.press('p');
    await page.getByRole('button', { name: 'Go on' }).waitFor();
    for (const [size, viewport] of Object.entries(SIZES)) {
      await page.setViewportSize(viewport);
      for (const theme of ['light', 'dark']) {
        expect(await accessibilityFaults(page)).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
        await keepPicture(page, `live-${theme}-${size}`);
        await page.keyboard.press('t');
      }
    }
    await page.getByRole('link', { name: 'GET /b' }).first().click();
    expect(new URL(page.url()).hash).toContain('service=shop');
  });

  test.skipIf(!hasBrowser)('a server that goes away is told, and found again', async () => {
    const options = { host: '127.0.0.1', version: 'test' } as const;
    const first = await createUiServer({ archive }, { ...options, port: 0 });
    const page = await open(`${first.url}/ui`);
    const seen = page.getByRole('heading', { name: /last minute|not there yet/ });
    await seen.waitFor();
    expectFaults();
    await first.close();
    await page.getByText('the server does not answer: is spanline ui still running?').waitFor();
    const again = await createUiServer({ archive }, { ...options, port: Number(new URL(first.url).port) });
    await seen.waitFor();
    await page.close();
    await again.close();
  });
});
