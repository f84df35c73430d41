// A sink that writes profiles to a directory, one file each, and removes what is beyond its bounds. A reader sees whole files only:
// written under a temporary name, then renamed.
import { join } from 'node:path';
import { runAsync, timers, writeWhole } from 'spanline/internal/base';
import { openWriter, PROFILE_FORMATS, type ProfileFormat, type WriterOptions } from '../output/profile-format.js';
import { ProfileOutputError } from '../profile-error.js';
import { type CountingSink, countingSink } from './profile-sink.js';
import { applyRetention, profileFileName, type Retention } from './retention.js';

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
  const wrong = (what: string): never => {
    throw new ProfileOutputError('ERR_SPANLINE_PROFILE_OPTION', what);
  };
  if (typeof dir !== 'string' || dir === '') wrong('dir is empty; name a directory');
  if (!PROFILE_FORMATS.includes(format))
    wrong(`format is ${String(format)}; give one of ${PROFILE_FORMATS.join(', ')}`);
  for (const [name, value] of Object.entries(keep)) {
    if (!(typeof value === 'number' && value > 0)) wrong(`keep.${name} is ${String(value)}; give a number above 0`);
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
