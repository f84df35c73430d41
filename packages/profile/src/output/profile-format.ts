// The formats a profile is written in, by name. A writer is opened first (its package may be missing) and then writes without waiting:
// also in a process that is about to end.
import type { LabelledProfile } from '../labelled-profile.js';
import { toCpuProfile } from './cpuprofile.js';
import { toFolded } from './folded.js';
import { encodePprof, type PprofOptions } from './pprof.js';
import { toSpeedscope } from './speedscope.js';

/** Names of the formats a profile is written in. */
export type ProfileFormat = 'pprof' | 'cpuprofile' | 'speedscope' | 'folded';

/** All formats, for a list of choices. */
export const PROFILE_FORMATS: readonly ProfileFormat[] = ['pprof', 'cpuprofile', 'speedscope', 'folded'];

/** Writes profiles in one format. */
export interface ProfileWriter {
  readonly format: ProfileFormat;
  /** Of a file's name, with the dot. */
  readonly extension: string;
  write(profile: LabelledProfile): Uint8Array;
}

export interface WriterOptions extends PprofOptions {
  /** For speedscope: label key to divide by. Default: all labels of a sample together. */
  readonly by?: string;
}

export const EXTENSION_OF: Readonly<Record<ProfileFormat, string>> = {
  pprof: '.pb.gz',
  cpuprofile: '.cpuprofile',
  speedscope: '.speedscope.json',
  folded: '.folded',
};

const json = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));

/**
 * Open the writer of a format by its name.
 *
 * For a format that is chosen at run time, and for writing where nothing can be awaited.
 *
 * @example
 * ```ts
 * import { writeFileSync } from 'node:fs';
 * import { openWriter, profile } from '@spanline/profile';
 * const { extension, write } = await openWriter('folded');
 * writeFileSync(`cpu${extension}`, write(await profile({ durationMs: 20 })));
 * ```
 */
export const openWriter = async (format: ProfileFormat, options: WriterOptions = {}): Promise<ProfileWriter> => {
  const extension = EXTENSION_OF[format];
  switch (format) {
    case 'pprof': {
      const pprof = await import('pprof-format');
      return { format, extension, write: (profile) => encodePprof(pprof, profile, options) };
    }
    case 'cpuprofile':
      return { format, extension, write: (profile) => json(toCpuProfile(profile)) };
    case 'speedscope':
      return { format, extension, write: (profile) => json(toSpeedscope(profile, options)) };
    case 'folded':
      return { format, extension, write: (profile) => Buffer.from(toFolded(profile)) };
  }
};
