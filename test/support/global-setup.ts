// Set up once a run: programs of others that test files share, each started when a file first asks for it (shared.ts) and ended with the run.
// A file must use names, tables or contexts of its own in them, for it never has one to itself.
import { once } from 'node:events';
import { readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findEmulator, startEmulator } from '../../scripts/lib/bigtable-emulator.mjs';
import type { Shared } from './shared.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

interface Started<T> {
  /** What files get, as JSON. */
  readonly handle: T;
  stop(): Promise<void>;
}

const start: { readonly [Name in keyof Shared]: () => Promise<Started<Shared[Name]>> } = {
  async emulator() {
    const program = findEmulator();
    if (program === undefined) throw new Error('no Bigtable emulator is here');
    const { host, stop } = await startEmulator(program);
    return { handle: { host }, stop };
  },
  async browser() {
    // Only here: it is half of what starting a run would cost.
    const { launchBrowser } = await import('./launch-browser.js');
    const server = await launchBrowser();
    return { handle: { endpoint: server.wsEndpoint() }, stop: () => server.close() };
  },
};

export default async (): Promise<(() => Promise<void>) | undefined> => {
  // Each project of vitest sets up once more.
  if (process.env.SPANLINE_TEST_SHARED !== undefined) return undefined;
  const started = new Map<string, Promise<Started<unknown>>>();
  const server = createServer(async ({ url = '' }, response) => {
    const name = url.slice(1) as keyof Shared;
    try {
      if (!started.has(name)) started.set(name, start[name]());
      response.end(JSON.stringify((await started.get(name))?.handle));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // Workers inherit it.
  const children = `.tmp/test-children/${process.pid}`;
  process.env.SPANLINE_TEST_CHILDREN = join(root, children);
  process.env.SPANLINE_TEST_SHARED = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return async () => {
    server.close();
    server.closeAllConnections();
    const all = await Promise.allSettled(started.values());
    await Promise.all(all.map((one) => (one.status === 'fulfilled' ? one.value.stop() : undefined)));
    const packages = readdirSync(join(root, 'packages')).map((name) => `packages/${name}`);
    for (const folder of ['', ...packages]) rmSync(join(root, folder, children), { recursive: true, force: true });
  };
};
