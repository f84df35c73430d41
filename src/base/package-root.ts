// Where a package of ours lies, whether its code runs from src, from dist or from a bundle inside it: its files are found by their paths, since the
// built code is in a scope of its own, in which the package's name means nothing.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MAX_LEVELS = 8;

/**
 * The folder of the package.json of the package `name` above a file, whose `import.meta.url` is given: ours, when nothing is. Undefined in a bundle
 * that lies elsewhere.
 */
export const packageRoot = (
  // Undefined in a bundle that is an ES module.
  here: string | undefined = import.meta.url,
  name = 'spanline',
): string | undefined => {
  if (!here?.startsWith('file:')) return undefined;
  let dir = dirname(fileURLToPath(here));
  for (let level = 0; level < MAX_LEVELS; level++) {
    const manifest = join(dir, 'package.json');
    if (existsSync(manifest) && readFileSync(manifest, 'utf8').includes(`"name": "${name}"`)) return dir;
    dir = dirname(dir);
  }
  return undefined;
};
