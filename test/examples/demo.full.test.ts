// `npm run demo -- --ui` as people run it: it ends with the page, on which each view shows what the demo has made while its service goes on answering.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityFaults } from '../../packages/ui/test/support/accessibility.js';
import { hasBrowser, SIZES, useBrowser } from '../../packages/ui/test/support/browser.js';
import { root } from '../support/built.js';
import { sampleOf } from '../support/samples.js';

describe.skipIf(!hasBrowser)('the demo with its page', () => {
  const { open, keepPicture } = useBrowser();
  let demo: ChildProcessByStdio<null, Readable, Readable>;
  let output = '';
  let url = '';
  beforeAll(async () => {
    demo = spawn(process.execPath, [join(root, 'scripts/demo.mjs'), '--ui'], {
      cwd: root,
      env: { ...process.env, NODE_OPTIONS: '', JAEGER_ENDPOINT: '', SPANLINE_TOKEN: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let errors = '';
    demo.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
    });
    for await (const text of demo.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
      output += text;
      url = /^http:\S+\/ui(?=#|$)/m.exec(output)?.[0] ?? '';
      if (url !== '') break;
    }
    if (url === '') throw new Error(`the demo ended without its page:\n${output}${errors}`);
    // A minute on two idle cores; a demo that got a twentieth of one has not ended in seven.
  }, 1_200_000);
  afterAll(async () => {
    if (demo.exitCode !== null) return;
    const ended = once(demo, 'exit');
    demo.stdout.resume();
    demo.kill('SIGTERM');
    const [code] = await ended;
    expect(code).toBe(0);
  }, 60_000);

  /** A view, with a picture; at night in the other theme and size too. Views by themselves are looked at in more ways (packages/ui/test). */
  const lookAt = async (view: string, see: (page: Page) => Promise<void>): Promise<void> => {
    const ways = [
      { colorScheme: 'light', size: 'wide' },
      { colorScheme: 'dark', size: 'narrow' },
    ] as const;
    for (const { colorScheme, size } of sampleOf(ways, 1, 1)) {
      const page = await open(`${url}#/${view}`, { colorScheme, viewport: SIZES[size] });
      await see(page);
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      await keepPicture(page, `demo-${view.split(/\W/)[0]}-${colorScheme}-${size}`);
      await page.close();
    }
  };

  test('what it prints has a heading for each thing it shows, and no loss', () => {
    expect(output).toContain('0 spans lost on the way');
    expect(output).toContain('it waited for GET /report');
    expect(output).toContain('the trace query compare has a shape that nobody has triaged');
    expect(output).toContain('--gold-store .tmp/demo/gold');
  });

  test('Live shows the service that goes on answering', async () => {
    await lookAt('live', async (page) => {
      await page.getByRole('heading', { name: 'The last minute' }).waitFor();
      await page.getByRole('row', { name: /GET \/statistics benchmark-history \d+ 0/ }).waitFor();
    });
  });

  test('Traces lists its queries, and shows one with the breakdown of its time', async () => {
    await lookAt('traces?name=query+statistics', async (page) => {
      await page
        .getByRole('link', { name: /query statistics/ })
        .first()
        .waitFor();
    });
  });

  test('Stalls names the planted request, and leads to who waited for it', async () => {
    await lookAt('stalls', async (page) => {
      await page.getByRole('link', { name: 'GET /report' }).first().waitFor();
    });
    const page = await open(`${url}#/stalls`);
    // Beside the planted one stand those of the load; in all of them somebody else waited.
    const cards = page.locator('.stall').filter({ has: page.getByRole('link', { name: 'GET /report' }) });
    const waiters = cards.getByRole('link', { name: /^query (?!report)/ });
    await waiters.first().click();
    await page
      .getByText(/GET \/report/)
      .first()
      .waitFor();
    await page.locator('canvas').first().waitFor();
    await keepPicture(page, 'demo-why-slow');
  });

  test('Profiles draws the queries by their labels', async () => {
    await lookAt('profiles?by=query', async (page) => {
      await page.locator('canvas').first().waitFor();
    });
    const page = await open(`${url}#/profiles?by=query&look=table`);
    await page
      .getByRole('row', { name: /statistics/ })
      .first()
      .waitFor();
  });

  test('History draws benchmarks of three years with their changes', async () => {
    await lookAt('history', async (page) => {
      await page.locator('.plot canvas').first().waitFor();
      await page
        .getByRole('row', { name: /(regression|improvement)/ })
        .first()
        .waitFor();
    });
  });

  test('Golden shows the query that asks more often than it did', async () => {
    await lookAt('golden?status=untriaged', async (page) => {
      await page.getByRole('button', { name: /^[0-9a-f]{8}$/ }).click();
      const diff = page.getByRole('region', { name: /^from / });
      await diff.locator('ins').first().waitFor();
      expect(await diff.locator('ins').allInnerTexts()).toContainEqual(expect.stringMatching(/×\d\d/));
    });
  });
});
