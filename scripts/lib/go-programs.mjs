// Builds servers that tests talk to from their Go modules, with the Go on PATH, into a cache that all checkouts of a machine share. It installs
// nothing, and a program that is not whole never stands at the place.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { setPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { withLock } from './lock.mjs';
import { runQuietly } from './run.mjs';

const GO_AT_LEAST = [1, 25];

const ENV = { ...process.env, GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local', GOWORK: 'off', CGO_ENABLED: '0' };

/** Whether the `go` on PATH is new enough. */
export function hasGo() {
  const { status, stdout } = spawnSync('go', ['env', 'GOVERSION'], { encoding: 'utf8', env: ENV });
  const [, major, minor] = (status === 0 && /go(\d+)\.(\d+)/.exec(stdout)) || [];
  return major !== undefined && (Number(major) - GO_AT_LEAST[0] || Number(minor) - GO_AT_LEAST[1]) >= 0;
}

const goLine = `go ${GO_AT_LEAST.join('.')}.0`;

/** A module that requires another and all that it requires, in its versions. A `replace` holds only in the module that is built. */
function makeModule(folder, { module, version, checksums }) {
  const goMod = join(folder, 'go.mod');
  const goSum = join(folder, 'go.sum');
  // Checksums of the module itself are given. Those of what it needs are in its own go.sum, so that none has to be asked for.
  const sums = `${module} ${version} ${checksums[0]}\n${module} ${version}/go.mod ${checksums[1]}\n`;
  writeFileSync(goMod, `module build\n\n${goLine}\n\nrequire ${module} ${version}\n`);
  writeFileSync(goSum, sums);
  const found = execFileSync('go', ['mod', 'download', '-json', module], { cwd: folder, env: ENV, encoding: 'utf8' });
  const source = JSON.parse(found).Dir;
  const own = readFileSync(join(source, 'go.mod'), 'utf8').replace(/^(?:module|go|toolchain) .*$/gm, '');
  writeFileSync(goMod, `module build\n\n${goLine}\n\nrequire ${module} ${version}\n${own}`);
  writeFileSync(goSum, readFileSync(join(source, 'go.sum'), 'utf8') + sums);
}

function build(name, plan) {
  const { version, built, target, main } = plan;
  console.error(`building ${name} ${version} into ${built}, which takes some minutes, once a machine ...`);
  const place = dirname(built);
  // What a build that was killed has left.
  for (const old of readdirSync(place)) {
    if (old.startsWith('build-')) rmSync(join(place, old), { recursive: true, force: true });
  }
  const folder = mkdtempSync(join(place, 'build-'));
  try {
    makeModule(folder, plan);
    if (main !== undefined) copyFileSync(main, join(folder, 'main.go'));
    const fresh = join(folder, 'program');
    runQuietly('go', ['build', '-trimpath', '-ldflags=-s -w', '-o', fresh, target], { cwd: folder, env: ENV });
    renameSync(fresh, built);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * A program that is here, or the one built with Go, at low priority; undefined where there is neither. Another process that builds it is
 * waited for. `target` is the package that is built; with `main`, a file of Go, it is that.
 * @returns {Promise<string | undefined>}
 */
export async function ensureProgram(name, find, plan) {
  const found = find();
  if (found !== undefined) return found;
  if (!hasGo()) return undefined;
  mkdirSync(dirname(plan.built), { recursive: true });
  // Tests run beside it.
  setPriority(10);
  await withLock(`${plan.built}.lock`, () => {
    if (find() === undefined) build(name, plan);
  });
  return plan.built;
}
