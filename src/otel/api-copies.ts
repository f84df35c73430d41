// Copies of @opentelemetry/api in a process. They share one global, made by the first of them, but a copy that is newer than the one that made it
// gets no-ops in its place: its spans are lost without a word.
import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { attempt } from '../base/calls/attempt.js';

/** One copy. */
export interface ApiCopy {
  readonly version: string;
  readonly path: string;
}

const PACKAGE = join('node_modules', '@opentelemetry', 'api');
const MAX_FOLDERS = 2000;

const versionAt = (path: string): string | undefined =>
  attempt(() => {
    const { version } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as { version?: unknown };
    return typeof version === 'string' ? version : undefined;
  });

const foldersIn = (path: string): string[] =>
  (attempt(() => readdirSync(path, { withFileTypes: true })) ?? []).flatMap((entry) =>
    entry.isFile() ? [] : [entry.name],
  );

/** The packages right in a `node_modules`. */
const packagesIn = (modules: string): string[] =>
  foldersIn(modules).flatMap((name) => {
    if (name.startsWith('.')) return [];
    const path = join(modules, name);
    return name.startsWith('@') ? foldersIn(path).map((one) => join(path, one)) : [path];
  });

/**
 * The copies of `@opentelemetry/api` that code at `from` and its dependencies find, two levels deep: more than one version is worth a
 * warning at start-up. Reads folders synchronously; call it once.
 */
export const findApiCopies = (from: string = process.cwd()): ApiCopy[] => {
  const found = new Map<string, ApiCopy>();
  const look = (folder: string): void => {
    const version = versionAt(join(folder, PACKAGE));
    if (version === undefined) return;
    const path = realpathSync(join(folder, PACKAGE));
    found.set(path, { version, path });
  };
  let left = MAX_FOLDERS;
  for (let folder = from; ; folder = dirname(folder)) {
    look(folder);
    for (const one of packagesIn(join(folder, 'node_modules'))) if (left-- > 0) look(one);
    if (dirname(folder) === folder) break;
  }
  return [...found.values()];
};
