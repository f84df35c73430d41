// What a thread or a process of our own needs of Yarn's Plug'n'Play, where it gets none of the program's options: there a package lies in an archive
// that Node cannot read alone. Must take over nothing else, and never throws.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Arguments of Node with which the packages are found that `file` finds; none where Plug'n'Play does not have it,
 * which is everywhere else.
 */
export const plugNPlayArguments = (file: string): string[] => {
  if (process.versions.pnp === undefined) return [];
  try {
    const runtime = createRequire(file).resolve('pnpapi');
    const loader = join(dirname(runtime), '.pnp.loader.mjs');
    // Written where a project needs ES modules.
    const modules = existsSync(loader) ? ['--experimental-loader', pathToFileURL(loader).href] : [];
    return ['--require', runtime, ...modules];
  } catch {
    return [];
  }
};
