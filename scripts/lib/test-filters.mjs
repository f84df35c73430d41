// Arguments of vitest for what `npm test` was given. In a package of the workspace no test of another may run.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.mjs';

/**
 * vitest runs what any of its filters matches: paths in a package, which is the first argument then, come in place of the package.
 * @param {readonly string[]} args
 * @returns {string[]}
 */
export function filtersOf(args) {
  const [folder, ...rest] = args;
  if (!/^packages\/[^/]+$/.test(folder ?? '')) return [...args];
  // What follows an option may be its value, unless it is there.
  const isPath = (arg, at) =>
    !arg.startsWith('-') && (existsSync(join(root, folder, arg)) || !rest[at - 1]?.startsWith('-'));
  const filters = rest.map((arg, at) => (isPath(arg, at) ? `${folder}/${arg}` : arg));
  // With the slash, or a folder whose name begins so would run too.
  return rest.some(isPath) ? filters : [`${folder}/`, ...filters];
}
