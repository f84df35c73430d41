// Files of profile commands: profiles read with errors that name the file and written whole or not at all, and built files of this package
// for processes that load them by path.
import { accessSync, constants, createReadStream, existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { runSync } from '../../base/files/fs-steps.js';
import { placeOf, writeWhole as writeWholeFile } from '../../base/files/whole-file.js';
import type { LabelledProfile } from '../../profile/labelled-profile.js';
import { ProfileOutputError } from '../../profile/output/output-error.js';
import { MOST_BYTES, readProfile } from '../../profile/output/read-profile.js';
import { CommandError, ExitCode } from '../exit-code.js';

/** The error of a file or process that the command cannot work with. */
export const targetFailure = (message: string, cause?: unknown): CommandError =>
  new CommandError('ERR_SPANLINE_PROFILE_TARGET', message, ExitCode.store, { cause });

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

/** Fails where `file` could not be written: to be asked before the work whose result it takes. */
export const requireWritable = (file: string): void => {
  try {
    const place = runSync(placeOf(file));
    accessSync(place === undefined ? file : dirname(place), constants.W_OK);
    if (place === undefined && statSync(file).isDirectory()) throw new Error('it is a directory');
  } catch (error) {
    throw targetFailure(`${file} cannot be written: ${(error as Error).message}`, error);
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

/** The address of a built file, such as `cli/profile/preload.js`. */
export const builtFileUrl = (name: string): string => {
  const file = join(dirname(createRequire(import.meta.url).resolve('spanline/package.json')), 'dist/esm', name);
  if (!existsSync(file)) throw targetFailure(`${file} is missing: install spanline again`);
  return pathToFileURL(file).href;
};
