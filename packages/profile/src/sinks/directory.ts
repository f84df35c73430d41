// A sink that writes profiles to a directory, one file each, and removes what is beyond its bounds by number, age and size together. A reader sees
// whole files only: written under a temporary name, then renamed. Looks at names that this library gave and at no other: whatever else lies in the
// directory stays.

import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { runAsync, timers, undefinedIfGone, writeWhole } from 'spanline/internal/base';
import { openWriter, PROFILE_FORMATS, type ProfileFormat, type WriterOptions } from '../output/profile-format.js';
import { wrongOutputOption } from '../profile-error.js';
import { type CountingSink, countingSink } from './profile-sink.js';

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

// Another process may keep the same directory tidy.
const look = async (dir: string, pattern: RegExp): Promise<Found[]> => {
  const names = (await readdir(dir)).filter((name) => pattern.test(name)).sort();
  const found = await Promise.all(
    names.map(async (name): Promise<Found | undefined> => {
      const path = join(dir, name);
      const found = await stat(path).catch(undefinedIfGone);
      return found && { path, name, bytes: found.size, writtenMs: found.mtimeMs };
    }),
  );
  return found.filter((each) => each !== undefined);
};

const remove = ({ path }: Found): Promise<boolean> =>
  unlink(path).then(
    () => true,
    (error: unknown) => undefinedIfGone(error) ?? false,
  );

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

export interface DirectorySinkOptions extends WriterOptions {
  /** Made when it is not there. */
  readonly dir: string;
  /** Default `pprof`. */
  readonly format?: ProfileFormat;
  /** Default: 100 files and 1 GiB. The newest file is always kept. */
  readonly keep?: Retention;
}

export interface DirectorySinkStats {
  readonly profiles: number;
  readonly bytes: number;
  /** Profiles that could not be written. */
  readonly failures: number;
  /** Files removed to stay within the bounds. */
  readonly removed: number;
  /** Times that old files could not be removed; the profile was written all the same. */
  readonly retentionFailures: number;
  /** Path of the newest file. */
  readonly lastFile: string | undefined;
}

const NS_PER_MS = 1_000_000n;

const checked = ({ dir, format = 'pprof', keep = {} }: DirectorySinkOptions): void => {
  if (typeof dir !== 'string' || dir === '') throw wrongOutputOption('dir is empty; name a directory');
  if (!PROFILE_FORMATS.includes(format)) {
    throw wrongOutputOption(`format is ${String(format)}; give one of ${PROFILE_FORMATS.join(', ')}`);
  }
  for (const [name, value] of Object.entries(keep)) {
    if (typeof value === 'number' && value > 0) continue;
    throw wrongOutputOption(`keep.${name} is ${String(value)}; give a number above 0`);
  }
};

/**
 * A sink that writes every profile to a file of its own, named by the time it began, and keeps a bounded number of them.
 *
 * For continuous profiles on the machine itself. A directory may be shared by processes; files of others in it are left alone.
 *
 * @example
 * ```ts
 * import { tmpdir } from 'node:os';
 * import { continuousProfiler, directorySink } from '@spanline/profile';
 * const sink = directorySink({ dir: `${tmpdir()}/profiles`, keep: { files: 50, ageMs: 86_400_000 } });
 * const profiler = await continuousProfiler({ sink });
 * await profiler.stop();
 * console.log(sink.stats().lastFile);
 * ```
 */
export const directorySink = (options: DirectorySinkOptions): CountingSink<DirectorySinkStats> => {
  checked(options);
  const { dir, format = 'pprof', keep = {} } = options;
  let number = 0;
  const stats = {
    profiles: 0,
    bytes: 0,
    failures: 0,
    removed: 0,
    retentionFailures: 0,
    lastFile: undefined as string | undefined,
  };

  return countingSink(stats, async (profile) => {
    const writer = await openWriter(format, options);
    const beganMs = Number(profile.startUnixNs / NS_PER_MS);
    const file = join(dir, profileFileName(beganMs, number++, profile.threadId, writer.extension));
    const bytes = writer.write(profile);
    await runAsync(writeWhole(file, [bytes], { makesDirectory: true }));
    stats.bytes += bytes.length;
    stats.lastFile = file;
    try {
      const { removed, failure } = await applyRetention(dir, keep, timers.wallMs());
      stats.removed += removed;
      if (failure !== undefined) stats.retentionFailures++;
    } catch {
      stats.retentionFailures++;
    }
  });
};
