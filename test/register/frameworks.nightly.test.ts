// Applications on frameworks that are built before they run, and carry what they need inside: SvelteKit, whose own spans have routes, and Nitro, below
// Nuxt too, whose plugin names them by a copy of this package that it has built in.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { freePort } from '../../scripts/lib/local-ports.mjs';
import { startServer } from '../exporters/support/http-server.js';
import { decodeSpans } from '../exporters/support/otlp-decode.js';
import { buildFirst } from '../support/built.js';
import { out } from '../support/child.js';
import { startService } from './support/service.js';
import { outline, treesOf } from './support/span-trees.js';

// By its address: scripts have no types.
const { ensureInstalled } = (await import(new URL('../../scripts/lib/install.mjs', import.meta.url).href)) as {
  ensureInstalled(folder: string, name: string): void;
};

buildFirst();

/** Built in a folder of its own, which it gives: what the build writes stays out of the checkout. */
const built = (name: string, command: string): string => {
  const source = fileURLToPath(new URL(`applications/${name}/`, import.meta.url));
  ensureInstalled(source, `the application ${name}`);
  const folder = join(out, 'frameworks', name);
  mkdirSync(folder, { recursive: true });
  cpSync(source, folder, { recursive: true, filter: (path) => !/[/\\](node_modules|\.tmp)$/.test(path) });
  symlinkSync(join(source, 'node_modules'), join(folder, 'node_modules'));
  execFileSync(process.execPath, [join(folder, 'node_modules', command), 'build'], { cwd: folder, stdio: 'pipe' });
  return folder;
};

interface Asked {
  readonly statuses: readonly number[];
  readonly exit: unknown;
  readonly said: string;
  readonly traces: readonly string[];
}

const ask = async (program: string, paths: readonly string[], execArgv: readonly string[]): Promise<Asked> => {
  const [sink, port] = [await startServer(), await freePort()];
  const env = { PORT: String(port), HOST: '127.0.0.1', NODE_ENV: 'production', OTEL_EXPORTER_OTLP_ENDPOINT: sink.url };
  const service = await startService(program, { execArgv, env, ready: /Listening on/ });
  const statuses: number[] = [];
  for (const path of paths) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    await answer.arrayBuffer();
    statuses.push(answer.status);
  }
  const exit = await service.stop();
  await sink.close();
  const trees = treesOf(sink.requests.flatMap(({ body }) => decodeSpans(body)));
  return { statuses, exit, said: service.said(), traces: trees.map((tree) => outline(tree)) };
};

/** The traces under register, whose answers and end must be those without it. */
const tracesOf = async (program: string, paths: readonly string[]): Promise<readonly string[]> => {
  const untraced = await ask(program, paths, []);
  const traced = await ask(program, paths, ['--import', 'spanline/register']);
  expect(traced.statuses).toEqual(untraced.statuses);
  expect(traced.exit).toEqual(untraced.exit);
  expect(traced.said).not.toMatch(/spanline:|Warning/);
  return traced.traces;
};

test('SvelteKit: its spans below the request, whose route is its own', { timeout: 300_000 }, async () => {
  const folder = built('sveltekit', 'vite/bin/vite.js');
  const traces = await tracesOf(join(folder, 'build/index.js'), ['/books/1', '/api/books/2', '/nowhere']);
  expect(traces).toEqual([
    `server GET /books/[id]
  internal sveltekit.handle.root
    internal sveltekit.resolve
      internal sveltekit.load
        internal sveltekit.handle.root
          internal sveltekit.resolve`,
    `server GET /api/books/[id]
  internal sveltekit.handle.root
    internal sveltekit.resolve`,
    `server GET
  internal sveltekit.handle.root
    internal sveltekit.resolve`,
  ]);
});

test('Nitro: routes by a plugin that calls setRoute', { timeout: 300_000 }, async () => {
  const folder = built('nitro', 'nitropack/dist/cli/index.mjs');
  const traces = await tracesOf(join(folder, '.output/server/index.mjs'), ['/books/1', '/books/9', '/nowhere']);
  expect(traces).toEqual(['server GET /books/:id', 'server GET /books/:id', 'server GET']);
});
