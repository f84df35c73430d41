// node bench/gate/prepare.mjs: makes of a work tree what bench/gate/program.mjs needs, in seconds: the code, by the bundler of that commit, and the
// addons, which are the checkout's where their sources are. It must never write into the checkout, whose packages it only reads.
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runQuietly } from '../../scripts/lib/run.mjs';
import { hashFiles } from '../../scripts/lib/stamp.mjs';

const ADDONS = ['native/tsc'];
const WORKSPACE = ['spanline', '@spanline'];
const SOURCES = ['native', 'scripts/build-native.mjs'];

const tree = process.cwd();
const { SPANLINE_GATE_CHECKOUT: checkout } = process.env;

/** Packages of others are the checkout's; those of the workspace are the tree's own, where it has any: an archive must meet the core of its commit. */
function linkPackages() {
  const own = join(tree, 'node_modules');
  mkdirSync(own);
  for (const name of readdirSync(join(checkout, 'node_modules')))
    if (!WORKSPACE.includes(name)) symlinkSync(join(checkout, 'node_modules', name), join(own, name));
  symlinkSync(tree, join(own, 'spanline'));
  if (!existsSync(join(tree, 'packages'))) return;
  mkdirSync(join(own, '@spanline'));
  for (const name of readdirSync(join(tree, 'packages')))
    symlinkSync(join(tree, 'packages', name), join(own, '@spanline', name));
}

/** Of the contents, wherever they lie. */
const hashIn = (directory) => {
  process.chdir(directory);
  return hashFiles(SOURCES);
};

linkPackages();
mkdirSync(join(tree, 'dist'), { recursive: true });
const isSame = hashIn(checkout) === hashIn(tree);
for (const addon of ADDONS.map((path) => join(path, 'out'))) {
  const built = join(checkout, addon);
  if (isSame && existsSync(built)) cpSync(built, join(tree, addon), { recursive: true });
}
if (!isSame) runQuietly(process.execPath, [join(tree, 'scripts/build-native.mjs')], { cwd: tree });
const { bundle } = await import(pathToFileURL(join(tree, 'scripts/lib/bundle.mjs')).href);
await bundle();
// Where the archive is a package of its own, it and what it imports besides the core.
const list = join(tree, 'scripts/lib/packages.mjs');
if (existsSync(list)) {
  const { packages } = await import(pathToFileURL(list).href);
  for (const one of packages) if (/^packages\/(graph|archive)$/.test(one.folder)) await bundle(one);
}
