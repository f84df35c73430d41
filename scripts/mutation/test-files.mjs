// Which test files can see a mutant: those of the quick suite that import a mutated file, directly or by others, and do their work in their own
// process. What a child process or a worker thread runs is a build, or sources without mutants.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { root } from '../lib/run.mjs';

const IMPORT = /(?:^|\n)\s*(?:import|export)\s+(?!type\b)(?:[^'";]*?\sfrom\s+)?'([^']+)'|import\(\s*'([^']+)'\s*\)/g;
const STARTS_OTHERS = /^(node:)?(child_process|worker_threads|cluster)$/;
const inTest = join(root, 'test/');

const known = new Map();

/** What a file imports at run time: paths of files of this repository, names of everything else. */
function importsOf(file) {
  const before = known.get(file);
  if (before !== undefined) return before;
  const found = new Set();
  known.set(file, found);
  for (const [, named, dynamic] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
    const name = named ?? dynamic;
    const path = join(dirname(file), name);
    const source = [path.replace(/\.js$/, '.ts'), path].find((one) => existsSync(one) && statSync(one).isFile());
    found.add(name.startsWith('.') && source !== undefined ? source : name);
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

/** True if the test itself, or what it takes from `test/`, can start a process or a worker. */
const startsOthers = (file) => closure(file, (one) => one.startsWith(inTest)).some((name) => STARTS_OTHERS.test(name));

/**
 * Test files of the quick suite: all of them, those that import one of `mutated`, those of them that start nothing, and those that are run: of the
 * folders `near`. In the mutated folders' own tests those that start something stand beside others.
 */
export function testFilesFor(mutated, folders, near) {
  const wanted = new Set(mutated);
  const own = folders.map((folder) => folder.replace(/^src/, 'test'));
  const isIn = (file, dirs) => dirs.some((dir) => file.startsWith(join(root, dir, '/')));
  const all = readdirSync(inTest, { recursive: true })
    .filter((name) => /\.test\.ts$/.test(name) && !/node_modules|\.(full|nightly)\.test\.ts$/.test(name))
    .map((name) => join(inTest, name))
    .sort();
  const related = all.filter((file) => closure(file, isFile).some((name) => wanted.has(name)));
  const seeing = related.filter((file) => !startsOthers(file));
  const run = related.filter((file) => isIn(file, own) || (isIn(file, near) && !startsOthers(file)));
  const names = (files) => files.map((file) => relative(root, file));
  return { all: names(all), related: names(related), seeing: names(seeing), run: names(run) };
}
