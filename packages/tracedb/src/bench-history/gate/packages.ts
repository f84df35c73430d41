// The packages of the checkout in a work tree: directories of its own whose files are hard links, which takes a second where a copy takes many. A
// build that deletes or replaces them must never reach the checkout through the tree, and one that writes into them must not go unnoticed.
import { copyFileSync, cpSync, type Dirent, linkSync, mkdirSync, readlinkSync, statSync, symlinkSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { throwIfAborted } from 'spanline/internal/base';
import { BenchError } from '../bench-error.js';

/** What tools find again or make anew. */
const CACHES: ReadonlySet<string> = new Set(['.cache', '.vite', '.vite-temp', '.vitest']);
/** Where pnpm has the packages themselves. */
const PNPM_STORE = '.pnpm';

const aborted = (message: string, options: ErrorOptions): BenchError =>
  new BenchError('ERR_SPANLINE_BENCH_ABORTED', message, options);

/** False where the file cannot be shared, and has been copied: another disk, or a file system without hard links. */
const linkOrCopy = (from: string, to: string): boolean => {
  try {
    linkSync(from, to);
    return true;
  } catch {
    copyFileSync(from, to);
    return false;
  }
};

/**
 * Gives `to`, which is not there, what the `node_modules` at `from` has. What tools have generated beside the packages is copied, for they
 * write it in place; caches are left out; links stay as they are, so that those of a workspace lead into the work tree. Gives the files that
 * both share, by their paths in the checkout.
 */
export const sharePackages = async (from: string, to: string, signal?: AbortSignal): Promise<readonly string[]> => {
  const shared: string[] = [];
  const isGenerated = (name: string, isTop: boolean): boolean => isTop && name.startsWith('.') && name !== PNPM_STORE;
  const share = async (source: string, target: string, entry: Dirent, isTop: boolean): Promise<void> => {
    if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else if (isGenerated(entry.name, isTop)) cpSync(source, target, { recursive: true, verbatimSymlinks: true });
    else if (entry.isDirectory()) await shareDirectory(source, target);
    else if (entry.isFile() && linkOrCopy(source, target)) shared.push(source);
  };
  const shareDirectory = async (source: string, target: string, isTop = false): Promise<void> => {
    throwIfAborted(signal, 'sharing packages', aborted);
    mkdirSync(target);
    for (const entry of await readdir(source, { withFileTypes: true })) {
      if (isTop && CACHES.has(entry.name)) continue;
      await share(join(source, entry.name), join(target, entry.name), entry, isTop);
    }
  };
  await shareDirectory(from, to, true);
  return shared;
};

/** Throws `ERR_SPANLINE_BENCH_COMMAND` when one of the files that are shared was written through a link since then, Unix milliseconds. */
export const requireUnchanged = (shared: readonly string[], sinceMs: number): void => {
  const changed = shared.filter((path) => (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= sinceMs);
  if (changed.length === 0) return;
  throw new BenchError(
    'ERR_SPANLINE_BENCH_COMMAND',
    `the build has written into ${changed.length} files of packages that work trees share with the checkout, such as ${changed[0]}; ` +
      "install the packages of the checkout anew, and give work trees packages of their own: --install 'npm ci'",
  );
};
