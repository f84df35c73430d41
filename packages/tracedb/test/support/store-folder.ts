// Where tests put LMDB stores: in memory where there is room, for a commit that waits for a disk takes half of such a test's time. What
// tests the disk itself, or what is left of a killed process, must not be put there.
import { mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY_DISK = '/dev/shm';
// Containers often have only 64 MiB there.
const MIN_FREE_BYTES = 2 ** 30;

const hasMemoryDisk = (): boolean => {
  try {
    const { bavail, bsize } = statfsSync(MEMORY_DISK);
    return bavail * bsize >= MIN_FREE_BYTES;
  } catch {
    return false;
  }
};

const parent = hasMemoryDisk() ? MEMORY_DISK : tmpdir();

/** A new directory whose name begins with `prefix`. */
export const storeFolder = (prefix: string): string => mkdtempSync(join(parent, prefix));
