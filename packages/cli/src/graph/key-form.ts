// How keys, which are bytes, are written on the command line: hexadecimal digits for hashes and ids, text for names. What is printed
// can always be given back as an argument.

import { BadKeyError, type CompactGraph } from '@spanline/graph';
import { isSafeText } from 'spanline/internal/base';

/** A way to write keys. */
export type KeyForm = 'hex' | 'text';

/** The note by which `spanline graph build` says how the keys of a file are written. */
export const KEY_FORM_NOTE = 'keys';

const decoder = new TextDecoder('utf-8', { fatal: true });

// Elements of tuple keys are parted by NUL, which no terminal shows and no argument can have.
const NUL = /\0/g;

const isText = (key: Uint8Array): boolean => {
  try {
    return isSafeText(decoder.decode(key).replace(NUL, ''));
  } catch {
    return false;
  }
};

/** How the keys of `file` are written: as it says itself, or by what its first key looks like. */
export const keyFormOf = async (file: CompactGraph): Promise<KeyForm> => {
  const noted = file.meta.notes[KEY_FORM_NOTE];
  if (noted === 'hex' || noted === 'text') return noted;
  return file.keyCount === 0 || isText(await file.dictionary.keyAt(0)) ? 'text' : 'hex';
};

/** A key as it is printed. Text that cannot be printed comes as digits behind `0x`. */
export const keyText = (key: Uint8Array, form: KeyForm): string => {
  const bytes = Buffer.from(key.buffer, key.byteOffset, key.byteLength);
  if (form === 'hex') return bytes.toString('hex');
  return isText(key) ? bytes.toString().replace(NUL, '\\0') : `0x${bytes.toString('hex')}`;
};

/** The bytes of hexadecimal digits. Throws `BadKeyError`. */
export const hexBytes = (digits: string): Buffer => {
  const bytes = Buffer.from(digits, 'hex');
  if (digits.length > 0 && bytes.length * 2 === digits.length) return bytes;
  throw new BadKeyError(`${JSON.stringify(digits.slice(0, 100))} is no key in hexadecimal digits`);
};

/** The keys that may have been written `text`, the likeliest first. Throws `BadKeyError` when there is none. */
export const keysWritten = (text: string, form: KeyForm): Buffer[] => {
  if (form === 'hex') return [hexBytes(text)];
  const texts = [Buffer.from(text), Buffer.from(text.replaceAll('\\0', '\0'))];
  return /^0x([0-9a-f]{2})+$/i.test(text) ? [...texts, hexBytes(text.slice(2))] : texts;
};
