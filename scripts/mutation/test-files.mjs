// Which test files can see a mutant: those of the quick suite that import a mutated file, directly or by others, and do their work in their own
// process. What a child process or a worker thread runs is a build, or sources without mutants.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { root } from '../lib/run.mjs';

const IMPORT = /(?:^|\n)\s*(?:import|export)\s+(?!type\b)(?:[^'";]*?\sfrom\s+)?'([^']+)'|import\(\s*'([^']+)'\s*\)/g;
const STARTS_OTHERS = /^(node:)?(child_process|worker_threads|cluster)$/;
/** Folders of tests: the core's and those across packages, then those of each package. */
const TESTS = ['test', ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}/test`)]
  .map((folder) => join(root, folder, '/'))
  .filter((folder) => existsSync(folder));
const isInTest = (file) => TESTS.some((folder) => file.startsWith(folder));

const BY_NAME = /^(?:@spanline\/([\w-]+)|spanline)(?:\/(.+))?$/;

/** The path, without extension, that the name of a package of ours stands for: as tests find it (vitest.config.ts). */
const placeOf = (name) => {
  const [whole, folder, entry = 'index'] = BY_NAME.exec(name) ?? [];
  return whole && join(root, folder === undefined ? 'src' : `packages/${folder}/src`, entry);
};

/** What a name that `file` imports may stand for, if it is ours. */
function filesOf(file, name) {
  const path = join(dirname(file), name);
  if (name.startsWith('.')) return [path.replace(/\.js$/, '.ts'), path];
  const place = placeOf(name);
  return place === undefined ? [] : [`${place}.ts`, `${place}/index.ts`];
}

const known = new Map();

/** What a file imports at run time: paths of files of this repository, names of everything else. */
function importsOf(file) {
  const before = known.get(file);
  if (before !== undefined) return before;
  const found = new Set();
  known.set(file, found);
  for (const [, named, dynamic] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
    const name = named ?? dynamic;
    found.add(filesOf(file, name).find((one) => existsSync(one) && statSync(one).isFile()) ?? name);
  }
  return found;
}

/** The file, and all that it imports at last, as far as `follow` goes. */
function closure(file, follow) {
  const all = new Set([file]);
  for (const one of all) if (follow(one)) for (const next of importsOf(one)) all.add(next);
  return [...all];
}

const isFile = (name) => name.startsWith(root) && /\.m?[jt]s$/.test(name);

/** True if the test itself, or what it takes from folders of tests, can start a process or a worker. */
const startsOthers = (file) => closure(file, isInTest).some((name) => STARTS_OTHERS.test(name));

/**
 * Test files of the quick suite: all of them, those that import one of `mutated`, those of them that start nothing, and those that are run: of the
 * folders `near`. In the mutated folders' own tests those that start something stand beside others.
 */
export function testFilesFor(mutated, folders, near) {
  const wanted = new Set(mutated);
  const own = folders.map((folder) => folder.replace(/(^|\/)src(?=\/|$)/, '$1test'));
  const isIn = (file, dirs) => dirs.some((dir) => file.startsWith(join(root, dir, '/')));
  const all = TESTS.flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, name)))
    .filter(
      (name) => /\.test\.ts$/.test(name) && !/node_modules|\.(full|nightly)\.test\.ts$/.test(relative(root, name)),
    )
    .sort();
  const related = all.filter((file) => closure(file, isFile).some((name) => wanted.has(name)));
  const seeing = related.filter((file) => !startsOthers(file));
  const run = related.filter((file) => isIn(file, own) || (isIn(file, near) && !startsOthers(file)));
  const names = (files) => files.map((file) => relative(root, file));
  return { all: names(all), related: names(related), seeing: names(seeing), run: names(run) };
}
