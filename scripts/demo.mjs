// npm run demo: install, build, and run examples/demo/main.ts from the repository's root.
import { join } from 'node:path';
import { ensureBuilt } from './lib/build.mjs';
import { become, failWith, root } from './lib/run.mjs';
import { transpile } from './lib/transpile.mjs';

async function prepare() {
  await ensureBuilt({ types: false });
  await transpile('examples/demo', 'dist/demo');
}

await prepare().catch(failWith);
// As a service is started that is to be traced; where its traces go the program says itself.
become(
  process.execPath,
  ['--enable-source-maps', '--import', 'spanline/register', join(root, 'dist/demo/main.js'), ...process.argv.slice(2)],
  { env: { ...process.env, OTEL_SERVICE_NAME: 'benchmark-history', OTEL_TRACES_EXPORTER: 'none' } },
);
