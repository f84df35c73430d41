// Tests of what depends on the CPU, on linux-arm64: the same test files, run by the arm64 Node of npm under qemu-user. vitest itself and what
// compiles the sources run on this machine's own Node; the workers that run the tests, and every Node that they start, are arm64.
//
//   node scripts/test-arm64.mjs MAJOR [vitest's arguments]
import { chmodSync, cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { ADDONS, addonOf, PACKAGE_OF } from './lib/addons.mjs';
import { ensureBuilt } from './lib/build.mjs';
import { withLock } from './lib/lock.mjs';
import { nodeCommand, nodeOf } from './lib/nodes.mjs';
import { become, failWith, root, runQuietly } from './lib/run.mjs';

const ARCH = 'arm64';
const COPIED = [
  ...['src', 'packages', 'test', 'scripts', 'dist', 'docs', 'package.json', 'README.md', 'LICENSE', 'CHANGELOG.md'],
  ...['tsconfig.json', 'tsconfig.build.json', 'tsconfig.legacy-decorators.json', 'vitest.config.ts'],
];

/** A copy of the checkout whose addons are those for arm64: the checkout's own stay those of this machine. */
function copyTree(major) {
  const tree = join(root, `.tmp/arm64-${major}`);
  rmSync(tree, { recursive: true, force: true });
  // Libraries that tests of other folders trace are ten times as many files as all the rest.
  const filter = (path) => basename(path) !== 'node_modules';
  for (const path of COPIED) cpSync(join(root, path), join(tree, path), { recursive: true, filter });
  for (const folder of ['native/common', ...Object.values(ADDONS)]) {
    rmSync(join(tree, folder), { recursive: true, force: true });
    cpSync(join(root, folder), join(tree, folder), {
      recursive: true,
      filter: (path) => !/\/(build|out)$/.test(path),
    });
  }
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
  return tree;
}

async function buildAddons(tree, major) {
  const host = nodeOf(major);
  const env = { ...process.env, SPANLINE_REQUIRE_NATIVE: '1' };
  const out = join(root, '.tmp', `out-arm64-${major}`);
  rmSync(out, { recursive: true, force: true });
  await withLock(join(root, '.tmp/build.lock'), () =>
    runQuietly(host, [join(root, 'scripts/build-native.mjs'), '--arch', ARCH, '--out', out], { env }),
  );
  for (const [addon, folder] of Object.entries(ADDONS)) {
    // As a user gets them, for the tests of the package.
    for (const place of [join(folder, 'out'), join(PACKAGE_OF[addon], `prebuilds/linux-${ARCH}`)]) {
      cpSync(out, join(tree, place), {
        recursive: true,
        filter: (path) => path === out || addonOf(basename(path)) === addon,
      });
    }
  }
}

/** A program that starts the arm64 Node and is what that Node takes for itself, so that what it starts is arm64 too. */
function nodeProgram(tree, major) {
  const [program, preload] = [join(tree, '.tmp/node'), join(tree, '.tmp/exec-path.cjs')];
  mkdirSync(join(tree, '.tmp'), { recursive: true });
  writeFileSync(preload, `process.execPath = ${JSON.stringify(program)};\n`);
  const words = [...nodeCommand(major, ARCH), '--require', preload].map((word) => `'${word}'`);
  writeFileSync(program, `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`);
  chmodSync(program, 0o755);
  return program;
}

async function main() {
  const [major, ...args] = process.argv.slice(2);
  await ensureBuilt();
  const tree = copyTree(major);
  await buildAddons(tree, major);
  process.env.SPANLINE_IS_BUILT = '1';
  process.env.SPANLINE_TEST_NODE = nodeProgram(tree, major);
  // The compiler that some tests call is a program of its own, and that of this machine.
  process.env.ESBUILD_BINARY_PATH = createRequire(import.meta.url).resolve(
    `@esbuild/linux-${process.arch}/bin/esbuild`,
  );
  become(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...args], { cwd: tree });
}

await main().catch(failWith);
