// npm run prebuilds: the binaries that are published, for linux-x64: tsc.node and one fast-call file for each Node line,
// each built with the headers of that line and self-tested by that very Node. Fails when any is missing.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled } from './lib/install.mjs';
import { nodePackage } from './lib/nodes.mjs';
import { failWith, root } from './lib/run.mjs';

/** Node line -> its ABI. */
const LINES = { 20: 115, 22: 127, 24: 137, 26: 147 };

function build(major, out) {
  const node = join(nodePackage(major), 'bin/node');
  const { status } = spawnSync(node, [join(root, 'scripts/build-native.mjs'), '--out', out], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    env: { ...process.env, SPANLINE_REQUIRE_NATIVE: '1' },
  });
  if (status !== 0) throw new Error(`the build for Node ${major} failed`);
}

function main() {
  if (process.platform !== 'linux' || process.arch !== 'x64') throw new Error('prebuilds are made on linux-x64');
  ensureInstalled(root);
  const out = join(root, 'prebuilds/linux-x64');
  rmSync(out, { recursive: true, force: true });
  for (const major of Object.keys(LINES)) build(major, out);
  const missing = Object.entries(LINES).filter(([, abi]) => !existsSync(join(out, `tsc-fast-${abi}.node`)));
  if (missing.length > 0) throw new Error(`no fast call for Node ${missing.map(([major]) => major).join(', ')}`);
  for (const name of readdirSync(out))
    console.log(`${statSync(join(out, name)).size} bytes  prebuilds/linux-x64/${name}`);
}

try {
  main();
} catch (error) {
  failWith(error);
}
