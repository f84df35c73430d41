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
become(process.execPath, ['--enable-source-maps', join(root, 'dist/demo/main.js'), ...process.argv.slice(2)]);
