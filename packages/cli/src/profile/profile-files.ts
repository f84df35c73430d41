// Files of profile commands: profiles read with errors that name the file, and written whole or not at all.
import { createReadStream } from 'node:fs';
import { type LabelledProfile, ProfileOutputError, type ReadProfileOptions } from '@spanline/profile';
import { readProfileStream } from '@spanline/profile/internal';
import { runSync, targetFailure, writeWhole as writeWholeFile } from 'spanline/internal/base';

/** For the commands that read files of other profilers. */
export const SAMPLE_TYPE = [
  '--sample-type <type>',
  'type of the values of a pprof file, such as wall-time (default: CPU time)',
] as const;

/** The profile in a file; `-` is standard input. */
export const readProfileFile = async (file: string, options?: ReadProfileOptions): Promise<LabelledProfile> => {
  try {
    return await readProfileStream(file === '-' ? process.stdin : createReadStream(file), file, options);
  } catch (error) {
    if (error instanceof ProfileOutputError) throw error;
    throw targetFailure(`${file} cannot be read: ${(error as Error).message}`, error);
  }
};

/** Write a file whole: also in a process that is about to end. */
export const writeWhole = (file: string, bytes: Uint8Array): void => {
  try {
    runSync(writeWholeFile(file, [bytes], { takesSpecial: true }));
  } catch (error) {
    throw targetFailure(`${file} cannot be written: ${(error as Error).message}`, error);
  }
};
