// .ci/run: lint, types, every test (full-checks.mjs), the package, and the benchmark gate. Prints minutes by check. Every test counts as one in
// the closing line, and so does every other check. Goes on after a failure, to show all, and tries nothing twice.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Checks } from './lib/checks.mjs';
import { addFullChecks } from './lib/full-checks.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { failWith, root } from './lib/run.mjs';

const script = (name) => join(root, 'scripts', name);

/** Begins what takes long on a fresh machine; resolves when tests can start, though two programs may still be built for the last of them. */
const provideTools = () =>
  new Promise((resolve) => {
    // What cannot run is a failure with it, instead of being skipped.
    process.env.CI ||= 'true';
    const child = spawn(process.execPath, [script('provide-tools.mjs')], { stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('error', ({ message }) => resolve(console.error(message))).on('exit', resolve);
  });

async function main() {
  const checks = new Checks();
  const tools = provideTools();
  // Beside it, what needs none of them.
  ensureInstalled(root);
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
  checks.check('lint and format (npm run lint)', process.execPath, [biome, 'ci', '--colors=off', '.']);
  // The types of examples and tests are those of the built package.
  checks.check('build (npm run build)', process.execPath, [script('build.mjs')]);
  checks.check('types (npm run typecheck)', 'npm', ['run', '-s', 'typecheck']);
  await tools;
  addFullChecks(checks);
  checks.check('package (npm run check-package)', process.execPath, [script('check-package.mjs')]);
  checks.check('benchmark gate', process.execPath, [join(root, 'bench/gate.mjs')]);
  checks.finish();
}

await main().catch(failWith);
