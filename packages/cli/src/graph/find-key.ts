// Which key of a file an argument means: the one written so or, as with git, the only one that begins with these digits.
import { type CompactGraph, compareKeys } from '@spanline/graph';
import { wrongUsage } from '../exit-code.js';
import { type KeyForm, keysWritten, keyText } from './key-form.js';

/** Fewer digits are no abbreviation but a slip. */
const LEAST_DIGITS = 4;

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
  if (form === 'hex' && digits.length >= LEAST_DIGITS && /^[0-9a-f]+$/.test(digits)) {
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
