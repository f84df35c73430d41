// npm run test:full: every test with larger samples, the other lines of Node, and arm64 under qemu. Arguments name what vitest is to run on this
// Node alone (npm run test:full -- test/archive). `--nightly` as the first argument is npm run test:nightly: the same with whole samples.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { Checks } from './lib/checks.mjs';
import { addFullChecks } from './lib/full-checks.mjs';
import { root } from './lib/run.mjs';

const args = process.argv.slice(2);
const suite = args[0] === '--nightly' ? 'nightly' : 'full';
if (suite === 'nightly') args.shift();
if (args.length > 0) {
  const command = [join(root, 'scripts/test.mjs'), '--suite', suite, ...args];
  process.exitCode = spawnSync(process.execPath, command, { cwd: root, stdio: 'inherit' }).status ?? 1;
} else {
  const checks = new Checks();
  addFullChecks(checks, suite);
  checks.finish();
}
