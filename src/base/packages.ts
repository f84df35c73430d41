// Packages: where one of ours lies, whether its code runs from src, from dist or from a bundle inside it, for the built code is in a scope of its own, in which
// the package's name means nothing; and those that a program may or may not have, with what Yarn's Plug'n'Play needs to find them. A missing package must never
// hide another failure.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const NOT_FOUND: readonly unknown[] = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'];

/**
 * The error that `toError` makes of a message with the command that installs the package; `cause` itself where its message is another.
 * The import belongs into a `try` beside its call: there bundlers pass over a package that they do not find.
 */
export const missingPackage = (
  cause: unknown,
  name: string,
  what: string,
  toError: (message: string, options: ErrorOptions) => Error,
): unknown =>
  NOT_FOUND.includes((cause as NodeJS.ErrnoException | null)?.code)
    ? toError(`${what} needs the package ${name}: npm install ${name}`, { cause })
    : cause;

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
