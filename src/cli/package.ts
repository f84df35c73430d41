// What the package says of itself, and where it is.
import { createRequire } from 'node:module';
import { dirname } from 'node:path';

const requireHere = createRequire(import.meta.url);

export const { version, description } = requireHere('spanline/package.json') as {
  readonly version: string;
  readonly description: string;
};

/** The package as it is installed. */
export const packageFolder = dirname(requireHere.resolve('spanline/package.json'));
