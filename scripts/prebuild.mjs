// npm run prebuilds: the binaries that are published, for linux-x64: tsc.node and sigprof.node (Node-API, one for all lines) and one
// fast-call file for each Node line, each built with the headers of that line and self-tested by that very Node. Fails when any is missing.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled } from './lib/install.mjs';
import { withLock } from './lib/lock.mjs';
import { nodePackage } from './lib/nodes.mjs';
import { failWith, root } from './lib/run.mjs';

/** Node line -> its ABI. */
const LINES = { 20: 115, 22: 127, 24: 137, 26: 147 };

/** One for all lines. */
const SHARED = ['tsc.node', 'sigprof.node'];

/** Minor version of the oldest glibc 2 that the official binaries of these lines run on: the addon must not need more. */
const OLDEST_GLIBC = 28;

function glibcOf(file) {
  const versions = [...readFileSync(file, 'latin1').matchAll(/GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor));
  return Math.max(0, ...versions);
}

function build(major, out) {
  const node = join(nodePackage(major), 'bin/node');
  const { status } = spawnSync(node, [join(root, 'scripts/build-native.mjs'), '--out', out], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    env: { ...process.env, SPANLINE_REQUIRE_NATIVE: '1' },
  });
  if (status !== 0) throw new Error(`the build for Node ${major} failed`);
}

// Node-API promises that one binary does for all lines; here it is tried.
function loadOn(major, file) {
  const node = join(nodePackage(major), 'bin/node');
  const { status, stderr } = spawnSync(node, ['-e', 'require(process.argv[1])', file], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`Node ${major} cannot load ${file}: ${stderr.trim()}`);
}

// An old set stays in place until the new one is complete.
function buildAll() {
  const fresh = join(root, '.tmp/prebuilds');
  const out = join(root, 'prebuilds/linux-x64');
  rmSync(fresh, { recursive: true, force: true });
  for (const major of Object.keys(LINES)) build(major, fresh);
  const missing = Object.entries(LINES).filter(([, abi]) => !existsSync(join(fresh, `tsc-fast-${abi}.node`)));
  if (missing.length > 0) throw new Error(`no fast call for Node ${missing.map(([major]) => major).join(', ')}`);
  for (const name of SHARED) for (const major of Object.keys(LINES)) loadOn(major, join(fresh, name));
  const tooNew = readdirSync(fresh).filter((name) => glibcOf(join(fresh, name)) > OLDEST_GLIBC);
  if (tooNew.length > 0) throw new Error(`needs a glibc newer than 2.${OLDEST_GLIBC}: ${tooNew.join(', ')}`);
  mkdirSync(join(root, 'prebuilds'), { recursive: true });
  rmSync(out, { recursive: true, force: true });
  renameSync(fresh, out);
  for (const name of readdirSync(out))
    console.log(`${statSync(join(out, name)).size} bytes  prebuilds/linux-x64/${name}`);
}

async function main() {
  if (process.platform !== 'linux' || process.arch !== 'x64') throw new Error('prebuilds are made on linux-x64');
  ensureInstalled(root);
  // All builds share one folder of objects; tests and commands may start one at any time.
  await withLock(join(root, '.tmp/build.lock'), buildAll);
}

await main().catch(failWith);
