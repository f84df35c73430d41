// npm test: install, build, then vitest; arguments go to vitest (npm test -- test/clock).
import { join } from 'node:path';
import { ensureBuilt } from './lib/build.mjs';
import { become, failWith, root } from './lib/run.mjs';

await ensureBuilt().catch(failWith);
// Test files that start the command or look at the package ask for a build of their own, each.
process.env.SPANLINE_IS_BUILT = '1';
become(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...process.argv.slice(2)]);
