// Lets one process at a time merge and delete. Each shows a file of its own and looks for those of others: two that come at once both
// step back, and what a dead process left stands in nobody's way.
import { readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { timers } from 'spanline/internal/base';
import { lockName, newId, parseLockName } from './file-names.js';
import { isInUse, use } from './owner.js';

/** Milliseconds between two signs of life. */
const BEAT_MS = 5000;

/** Runs `work` unless another does the same in this directory; undefined then. */
export const withLock = async <T>(directory: string, work: () => Promise<T>): Promise<T | undefined> => {
  const name = lockName(newId());
  const path = join(directory, name);
  const release = use(path);
  let beat: NodeJS.Timeout | undefined;
  try {
    writeFileSync(path, '', { flag: 'wx' });
    beat = timers.setInterval(() => touch(path), BEAT_MS).unref();
    if (isTaken(directory, name)) return undefined;
    return await work();
  } finally {
    timers.clearInterval(beat);
    rmSync(path, { force: true });
    release();
  }
};

const touch = (path: string): void => {
  const now = timers.wallMs() / 1000;
  try {
    utimesSync(path, now, now);
  } catch {
    // Somebody took it for a dead one's; what is under way is finished all the same.
  }
};

const isTaken = (directory: string, own: string): boolean => {
  let isTakenByOther = false;
  for (const name of readdirSync(directory)) {
    const lock = name === own ? undefined : parseLockName(name);
    if (lock === undefined) continue;
    const path = join(directory, name);
    if (isInUse(lock.owner, path)) isTakenByOther = true;
    else rmSync(path, { force: true });
  }
  return isTakenByOther;
};
