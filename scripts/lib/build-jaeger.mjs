// Builds Jaeger where there is none, with the Go on PATH, into a cache that all checkouts of a machine share. It installs nothing, and a
// program that is not whole never stands at the place.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { BUILT, findJaeger, VERSION } from './jaeger.mjs';
import { withLock } from './lock.mjs';
import { runQuietly } from './run.mjs';

const MODULE = 'github.com/jaegertracing/jaeger';
const GO_AT_LEAST = [1, 25];

/** Checksums of the module itself. Those of what it needs are in its own go.sum, so that none has to be asked for. */
const CHECKSUMS = `${MODULE} ${VERSION} h1:sWCOOF1dr+NL0PLil7mFo3BqqQL8k4WiM7aguFbc14g=
${MODULE} ${VERSION}/go.mod h1:hqcuJlLDTv7G2x5eFd/BhwcPdLxj3N+90aKhIzdOcKo=
`;

const ENV = { ...process.env, GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local', GOWORK: 'off', CGO_ENABLED: '0' };

/** Whether the `go` on PATH is new enough. */
export function hasGo() {
  const { status, stdout } = spawnSync('go', ['env', 'GOVERSION'], { encoding: 'utf8', env: ENV });
  const [, major, minor] = (status === 0 && /go(\d+)\.(\d+)/.exec(stdout)) || [];
  return major !== undefined && (Number(major) - GO_AT_LEAST[0] || Number(minor) - GO_AT_LEAST[1]) >= 0;
}

const goLine = `go ${GO_AT_LEAST.join('.')}.0`;

/** A module that requires Jaeger and all that Jaeger requires, in its versions. A `replace` holds only in the module that is built. */
function makeModule(folder) {
  const goMod = join(folder, 'go.mod');
  const goSum = join(folder, 'go.sum');
  writeFileSync(goMod, `module build\n\n${goLine}\n\nrequire ${MODULE} ${VERSION}\n`);
  writeFileSync(goSum, CHECKSUMS);
  const found = execFileSync('go', ['mod', 'download', '-json', MODULE], { cwd: folder, env: ENV, encoding: 'utf8' });
  const source = JSON.parse(found).Dir;
  const own = readFileSync(join(source, 'go.mod'), 'utf8').replace(/^(?:module|go|toolchain) .*$/gm, '');
  writeFileSync(goMod, `module build\n\n${goLine}\n\nrequire ${MODULE} ${VERSION}\n${own}`);
  writeFileSync(goSum, readFileSync(join(source, 'go.sum'), 'utf8') + CHECKSUMS);
}

function build() {
  console.error(`building Jaeger ${VERSION} into ${BUILT}, which takes some minutes, once a machine ...`);
  const place = dirname(BUILT);
  // What a build that was killed has left.
  for (const name of readdirSync(place)) {
    if (name.startsWith('build-')) rmSync(join(place, name), { recursive: true, force: true });
  }
  const folder = mkdtempSync(join(place, 'build-'));
  try {
    makeModule(folder);
    const fresh = join(folder, 'jaeger');
    runQuietly('go', ['build', '-trimpath', '-ldflags=-s -w', '-o', fresh, `${MODULE}/cmd/jaeger`], {
      cwd: folder,
      env: ENV,
    });
    renameSync(fresh, BUILT);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * A Jaeger that is here, or the one built with Go, at low priority; undefined where there is neither. Another process that builds it is
 * waited for.
 * @returns {Promise<string | undefined>}
 */
export async function ensureJaeger() {
  const found = findJaeger();
  if (found !== undefined) return found;
  if (!hasGo()) return undefined;
  mkdirSync(dirname(BUILT), { recursive: true });
  // Tests run beside it.
  setPriority(10);
  await withLock(`${BUILT}.lock`, () => {
    if (findJaeger() === undefined) build();
  });
  return BUILT;
}
