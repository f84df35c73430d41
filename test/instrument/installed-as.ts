// An older version of a library, which the tests' folder has under another name, installed by its own name as programs have it.
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { out } from '../support/child.js';
import './libraries.js';

const libraries = fileURLToPath(new URL('./libraries/node_modules/', import.meta.url));

/** A folder with the library in its `node_modules`. */
export interface Installed {
  readonly folder: string;
  readonly require: NodeJS.Require;
  /** As an ES module of the folder imports. */
  // biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
  import(name: string): Promise<any>;
}

const isCode = (path: string): boolean => /\.(?:[cm]?js|json)$|^[^.]*$/.test(basename(path));

let count = 0;

/** What the package in `folder` depends on, and the packages that it has of its own. */
const dependenciesOf = (folder: string): readonly string[] => {
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>;
  };
  const names = Object.keys(dependencies);
  const own = names.map((name) => join(folder, 'node_modules', name)).filter((place) => existsSync(place));
  return [...names, ...own.flatMap(dependenciesOf)];
};

const copied = (from: string, to: string): readonly string[] => {
  cpSync(from, to, { recursive: true, filter: isCode });
  return dependenciesOf(to);
};

/** A new copy of the library `alias`, installed as `name`, with copies of the packages `users`, which find it, and of what they depend on. */
export const installedAs = (name: string, alias: string, users: readonly string[] = []): Installed => {
  const folder = join(out, `${alias}-${count++}`);
  const modules = join(folder, 'node_modules');
  const copy = join(modules, name);
  const dependencies = copied(join(libraries, alias), copy);
  for (const wanted = [...users]; wanted.length > 0; ) {
    const one = wanted.pop() as string;
    if (!existsSync(join(modules, one))) wanted.push(...copied(join(libraries, one), join(modules, one)));
  }
  for (const one of dependencies) {
    if (existsSync(join(copy, 'node_modules', one)) || existsSync(join(modules, one))) continue;
    mkdirSync(dirname(join(modules, one)), { recursive: true });
    symlinkSync(join(libraries, one), join(modules, one));
  }
  writeFileSync(join(folder, 'load.cjs'), 'module.exports = (name) => import(name);');
  const require = createRequire(join(folder, 'program.cjs'));
  return { folder, require, import: require('./load.cjs') as Installed['import'] };
};
