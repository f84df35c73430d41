// Where the built files of this package are, for processes that load them by path.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { targetFailure } from './profile-failure.js';

/** The address of a built file, such as `cli/profile/preload.js`. */
export const builtFileUrl = (name: string): string => {
  const file = join(dirname(createRequire(import.meta.url).resolve('spanline/package.json')), 'dist/esm', name);
  if (!existsSync(file)) throw targetFailure(`${file} is missing: install spanline again`);
  return pathToFileURL(file).href;
};
