// Brings dist and the native addon up to date. Must be cheap when they are (some 20 ms), and must print nothing on standard output.
import { existsSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ADDONS } from './addons.mjs';
import { bundle } from './bundle.mjs';
import { emitDeclarations } from './declarations.mjs';
import { ensureInstalled } from './install.mjs';
import { withLock } from './lock.mjs';
import { packages } from './packages.mjs';
import { buildPage } from './page.mjs';
import { root, runBeside } from './run.mjs';
import { hashFiles, readStamp, writeStamp } from './stamp.mjs';

const at = (path) => join(root, path);
const stampFile = (step) => at(`dist/.stamps/${step}`);

const sourcesOf = ({ folder }) => ['src', 'package.json'].map((path) => join(folder, path));
const TSCONFIG = ['tsconfig.json', 'tsconfig.build.json'];
const BUNDLER = ['bundle', 'packages', 'to-commonjs'].map((name) => `scripts/lib/${name}.mjs`);

const NATIVE = `native-${process.versions.modules}`;
const NATIVE_SCRIPTS = ['build-native', 'lib/addons', 'lib/fast-call-self-test'].map((name) => `scripts/${name}.mjs`);

/** The code of a package, which is bundled by itself: what it takes from another it finds there when it runs. */
const bundleStep = (one) => ({
  lock: 'dist',
  inputs: [...sourcesOf(one), ...TSCONFIG, ...BUNDLER],
  output: join(one.folder, 'dist/esm'),
  run: async () => {
    rmSync(stampFile('types'), { force: true });
    await bundle(one);
  },
});

const nameOfBundle = ({ folder }) => (folder === '' ? 'bundle' : `bundle-${basename(folder)}`);

const steps = {
  ...Object.fromEntries(packages.map((one) => [nameOfBundle(one), bundleStep(one)])),
  types: {
    lock: 'dist',
    inputs: [
      ...packages.flatMap(sourcesOf),
      ...TSCONFIG,
      ...['declarations', 'packages', 'visible-declarations'].map((name) => `scripts/lib/${name}.mjs`),
    ],
    output: 'dist/cjs/index.d.ts',
    run: emitDeclarations,
  },
  page: {
    lock: 'dist',
    inputs: ['packages/ui/src', 'package.json', 'scripts/lib/page.mjs'],
    output: 'packages/ui/dist/ui/index.html',
    run: buildPage,
  },
  // Built for the Node that runs this script; a machine without a compiler goes on without (the clock has a fallback).
  [NATIVE]: {
    lock: 'native',
    inputs: ['native/common', ...Object.values(ADDONS), ...NATIVE_SCRIPTS],
    output: 'native',
    run: () => runBeside(process.execPath, [at('scripts/build-native.mjs')]),
  },
};

async function bringUpToDate(name) {
  const { lock, inputs, output, run } = steps[name];
  const hash = hashFiles(inputs.map(at), process.arch);
  if (readStamp(stampFile(name)) === hash && existsSync(at(output))) return;
  await withLock(at(`.tmp/build-${lock}.lock`), async () => {
    if (readStamp(stampFile(name)) === hash && existsSync(at(output))) return;
    await run();
    writeStamp(stampFile(name), hash);
  });
}

async function buildJavaScript(types) {
  for (const one of packages) await bringUpToDate(nameOfBundle(one));
  if (types) await bringUpToDate('types');
  await bringUpToDate('page');
}

/**
 * Install what is missing and build what is stale.
 * `types: false` leaves the declarations out: nothing that only runs code needs them. With SPANLINE_IS_BUILT=1 who started this has built all.
 */
export async function ensureBuilt({ types = true } = {}) {
  if (process.env.SPANLINE_IS_BUILT === '1') return;
  ensureInstalled(root);
  // Side by side: the C++ compiler and the bundler share nothing, and each keeps one core busy.
  await Promise.all([bringUpToDate(NATIVE), buildJavaScript(types)]);
}
