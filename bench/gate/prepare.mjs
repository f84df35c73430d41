// node bench/gate/prepare.mjs: makes of a work tree what bench/gate/program.mjs needs, in seconds: the code, by the bundler of that commit, and the
// addons, which are the checkout's where their sources are. It must never write into the checkout, whose packages it only reads.
import { cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runQuietly } from '../../scripts/lib/run.mjs';
import { hashFiles } from '../../scripts/lib/stamp.mjs';

const ADDONS = ['native/tsc'];
const SOURCES = ['native', 'scripts/build-native.mjs'];

const tree = process.cwd();
const { SPANLINE_GATE_CHECKOUT: checkout } = process.env;

/** Of the contents, wherever they lie. */
const hashIn = (directory) => {
  process.chdir(directory);
  return hashFiles(SOURCES);
};

symlinkSync(join(checkout, 'node_modules'), join(tree, 'node_modules'));
mkdirSync(join(tree, 'dist'), { recursive: true });
const isSame = hashIn(checkout) === hashIn(tree);
for (const addon of ADDONS.map((path) => join(path, 'out'))) {
  const built = join(checkout, addon);
  if (isSame && existsSync(built)) cpSync(built, join(tree, addon), { recursive: true });
}
if (!isSame) runQuietly(process.execPath, [join(tree, 'scripts/build-native.mjs')], { cwd: tree });
const { bundle } = await import(pathToFileURL(join(tree, 'scripts/lib/bundle.mjs')).href);
await bundle();
