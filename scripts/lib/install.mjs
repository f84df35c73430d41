// Installs what a package-lock.json asks for when node_modules does not hold it yet.
// Must run on plain Node (nothing is installed when it starts), and must not touch a node_modules that is right:
// `npm ci` deletes it first.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withLockSync } from './lock.mjs';
import { runQuietly } from './run.mjs';

/**
 * True when node_modules of `dir` holds every package at the locked version, those of other platforms apart. `isWhole` asks for the optional
 * dependencies of `dir` itself too.
 */
export function isInstalled(dir, isWhole = false) {
  const hidden = join(dir, 'node_modules/.package-lock.json');
  if (!existsSync(hidden)) return false;
  const wanted = JSON.parse(readFileSync(join(dir, 'package-lock.json'), 'utf8')).packages;
  const found = JSON.parse(readFileSync(hidden, 'utf8')).packages;
  const optional = isWhole ? Object.keys(wanted[''].optionalDependencies ?? {}) : [];
  if (optional.some((name) => found[`node_modules/${name}`] === undefined)) return false;
  for (const [path, entry] of Object.entries(wanted)) {
    // A package of the workspace: the folder itself, and the link to it.
    if (!path.startsWith('node_modules/') && !path.includes('/node_modules/')) continue;
    if (entry.link) {
      if (!existsSync(join(dir, path))) return false;
      continue;
    }
    if (found[path] === undefined ? !entry.optional : found[path].version !== entry.version) return false;
  }
  return true;
}

/**
 * Install `dir` from its lock file if needed; silent when there is nothing to do.
 * No dependency runs an install script: none of ours needs one, and a build that needs one fails here, not at a user's.
 */
export function ensureInstalled(dir, what = 'dependencies', npmOptions = [], isWhole = false) {
  if (isInstalled(dir, isWhole)) return;
  // Test files that need the same folder begin side by side, and each `npm ci` deletes what the other has put there.
  withLockSync(join(dir, '.tmp/install.lock'), () => {
    if (!isInstalled(dir, isWhole)) install(dir, what, npmOptions);
  });
}

function install(dir, what, npmOptions) {
  console.error(`installing ${what} (npm ci) ...`);
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...npmOptions];
  const npm = process.env.npm_execpath;
  if (npm?.endsWith('.js')) runQuietly(process.execPath, [npm, ...args], { cwd: dir });
  else runQuietly('npm', args, { cwd: dir });
}
