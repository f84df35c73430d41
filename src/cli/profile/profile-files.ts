// Profiles as files of the command line: read with errors that name the file, written whole or not at all.
import {
  accessSync,
  constants,
  createReadStream,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import type { LabelledProfile } from '../../profile/labelled-profile.js';
import { ProfileOutputError } from '../../profile/output/output-error.js';
import { MOST_BYTES, readProfile } from '../../profile/output/read-profile.js';
import { targetFailure } from './profile-failure.js';

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

/** Where the bytes are written first; undefined for a pipe or a device, which nothing may take the place of. */
const placesOf = (file: string): { readonly whole: string; readonly partial: string } | undefined => {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile()) return undefined;
  // What a link points to is replaced, not the link.
  const whole = found === undefined ? file : realpathSync(file);
  return { whole, partial: `${whole}.${process.pid}.tmp` };
};

/** Fails where `file` could not be written: to be asked before the work whose result it takes. */
export const requireWritable = (file: string): void => {
  try {
    const places = placesOf(file);
    accessSync(places === undefined ? file : dirname(places.whole), constants.W_OK);
    if (places === undefined && statSync(file).isDirectory()) throw new Error('it is a directory');
  } catch (error) {
    throw targetFailure(`${file} cannot be written: ${(error as Error).message}`, error);
  }
};

/** Write a file whole: also in a process that is about to end. */
export const writeWhole = (file: string, bytes: Uint8Array): void => {
  let partial: string | undefined;
  try {
    const places = placesOf(file);
    if (places === undefined) {
      writeFileSync(file, bytes);
      return;
    }
    partial = places.partial;
    rmSync(partial, { force: true });
    writeFileSync(partial, bytes, { flag: 'wx' });
    renameSync(partial, places.whole);
  } catch (error) {
    if (partial !== undefined) rmSync(partial, { force: true });
    throw targetFailure(`${file} cannot be written: ${(error as Error).message}`, error);
  }
};
