// Finds and loads a native file of a package of ours: the one built here, or the one that came with it. Never throws: what cannot be loaded is
// a reason to go another way.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { packageRoot } from '../base/packages.js';

const HEADER_BYTES = 64;
/** 0x7f ELF, 64 bits, little end first. */
const MAGIC = 0x7f454c46;
const CLASS_AND_ENDS = 0x0201;

// Why this file must not be loaded: half a binary would end the process with SIGBUS. The section table comes last in 64-bit ELF files,
// the only format judged here.
const faultOf = (file: string): string | undefined => {
  const bytes = readFileSync(file);
  const size = bytes.length;
  if (size < HEADER_BYTES) return 'too short';
  const header = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
  if (header.getUint32(0) !== MAGIC || header.getUint16(4) !== CLASS_AND_ENDS) return undefined;
  // Offset of the section table (8 bytes), size of an entry, number of entries.
  const offset = header.getUint32(40, true) + header.getUint32(44, true) * 2 ** 32;
  const end = offset + header.getUint16(58, true) * header.getUint16(60, true);
  return end > size ? `cut off after ${size} of ${end} bytes` : undefined;
};

/** A file that was loaded, and why others were not. */
export interface Loaded<T> {
  readonly module?: T;
  readonly reasons: readonly string[];
}

// On one line: the loader's messages have several.
const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).trim().replace(/\s*\n\s*/g, ' ');

/**
 * The file `name`, from the folder where it is built or from the prebuilt ones, of the package `packageName` around a file whose `import.meta.url`
 * is `here`: ours, when nothing is given.
 */
export const loadNativeFile = <T>(builtIn: string, name: string, here?: string, packageName?: string): Loaded<T> => {
  const reasons: string[] = [];
  try {
    const root = packageRoot(here, packageName);
    if (root === undefined) return { reasons: [`${name} cannot be found from inside a bundle`] };
    const require = createRequire(join(root, 'package.json'));
    // The one built here first; one that does not load (another libc or ABI, a damaged file) leaves the next.
    for (const folder of [builtIn, `prebuilds/${process.platform}-${process.arch}`]) {
      const file = join(root, folder, name);
      if (!existsSync(file)) continue;
      try {
        const fault = faultOf(file);
        if (fault === undefined) return { module: require(file) as T, reasons };
        reasons.push(`${folder}/${name}: ${fault}`);
      } catch (error) {
        reasons.push(`${folder}/${name}: ${messageOf(error)}`);
      }
    }
    if (reasons.length === 0) reasons.push(`no ${name} for ${process.platform}-${process.arch}`);
  } catch (error) {
    reasons.push(`${name}: ${messageOf(error)}`);
  }
  return { reasons };
};
