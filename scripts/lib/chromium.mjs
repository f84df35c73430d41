// Where the chromium is in which tests and benchmarks look at the page: Debian's without a window of its own, which does a third less work, else the whole
// one, or that which CHROMIUM names.
import { existsSync } from 'node:fs';

const PLACES = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

export const chromiumPath = process.env.CHROMIUM ?? PLACES.find(existsSync) ?? PLACES[1];
