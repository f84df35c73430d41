// How keys, which are bytes, are written on the command line: hexadecimal digits for hashes and ids, text for names; and which key of a file an
// argument means: the one written so or, as with git, the only one that begins with these digits. What is printed can always be given back as an
// argument.
import { BadKeyError, type CompactGraph, compareKeys } from '@spanline/graph';
import { attempt, isSafeText } from 'spanline/internal/base';
import { wrongUsage } from '../exit-code.js';

/** A way to write keys. */
export type KeyForm = 'hex' | 'text';

/** The note by which `spanline graph build` says how the keys of a file are written. */
export const KEY_FORM_NOTE = 'keys';

const decoder = new TextDecoder('utf-8', { fatal: true });

// Elements of tuple keys are parted by NUL, which no terminal shows and no argument can have.
const NUL = /\0/g;

const isText = (key: Uint8Array): boolean => attempt(() => isSafeText(decoder.decode(key).replace(NUL, ''))) ?? false;

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
  throw new BadKeyError(`${JSON.stringify(digits.slice(0, 100))} is not a key in hexadecimal digits`);
};

/** The keys that may have been written `text`, the likeliest first. Throws `BadKeyError` when there is none. */
const keysWritten = (text: string, form: KeyForm): Buffer[] => {
  if (form === 'hex') return [hexBytes(text)];
  const texts = [Buffer.from(text), Buffer.from(text.replaceAll('\\0', '\0'))];
  return /^0x([0-9a-f]{2})+$/i.test(text) ? [...texts, hexBytes(text.slice(2))] : texts;
};

/** Fewer digits are not an abbreviation but a slip. */
const MIN_DIGITS = 4;

/** The keys that begin with `digits`, two at most. */
const beginningWith = async (file: CompactGraph, digits: string): Promise<Buffer[]> => {
  const prefix = Buffer.from(digits.slice(0, digits.length & ~1), 'hex');
  const found: Buffer[] = [];
  for await (const entries of file.dictionary.range({ prefix })) {
    for (const { key } of entries) if (key.toString('hex').startsWith(digits)) found.push(key);
    if (found.length > 1) break;
  }
  return found.slice(0, 2);
};

/** The key meant by `text`; undefined when the file has none. Throws for an abbreviation of several. */
export const findKey = async (file: CompactGraph, text: string, form: KeyForm): Promise<Buffer | undefined> => {
  const digits = text.toLowerCase();
  if (form === 'hex' && digits.length >= MIN_DIGITS && /^[0-9a-f]+$/.test(digits)) {
    const found = await beginningWith(file, digits);
    const exact = found.find((key) => compareKeys(key, Buffer.from(digits, 'hex')) === 0 && digits.length % 2 === 0);
    if (exact !== undefined || found.length < 2) return exact ?? found[0];
    throw wrongUsage(
      `several keys begin with ${text}: ${found.map((key) => keyText(key, form)).join(', ')}; write more of it`,
    );
  }
  for (const key of keysWritten(text, form)) if ((await file.dictionary.lookup(key)) !== undefined) return key;
  return undefined;
};
