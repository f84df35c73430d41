// The view Live over an archive that another process writes: new traces appear while the page is open.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildFirst, root, scratch } from '../../../test/support/built.js';
import { Archive } from '../../archive/src/index.js';
import { spanAt } from '../../archive/test/support/traces.js';
import { createUiServer } from '../src/ui-server.js';
import { accessibilityFaults } from './support/accessibility.js';
import { hasBrowser, SIZES, useBrowser } from './support/browser.js';
import { useServer } from './support/served.js';

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

describe.skipIf(!hasBrowser)('over the archive of another process', () => {
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

  test('requests appear as they end, from the first on, whatever they are called', async () => {
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

  test('a server that goes away is told, and found again', async () => {
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
