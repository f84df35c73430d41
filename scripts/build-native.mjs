// Builds the addons for the Node that runs this script: sigprof.node and tsc.node (Node-API) and, if its self-test passes, the
// fast-call file of this ABI. Without a compiler it says so in one line and ends well: the library works without an addon.
//
//   node scripts/build-native.mjs [--out DIR] [--arch arm64]
//
// --arch arm64 cross-compiles with Debian's g++-aarch64-linux-gnu and tests by the arm64 Node of the same line under qemu-user.
// SPANLINE_REQUIRE_NATIVE=1 makes a failed build a failure.
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ADDONS } from './lib/addons.mjs';
import { nodeCommand, nodePackage } from './lib/nodes.mjs';
import { root } from './lib/run.mjs';

const { values } = parseArgs({ options: { out: { type: 'string' }, arch: { type: 'string', default: process.arch } } });
const { arch } = values;
const isCross = arch !== process.arch;
const major = process.versions.node.split('.')[0];
const outOf = (addon) => resolve(values.out ?? join(root, ADDONS[addon], 'out'));
const builtOf = (addon) => join(root, ADDONS[addon], 'build/Release');
const abi = process.versions.modules;

const PREFIX = 'aarch64-linux-gnu-';
const CROSS = {
  CC: `${PREFIX}gcc`,
  CXX: `${PREFIX}g++`,
  AR: `${PREFIX}ar`,
  LINK: `${PREFIX}g++`,
  GYP_CROSSCOMPILE: '1',
};

const attempt = (command, args, env = process.env) =>
  new Promise((resolve) => {
    execFile(command, args, { cwd: root, env, maxBuffer: 1 << 26 }, (error, stdout, stderr) =>
      resolve({ ok: error === null, output: `${error?.message ?? ''}${stdout}${stderr}` }),
    );
  });

function giveUp(what, output) {
  const isRequired = process.env.SPANLINE_REQUIRE_NATIVE === '1';
  if (isRequired) console.error(output);
  console.error(`${what}; spanline works without it`);
  process.exit(isRequired ? 1 : 0);
}

async function compile(addon) {
  // The headers that belong to this very Node, when they lie beside it; else node-gyp looks for them itself.
  const prefix = isCross ? nodePackage(major, arch) : dirname(dirname(process.execPath));
  const headers = existsSync(join(prefix, 'include/node/node.h')) ? [`--nodedir=${prefix}`] : [];
  // A folder in npm's settings comes before the option, and may be that of another Node.
  const { npm_config_nodedir, ...env } = process.env;
  if (headers.length === 0 && npm_config_nodedir !== undefined) env.npm_config_nodedir = npm_config_nodedir;
  if (isCross) Object.assign(env, CROSS);
  const gyp = join(root, 'node_modules/node-gyp/bin/node-gyp.js');
  const { ok, output } = await attempt(
    process.execPath,
    [gyp, 'rebuild', '-C', ADDONS[addon], `--arch=${arch}`, '--jobs=max', ...headers],
    env,
  );
  if (!ok) giveUp(`the addon ${addon} could not be built (is there a C++ compiler?)`, output);
}

// Renamed into place: a process that has the old file open keeps it, and nobody ever loads half a file.
async function install(from, name, out) {
  mkdirSync(out, { recursive: true });
  const place = join(out, name);
  copyFileSync(from, `${place}.new`);
  if (process.platform === 'linux')
    await attempt(isCross ? `${PREFIX}strip` : 'strip', ['--strip-unneeded', `${place}.new`]);
  renameSync(`${place}.new`, place);
}

async function buildClock() {
  await compile('tsc');
  const built = builtOf('tsc');
  const out = outOf('tsc');
  await install(join(built, 'tsc.node'), 'tsc.node', out);
  const [command, ...args] = isCross ? nodeCommand(major, arch) : [process.execPath];
  const test = await attempt(command, [
    ...args,
    join(root, 'scripts/lib/fast-call-self-test.mjs'),
    join(built, 'tsc.node'),
    join(built, 'tsc_fast.node'),
  ]);
  if (test.ok) {
    await install(join(built, 'tsc_fast.node'), `tsc-fast-${abi}.node`, out);
    console.error(`native clock for ${arch}, ABI ${abi}: ${test.output.trim()}`);
  } else {
    rmSync(join(out, `tsc-fast-${abi}.node`), { force: true });
    console.error(
      `native clock for ${arch}, ABI ${abi}: no fast call (${/^\w*Error: .*$/m.exec(test.output)?.[0] ?? 'the self-test ended'}), Node-API instead`,
    );
  }
}

async function buildProfiler() {
  await compile('sigprof');
  await install(join(builtOf('sigprof'), 'sigprof.node'), 'sigprof.node', outOf('sigprof'));
}

// V8 samples by signal on Linux alone.
await Promise.all([buildClock(), ...(process.platform === 'linux' ? [buildProfiler()] : [])]);
