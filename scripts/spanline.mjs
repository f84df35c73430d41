// npm run -s spanline -- ARGS: the command line from a checkout. Prints nothing of its own on standard output.
import { join } from 'node:path';
import { ensureBuilt } from './lib/build.mjs';
import { become, failWith, root } from './lib/run.mjs';

await ensureBuilt({ types: false }).catch(failWith);
become(process.execPath, [join(root, 'packages/cli/dist/esm/main.js'), ...process.argv.slice(2)]);
