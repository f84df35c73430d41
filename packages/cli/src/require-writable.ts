// Whether a file could be written, asked before long work whose result it takes. Must not make the file, nor change it.
import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { placeOf, runSync, targetFailure } from 'spanline/internal/base';

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
