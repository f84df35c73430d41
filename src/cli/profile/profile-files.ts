// Profiles as files of the command line: read with errors that name the file, written whole or not at all.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { LabelledProfile } from '../../profile/labelled-profile.js';
import { ProfileOutputError } from '../../profile/output/output-error.js';
import { readProfile } from '../../profile/output/read-profile.js';
import { targetFailure } from './profile-failure.js';

const STDIN = 0;

/** The profile in a file; `-` is standard input. */
export const readProfileFile = async (file: string): Promise<LabelledProfile> => {
  let bytes: Uint8Array;
  try {
    bytes = file === '-' ? readFileSync(STDIN) : await readFile(file);
  } catch (error) {
    throw targetFailure(`${file} cannot be read: ${(error as Error).message}`, error);
  }
  try {
    return await readProfile(bytes);
  } catch (error) {
    if (!(error instanceof ProfileOutputError)) throw error;
    throw new ProfileOutputError(error.code, `${file}: ${error.message}`, { cause: error });
  }
};

/** Write a file whole: also in a process that is about to end. */
export const writeWhole = (file: string, bytes: Uint8Array): void => {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, bytes);
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw targetFailure(`${file} cannot be written: ${(error as Error).message}`, error);
  }
};
