// npm run demo: install, build, and run examples/demo/main.ts from the repository's root.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt } from './lib/build.mjs';
import { become, failWith, root } from './lib/run.mjs';
import { transpile } from './lib/transpile.mjs';

const USAGE = `npm run demo [-- --ui]
  A query service on a real benchmark history: its slowest trace, regressions, what tracing costs, CPU by query.
  --ui   show its page in the browser then, until Ctrl-C`;

function readArguments() {
  const options = { ui: { type: 'boolean' }, help: { type: 'boolean' } };
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    console.error(`${error.message}\n${USAGE}`);
    process.exit(2);
  }
}

const { ui, help } = readArguments();
if (help) {
  console.log(USAGE);
  process.exit();
}

async function prepare() {
  await ensureBuilt({ types: false });
  await transpile('examples/demo', 'dist/demo');
}

await prepare().catch(failWith);
// As a service is started that is to be traced; where its traces go the program says itself.
become(
  process.execPath,
  ['--enable-source-maps', '--import', 'spanline/register', join(root, 'dist/demo/main.js'), ...(ui ? ['--ui'] : [])],
  { env: { ...process.env, OTEL_SERVICE_NAME: 'benchmark-history', OTEL_TRACES_EXPORTER: 'none' } },
);
