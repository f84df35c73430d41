// npm test: install, build, then vitest; arguments go to vitest (npm test -- test/clock).
import { join } from 'node:path';
import { ensureBuilt } from './lib/build.mjs';
import { become, failWith, root } from './lib/run.mjs';

await ensureBuilt().catch(failWith);
become(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...process.argv.slice(2)]);
