// npm run prebuilds: the binaries that are published, in `prebuilds` of each package with an addon, for linux-x64 and linux-arm64: tsc.node and
// sigprof.node (Node-API, one for all lines) and one fast-call file for each Node line, each built with the headers of that line and self-tested by
// that very Node, those for arm64 under qemu-user. Fails when any is missing, or would not load with every libc.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ADDONS, addonOf, PACKAGE_OF } from './lib/addons.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { withLock } from './lib/lock.mjs';
import { nodeCommand, nodePackage } from './lib/nodes.mjs';
import { failWith, root } from './lib/run.mjs';
import { faultsOfAddon } from './lib/standalone.mjs';

/** Node line -> its ABI. */
const LINES = { 20: 115, 22: 127, 24: 137, 26: 147 };

const ARCHES = ['x64', 'arm64'];

/** One for all lines. */
const SHARED = Object.keys(ADDONS).map((addon) => `${addon}.node`);

function build(major, arch, out) {
  const node = join(nodePackage(major), 'bin/node');
  const args = [join(root, 'scripts/build-native.mjs'), '--arch', arch, '--out', out];
  const { status } = spawnSync(node, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    env: { ...process.env, SPANLINE_REQUIRE_NATIVE: '1' },
  });
  if (status !== 0) throw new Error(`the build for Node ${major} on ${arch} failed`);
}

// Node-API promises that one binary does for all lines; here it is tried.
function loadOn(major, arch, file) {
  const [command, ...args] = nodeCommand(major, arch);
  const { status, stderr } = spawnSync(command, [...args, '-e', 'require(process.argv[1])', file], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`Node ${major} on ${arch} cannot load ${file}: ${stderr.trim()}`);
}

// An old set stays in place until the new one is complete.
function buildAll(arch) {
  const folder = `prebuilds/linux-${arch}`;
  const fresh = join(root, '.tmp', folder);
  rmSync(fresh, { recursive: true, force: true });
  for (const major of Object.keys(LINES)) build(major, arch, fresh);
  const missing = Object.entries(LINES).filter(([, abi]) => !existsSync(join(fresh, `tsc-fast-${abi}.node`)));
  if (missing.length > 0)
    throw new Error(`${arch}: no fast call for Node ${missing.map(([major]) => major).join(', ')}`);
  for (const name of SHARED) for (const major of Object.keys(LINES)) loadOn(major, arch, join(fresh, name));
  const faults = readdirSync(fresh).flatMap((name) =>
    faultsOfAddon(join(fresh, name)).map((fault) => `${name} ${fault}`),
  );
  if (faults.length > 0) throw new Error(`${folder}: ${faults.join(', ')}`);
  for (const addon of Object.keys(ADDONS)) {
    place(
      fresh,
      readdirSync(fresh).filter((name) => addonOf(name) === addon),
      join(PACKAGE_OF[addon], folder),
    );
  }
}

/** Move what was built to where the package has it, in place of what was there. */
function place(fresh, names, folder) {
  rmSync(join(root, folder), { recursive: true, force: true });
  mkdirSync(join(root, folder), { recursive: true });
  for (const name of names) {
    renameSync(join(fresh, name), join(root, folder, name));
    console.log(`${statSync(join(root, folder, name)).size} bytes  ${join(folder, name)}`);
  }
}

async function main() {
  if (process.platform !== 'linux' || process.arch !== 'x64') throw new Error('prebuilds are made on linux-x64');
  ensureInstalled(root);
  // All builds share one folder of objects; tests and commands may start one at any time.
  await withLock(join(root, '.tmp/build.lock'), () => {
    for (const arch of ARCHES) buildAll(arch);
  });
}

await main().catch(failWith);
