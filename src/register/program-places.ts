// Where the program is, for what it has installed and this package does not find by itself: this one may lie elsewhere. Never throws.
import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** Undefined in place of an error. */
export const attempt = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch {
    return undefined;
  }
};

/** Files that stand for where the program is: the one that is run, what a link in `node_modules/.bin` leads to, and the folder it is run in. */
const placesOf = (program: string | undefined): string[] => {
  const real = program === undefined ? undefined : attempt(() => realpathSync(program));
  return [program, real, join(process.cwd(), 'package.json')].filter((place) => place !== undefined);
};

/** A `require` for each of them. */
export const requiresOf = (program: string | undefined = process.argv[1]): NodeJS.Require[] =>
  placesOf(program).flatMap((place) => attempt(() => createRequire(place)) ?? []);
