// The browser as a server that tests of a run share.
import { existsSync } from 'node:fs';
import { type BrowserServer, chromium } from 'playwright-core';
import { chromiumPath } from '../../scripts/lib/chromium.mjs';

export const executablePath = chromiumPath;

/** Whether there is one here. */
export const isBrowserHere = existsSync(executablePath);

/** Resolves when it takes connections. */
export const launchBrowser = (): Promise<BrowserServer> =>
  chromium.launchServer({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking', '--disable-sync'],
  });
