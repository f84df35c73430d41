// Files of profile commands: profiles read with errors that name the file, and written whole or not at all.
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { runSync } from '../../base/files/fs-steps.js';
import { writeWhole as writeWholeFile } from '../../base/files/whole-file.js';
import type { LabelledProfile } from '../../profile/labelled-profile.js';
import { ProfileOutputError } from '../../profile/output/output-error.js';
import { MOST_BYTES, readProfile } from '../../profile/output/read-profile.js';
import { targetFailure } from '../run-program.js';

const bounded = async (stream: Readable): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > MOST_BYTES) throw new RangeError(`it has more than ${MOST_BYTES} bytes`);
  }
  return Buffer.concat(chunks);
};

/** The profile in a file; `-` is standard input. */
export const readProfileFile = async (file: string): Promise<LabelledProfile> => {
  let bytes: Uint8Array;
  try {
    bytes = await bounded(file === '-' ? process.stdin : createReadStream(file));
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
  try {
    runSync(writeWholeFile(file, [bytes], { takesSpecial: true }));
  } catch (error) {
    throw targetFailure(`${file} cannot be written: ${(error as Error).message}`, error);
  }
};
