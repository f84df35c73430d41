// What the package says of itself, and where it is.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from 'spanline/internal/base';

/** The package as it is installed: the command is never part of a bundle. */
export const packageFolder = packageRoot(import.meta.url, '@spanline/cli') as string;

export const { version, description } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as {
  readonly version: string;
  readonly description: string;
};
