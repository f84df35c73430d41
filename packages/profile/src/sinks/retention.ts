// Which files of a directory of profiles must go: by number, age and size together. Looks at names that this library gave and at no
// other: whatever else lies in the directory stays.
import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** What is kept; the newest file always is. */
export interface Retention {
  /** Files at most. Default 100. */
  readonly files?: number;
  /** Milliseconds since a file was written. Default: for ever. */
  readonly ageMs?: number;
  /** Bytes of all files together. Default 1 GiB. */
  readonly bytes?: number;
}

const DEFAULT_FILES = 100;
const DEFAULT_BYTES = 1 << 30;
/** A temporary file that nobody wrote to for so long is of a process that died. */
const STALE_MS = 3_600_000;

/** Name of a profile begun at `unixMs`: names in order are profiles in order of time. */
export const profileFileName = (unixMs: number, number: number, threadId: number, extension: string): string => {
  const time = new Date(unixMs).toISOString().replaceAll(':', '');
  return `spanline-${time}-${process.pid}-${threadId}-${number}${extension}`;
};

const OWN = /^spanline-[\d-]{10}T[\d.]{10}Z-\d+-\d+-\d+(\.pb\.gz|\.cpuprofile|\.speedscope\.json|\.folded)$/;
const TEMPORARY = /^\.spanline-[\d-]{10}T[\d.]{10}Z-\d+-\d+-\d+\.[\w.-]+\.tmp$/;

interface Found {
  readonly path: string;
  readonly name: string;
  readonly bytes: number;
  readonly writtenMs: number;
}

const isGone = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

// Another process may keep the same directory tidy.
const look = async (dir: string, pattern: RegExp): Promise<Found[]> => {
  const names = (await readdir(dir)).filter((name) => pattern.test(name)).sort();
  const found = await Promise.all(
    names.map(async (name): Promise<Found | undefined> => {
      const path = join(dir, name);
      try {
        const { size, mtimeMs } = await stat(path);
        return { path, name, bytes: size, writtenMs: mtimeMs };
      } catch (error) {
        if (isGone(error)) return undefined;
        throw error;
      }
    }),
  );
  return found.filter((each) => each !== undefined);
};

const remove = async ({ path }: Found): Promise<boolean> => {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
};

/** Remove what is beyond the bounds; gives the number of files removed, and why some could not be. */
export const applyRetention = async (
  dir: string,
  { files = DEFAULT_FILES, ageMs = Number.POSITIVE_INFINITY, bytes = DEFAULT_BYTES }: Retention,
  nowMs: number,
): Promise<{ readonly removed: number; readonly failure: unknown }> => {
  const newestFirst = (await look(dir, OWN)).reverse();
  let kept = 0;
  let keptBytes = 0;
  const doomed = newestFirst.filter((found, i) => {
    const isKept = i === 0 || (kept < files && keptBytes + found.bytes <= bytes && nowMs - found.writtenMs <= ageMs);
    if (!isKept) return true;
    kept++;
    keptBytes += found.bytes;
    return false;
  });
  const stale = (await look(dir, TEMPORARY)).filter(({ writtenMs }) => nowMs - writtenMs > STALE_MS);
  let removed = 0;
  let failure: unknown;
  for (const found of [...doomed, ...stale]) {
    try {
      if (await remove(found)) removed++;
    } catch (error) {
      // One that cannot be removed keeps none of the others.
      failure ??= error;
    }
  }
  return { removed, failure };
};
