// Packages that a program may or may not have: the error for one that is not installed, and what Yarn's Plug'n'Play needs to find them.
// A missing package must never hide another failure.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

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
