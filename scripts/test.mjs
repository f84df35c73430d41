// npm test: installs, builds, then runs vitest on the quick suite; arguments go to vitest (npm test -- test/clock). In a package, which is the first
// argument, paths are those of the package (npm test -w packages/graph -- test/container). `--suite full` and
// `--suite nightly`, as the first argument, run more: the rule is in CONTRIBUTING.md.
import { join } from 'node:path';
import { ensureBuilt } from './lib/build.mjs';
import { become, failWith, root } from './lib/run.mjs';
import { filtersOf } from './lib/test-filters.mjs';

const args = process.argv.slice(2);
if (args[0] === '--suite') [, process.env.SPANLINE_TESTS] = args.splice(0, 2);

// No quick test reads the declarations, which take as long to make as all else.
await ensureBuilt({ types: (process.env.SPANLINE_TESTS ?? 'quick') !== 'quick' }).catch(failWith);
// Test files that start the command or look at the package ask for a build of their own, each.
process.env.SPANLINE_IS_BUILT = '1';
become(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...filtersOf(args)]);
