// A real browser for the tests of the page: Debian's chromium with playwright-core, one for all files of a run. Screenshots are kept in .tmp/screenshots.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest';
import { root } from '../../../../test/support/built.js';
import { isCI } from '../../../../test/support/is-ci.js';
import { executablePath, isBrowserHere } from '../../../../test/support/launch-browser.js';
import { shared } from '../../../../test/support/shared.js';

/**
 * False without a browser, where tests are skipped; with CI set they fail instead. `SPANLINE_BROWSER=off` skips them where the page was looked at
 * already: the browser sees the same files on every Node.
 */
export const hasBrowser = process.env.SPANLINE_BROWSER !== 'off' && (isCI || isBrowserHere);
if (!hasBrowser)
  console.error(`no ${executablePath} here: the tests of the page are skipped (apt-get install chromium)`);

/** Sizes that every view must fit; its frame is looked at in both themes in each. */
export const SIZES = { wide: { width: 1280, height: 800 }, narrow: { width: 390, height: 844 } } as const;

/** The sizes that a view is looked at in with a theme: wide and light, narrow and dark. Colors do not depend on the width, nor places on the theme. */
export const sizesIn = (colorScheme: 'light' | 'dark'): Readonly<Record<string, { width: number; height: number }>> => {
  const { wide, narrow } = SIZES;
  return colorScheme === 'light' ? { wide } : { narrow };
};

/** What a test of the page has. */
export interface Browsing {
  /** A fresh page; nothing of an earlier one is left in it. What it logs as an error, and each request to elsewhere, fails the test. */
  open(url: string, options?: BrowserContextOptions): Promise<Page>;
  /** For the test that provokes errors. */
  expectFaults(): void;
  /** Keep a picture of the page, for people to look at. */
  keepPicture(page: Page, name: string): Promise<void>;
}

/** A connection of a file's tests to the browser; their contexts are their own. */
export const useBrowser = (): Browsing => {
  // A view is looked at in many ways, each as long as Playwright waits.
  vi.setConfig({ testTimeout: 240_000 });
  let browser: Browser | undefined;
  let faults: string[] = [];
  let faultsExpected = false;
  beforeAll(async () => {
    if (!hasBrowser) return;
    const { endpoint } = await shared('browser');
    browser = await chromium.connect(endpoint);
  });
  afterEach(async () => {
    for (const context of browser?.contexts() ?? []) await context.close();
    const seen = faults;
    faults = [];
    faultsExpected = false;
    expect(seen).toEqual([]);
  });
  afterAll(() => browser?.close());
  return {
    async open(url, options = {}) {
      const context = await (browser as Browser).newContext({ viewport: SIZES.wide, ...options });
      const page = await context.newPage();
      const note = (fault: string): void => {
        if (!faultsExpected) faults.push(fault);
      };
      page.on('pageerror', (error) => note(`error: ${error.message}`));
      page.on('console', (message) => message.type() === 'error' && note(`console: ${message.text()}`));
      page.on('request', (request) => {
        if (new URL(request.url()).host !== new URL(url).host && !/^(data|blob):/.test(request.url()))
          note(`request to ${request.url()}`);
      });
      await page.goto(url);
      return page;
    },
    expectFaults() {
      faultsExpected = true;
    },
    async keepPicture(page, name) {
      const directory = join(root, '.tmp/screenshots');
      mkdirSync(directory, { recursive: true });
      await page.screenshot({ path: join(directory, `${name}.png`), fullPage: true });
    },
  };
};

/** What a click on the button of these words has the browser save. */
export const savedBy = async (page: Page, words: string): Promise<readonly [name: string, bytes: Buffer]> => {
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: words }).click();
  const file = await download;
  const chunks: Buffer[] = [];
  // Not by its path: the browser is another's.
  for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer);
  return [file.suggestedFilename(), Buffer.concat(chunks)];
};
