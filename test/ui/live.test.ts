// The view Live over an archive that another process writes: its figures are those of a model, new traces appear while the page is open, and a
// server that closes does not wait for those who watch.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Archive } from '../../src/archive/index.js';
import type { TraceSummary } from '../../src/trace/archived-span.js';
import type { LiveMinute } from '../../src/ui/api/live/answers.js';
import { liveMinute, MAX_TRACES } from '../../src/ui/api/live/live-minute.js';
import { createUiServer } from '../../src/ui/ui-server.js';
import { buildFirst, root, scratch } from '../cli/support/spanline.js';
import { accessibilityFaults } from './support/accessibility.js';
import { hasBrowser, SIZES, useBrowser } from './support/browser.js';
import { useServer } from './support/served.js';

const NOW = 1_800_000_000_000_000_000n;
const MS = 1_000_000n;

const summary = (i: number, endedMsAgo: number, durationMs: number, errorCount = 0): TraceSummary => ({
  traceId: i.toString(16).padStart(32, '0'),
  name: i % 3 === 0 ? 'GET /a' : 'GET /b',
  service: 'shop',
  startUnixNs: NOW - BigInt(endedMsAgo + durationMs) * MS,
  durationNs: BigInt(durationMs) * MS,
  spanCount: 1,
  errorCount,
  bytes: 100,
  isComplete: true,
});

describe('figures of the last minute', () => {
  test('are those of the traces that ended in it', () => {
    const traces = Array.from({ length: 300 }, (_, i) => summary(i, 1 + i * 199, (i * 37) % 400, i % 10 === 0 ? 1 : 0));
    const minute = liveMinute([...traces, summary(900, 60_001, 5), summary(901, -1500, 5)], NOW);
    expect(minute.ended.reduce((sum, count) => sum + count)).toBe(300);
    expect(minute.failed.reduce((sum, count) => sum + count)).toBe(30);
    // The newest second is the last.
    expect(minute.ended[59]).toBe(traces.filter((_, i) => 1 + i * 199 <= 1000).length);
    for (const operation of minute.operations) {
      const durations = traces
        .filter(({ name }) => name === operation.name)
        .map(({ durationNs }) => Number(durationNs) / 1000)
        .sort((a, b) => a - b);
      expect(operation.count).toBe(durations.length);
      // Half of all, 95 and 99 of 100 do not exceed it, and fewer do not exceed the one before.
      for (const [share, value] of [
        [0.5, operation.p50Us],
        [0.95, operation.p95Us],
        [0.99, operation.p99Us],
      ] as const) {
        expect(durations.filter((one) => one <= value).length).toBeGreaterThanOrEqual(share * durations.length);
        expect(durations.filter((one) => one < value).length).toBeLessThan(share * durations.length);
      }
    }
    expect(minute.operations.map(({ name }) => name)).toEqual(['GET /b', 'GET /a']);
    expect(minute.slowest[0].durationUs).toBe(Math.max(...traces.map(({ durationNs }) => Number(durationNs) / 1000)));
  });

  test('say when there were more than are looked at', () => {
    const traces = Array.from({ length: MAX_TRACES }, (_, i) => summary(i, 10, 1));
    expect(liveMinute(traces, NOW).isCut).toBe(true);
    expect(liveMinute(traces.slice(1), NOW).isCut).toBe(false);
  });
});

/** A program that makes a trace at each line it reads, traced from outside. */
const PROGRAM = `
  import { Span } from 'spanline';
  process.stdin.on('data', (data) => {
    for (const name of String(data).split('\\n').filter(Boolean)) {
      const span = Span.root(name);
      if (name.startsWith('<')) span.setStatus('error', 'broken');
      span.end();
    }
  });
`;

describe('over the archive of another process', () => {
  buildFirst();
  const { open, keepPicture } = useBrowser();
  const serve = useServer();
  const dir = scratch();
  const directory = join(dir, 'traces');
  let archive: Archive;
  let app: ReturnType<typeof startApp>;
  const startApp = () =>
    spawn(process.execPath, ['--import', 'spanline/register', '--input-type=module', '-e', PROGRAM], {
      cwd: root,
      env: { ...process.env, NODE_OPTIONS: '', SPANLINE_ARCHIVE: directory, OTEL_SERVICE_NAME: 'shop' },
      stdio: ['pipe', 'ignore', 'inherit'],
    });
  beforeAll(async () => {
    await (await Archive.open(directory)).close();
    app = startApp();
    archive = await Archive.open(directory, { readOnly: true });
  });
  afterAll(async () => {
    const closed = once(app, 'close');
    app.stdin.end();
    await closed;
    await archive.close();
  });

  test('a server that closes ends the streams', async () => {
    const server = await createUiServer({ archive }, { host: '127.0.0.1', port: 0, version: 'test' });
    const { body } = await fetch(`${server.url}/ui/api/live`);
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    const first = new TextDecoder().decode((await reader.read()).value);
    expect((JSON.parse(first.replace('data: ', '')) as LiveMinute).ended).toHaveLength(60);
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

  test.skipIf(!hasBrowser)('traces appear as they end, whatever they are called', async () => {
    const page = await open(await serve({ archive }));
    await page.getByText('Nothing arrived in the last minute').waitFor();
    const hostile = '<img src=x onerror=alert(1)>';
    app.stdin.write(`${['GET /a', 'GET /a', 'GET /b', hostile].join('\n')}\n`);
    await page.getByRole('cell', { name: hostile }).waitFor();
    expect(await page.locator('main img').count()).toBe(0);
    for (let i = 0; i < 40; i++) app.stdin.write('GET /later\n');
    await page.getByRole('cell', { name: 'GET /later' }).waitFor();
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
});
