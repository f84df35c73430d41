// Finds and loads a native file of this package: the one built here, or the one that came with it. Never throws: what cannot be loaded is
// a reason to go another way.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { faultOf } from './intact.js';

/** A file that was loaded, and why others were not. */
export interface Loaded<T> {
  readonly module?: T;
  readonly reasons: readonly string[];
}

const MAX_LEVELS = 8;

// The folder of this package, whether this file runs from src, from dist or from a bundle inside it.
const packageRoot = (from: string): string | undefined => {
  let dir = dirname(from);
  for (let level = 0; level < MAX_LEVELS; level++) {
    const manifest = join(dir, 'package.json');
    if (existsSync(manifest) && readFileSync(manifest, 'utf8').includes('"name": "spanline"')) return dir;
    dir = dirname(dir);
  }
  return undefined;
};

// On one line: the loader's messages have several.
const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).trim().replace(/\s*\n\s*/g, ' ');

/** The file `name`, from the folder where it is built or from the prebuilt ones. */
export const loadNativeFile = <T>(builtIn: string, name: string): Loaded<T> => {
  const reasons: string[] = [];
  try {
    // Undefined in a bundle that became CommonJS.
    const here: string | undefined = import.meta.url;
    const root = here === undefined ? undefined : packageRoot(fileURLToPath(here));
    if (here === undefined || root === undefined) return { reasons: [`${name} cannot be found from inside a bundle`] };
    const require = createRequire(here);
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
