// Debian's chromium without a window of its own (a third less work), else the whole one, or that which CHROMIUM names: a server that tests of a run share.
import { existsSync } from 'node:fs';
import { type BrowserServer, chromium } from 'playwright-core';

const PLACES = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

export const executablePath = process.env.CHROMIUM ?? PLACES.find(existsSync) ?? PLACES[1];

/** Whether there is one here. */
export const isBrowserHere = existsSync(executablePath);

/** Resolves when it takes connections. */
export const launchBrowser = (): Promise<BrowserServer> =>
  chromium.launchServer({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking', '--disable-sync'],
  });
