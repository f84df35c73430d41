// The tarball that would be published, packed once for all that look at it. It must never be an older one than what is built.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withLockSync } from './lock.mjs';
import { root } from './run.mjs';
import { hashFiles, readStamp, writeStamp } from './stamp.mjs';

const folder = join(root, '.tmp/pack');
const stamp = join(folder, 'stamp');
const description = join(folder, 'description.json');

const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const PACKED = [...files, 'package.json', 'README.md', 'LICENSE'];

function makeTarball() {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error(`npm pack failed:\n${stdout}${stderr}`);
  const parsed = JSON.parse(stdout);
  writeFileSync(description, JSON.stringify(Array.isArray(parsed) ? parsed[0] : Object.values(parsed)[0]));
}

/**
 * npm's description of it, and its path.
 * @returns {{ files: { path: string, size: number }[], size: number, unpackedSize: number, path: string }}
 */
export function pack() {
  const paths = PACKED.map((name) => join(root, name)).filter((path) => existsSync(path));
  return withLockSync(join(root, '.tmp/pack.lock'), () => {
    const hash = hashFiles(paths);
    if (readStamp(stamp) !== hash) {
      makeTarball();
      writeStamp(stamp, hash);
    }
    const made = JSON.parse(readFileSync(description, 'utf8'));
    return { ...made, path: join(folder, made.filename) };
  });
}
