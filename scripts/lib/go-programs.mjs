// Builds servers that tests talk to from their Go modules, with the Go on PATH, into a cache that all checkouts of a machine share. It installs
// nothing, and a program that is not whole never stands at the place.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { setPriority } from 'node:os';
import { basename, dirname, join } from 'node:path';
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

/** The module's own files, downloaded and compared with its checksums; `folder` becomes a module that requires it and nothing else. */
function download(folder, { module, version, checksums }) {
  // Checksums of the module itself are given. Those of what it needs are in its own go.sum, so that none has to be asked for.
  const sums = `${module} ${version} ${checksums[0]}\n${module} ${version}/go.mod ${checksums[1]}\n`;
  writeFileSync(join(folder, 'go.mod'), `module build\n\n${goLine}\n\nrequire ${module} ${version}\n`);
  writeFileSync(join(folder, 'go.sum'), sums);
  const found = execFileSync('go', ['mod', 'download', '-json', module], { cwd: folder, env: ENV, encoding: 'utf8' });
  return JSON.parse(found).Dir;
}

/** In `folder` a module of ours with the file `main`, which requires the other one and all that this requires, in its versions. */
function makeModule(folder, plan) {
  const source = download(folder, plan);
  const read = (name) => readFileSync(join(source, name), 'utf8');
  // A `replace` holds only in the module that is built.
  appendFileSync(join(folder, 'go.mod'), read('go.mod').replace(/^(?:module|go|toolchain) .*$/gm, ''));
  appendFileSync(join(folder, 'go.sum'), read('go.sum'));
  copyFileSync(plan.main, join(folder, 'main.go'));
}

/** In `folder` a copy of the module, with a file of ours in place of all that Go compiles in some of its packages. */
function copyModule(folder, plan) {
  cpSync(download(folder, plan), folder, { recursive: true });
  // What Go has downloaded is read-only.
  runQuietly('chmod', ['-R', 'u+w', folder]);
  for (const [name, file] of Object.entries(plan.packages)) {
    const place = join(folder, name);
    for (const old of readdirSync(place)) if (old.endsWith('.go')) rmSync(join(place, old));
    copyFileSync(file, join(place, basename(file)));
  }
}

function build(name, plan) {
  const { version, built, target } = plan;
  console.error(`building ${name} ${version} into ${built}, which takes some minutes, once a machine ...`);
  const place = dirname(built);
  // What a build that was killed has left.
  for (const old of readdirSync(place)) {
    if (old.startsWith('build-')) rmSync(join(place, old), { recursive: true, force: true });
  }
  const folder = mkdtempSync(join(place, 'build-'));
  try {
    if (plan.folder !== undefined) cpSync(plan.folder, folder, { recursive: true });
    else if (plan.packages === undefined) makeModule(folder, plan);
    else copyModule(folder, plan);
    const fresh = join(folder, 'program');
    runQuietly('go', ['build', '-trimpath', '-ldflags=-s -w', '-o', fresh, target], { cwd: folder, env: ENV });
    renameSync(fresh, built);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * A program that is here, or the one built with Go, at low priority; undefined where there is neither. Another process that builds it is
 * waited for. `target` is the package that is built: of a module of ours with the file `main`, of a copy with `packages` of ours, or of the module in
 * `folder`.
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
