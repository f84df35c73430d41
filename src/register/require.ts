// The entry `spanline/register` in CommonJS, `node --require spanline/register app.cjs`: the program begins as soon as this file has run, so what it
// may use at once must not be waited for.
import { createRequire } from 'node:module';
import type { Api } from './start.js';
import { startOnce } from './start-once.js';

export const started: Promise<void> = startOnce(() => createRequire(import.meta.url)('./api.js') as Api);
