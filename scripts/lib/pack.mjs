// The tarballs that would be published, each packed once for all that look at it. One must never be older than what is built.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { withLockSync } from './lock.mjs';
import { inPackage, manifestOf, packages } from './packages.mjs';
import { root } from './run.mjs';
import { hashFiles, readStamp, writeStamp } from './stamp.mjs';

const folderOf = ({ folder }) => join(root, '.tmp/pack', basename(folder) || 'spanline');

function makeTarball(one) {
  const out = folderOf(one);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', out];
  const options = { cwd: inPackage(one), encoding: 'utf8', maxBuffer: 1 << 26 };
  const { status, stdout, stderr } = spawnSync('npm', args, options);
  if (status !== 0) throw new Error(`npm pack failed:\n${stdout}${stderr}`);
  const parsed = JSON.parse(stdout);
  writeFileSync(
    join(out, 'description.json'),
    JSON.stringify(Array.isArray(parsed) ? parsed[0] : Object.values(parsed)[0]),
  );
}

/**
 * npm's description of a package's, and its path. The core's, when no package is named.
 * @param {import('./packages.mjs').Package} [one]
 * @returns {{ files: { path: string, size: number }[], size: number, unpackedSize: number, path: string }}
 */
export function pack(one = packages[0]) {
  const stamp = join(folderOf(one), 'stamp');
  const paths = [...manifestOf(one).files, 'package.json', 'README.md', 'LICENSE'].map((name) => inPackage(one, name));
  return withLockSync(join(root, '.tmp/pack.lock'), () => {
    const hash = hashFiles(paths.filter((path) => existsSync(path)));
    if (readStamp(stamp) !== hash) {
      makeTarball(one);
      writeStamp(stamp, hash);
    }
    const made = JSON.parse(readFileSync(join(folderOf(one), 'description.json'), 'utf8'));
    return { ...made, path: join(folderOf(one), made.filename) };
  });
}
