// Brings dist and the native addon up to date. Must be cheap when they are (some 20 ms), and must print nothing on standard output.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from './bundle.mjs';
import { emitDeclarations } from './declarations.mjs';
import { ensureInstalled } from './install.mjs';
import { withLock } from './lock.mjs';
import { buildPage } from './page.mjs';
import { root, runBeside } from './run.mjs';
import { hashFiles, readStamp, writeStamp } from './stamp.mjs';

const at = (path) => join(root, path);
const stampFile = (step) => at(`dist/.stamps/${step}`);

const sources = ['src', 'package.json', 'tsconfig.json', 'tsconfig.build.json'];

const NATIVE = `native-${process.versions.modules}`;

const steps = {
  bundle: {
    lock: 'dist',
    inputs: [...sources, 'scripts/lib/bundle.mjs', 'scripts/lib/to-commonjs.mjs'],
    output: 'dist/esm/index.js',
    run: async () => {
      rmSync(stampFile('types'), { force: true });
      await bundle();
    },
  },
  types: {
    lock: 'dist',
    inputs: [...sources, 'scripts/lib/declarations.mjs', 'scripts/lib/visible-declarations.mjs'],
    output: 'dist/cjs/index.d.ts',
    run: emitDeclarations,
  },
  page: {
    lock: 'dist',
    inputs: ['src/ui', 'package.json', 'scripts/lib/page.mjs', 'scripts/lib/speedscope.mjs'],
    output: 'dist/ui/index.html',
    run: buildPage,
  },
  // Built for the Node that runs this script; a machine without a compiler goes on without (the clock has a fallback).
  [NATIVE]: {
    lock: 'native',
    inputs: ['native', 'scripts/build-native.mjs', 'scripts/lib/fast-call-self-test.mjs'],
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
  await bringUpToDate('bundle');
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
