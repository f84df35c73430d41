// The files of the subjects. A build that was interrupted must never be taken for a whole one, nor one of other data or another format.
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from '../../scripts/lib/lock.mjs';
import { folder, history, size } from './settings.mjs';

/** Raised when the made-up data or what subjects write changes. */
const VERSION = 1;

const dataOf = (set) => (set === 'spans' ? size : history.tag);

/** Where a subject has its file of a key set. */
export const filePath = (subject, set, extension) =>
  join(folder, `${subject}-${set}-${dataOf(set)}-v${VERSION}.${extension}`);

/** A file or folder that lives no longer than this process. */
export const scratchPath = (name) => join(folder, `scratch-${process.pid}-${name}`);

/** Build `path` unless it is there. `build` is given the path to build at. */
export const buildOnce = async (path, build) => {
  mkdirSync(folder, { recursive: true });
  await withLock(`${path}.lock`, async () => {
    if (existsSync(path)) return;
    const fresh = `${path}.new`;
    rmSync(fresh, { recursive: true, force: true });
    await build(fresh);
    renameSync(fresh, path);
  });
};
