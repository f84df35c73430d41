// A package that is not installed is asked for by name, and what needs no such package works without it.
import { cpSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sampleOf } from '../../../test/support/samples.js';
import { perfStore } from './support/perf-store.js';
import { buildFirst, root, spanlineProcess } from './support/spanline.js';

buildFirst();
const { dir, store } = perfStore();
/** A copy of what is built, which finds only the packages beside it. */
const packages = join(dir, 'installation/node_modules');
const program = join(packages, '@spanline/cli/dist/esm/main.js');
const OURS = {
  '@spanline/archive': 'packages/archive',
  '@spanline/cli': 'packages/cli',
  '@spanline/graph': 'packages/graph',
  '@spanline/profile': 'packages/profile',
  '@spanline/tracedb': 'packages/tracedb',
  '@spanline/ui': 'packages/ui',
  spanline: '.',
};

const install = (names: readonly string[]): void => {
  rmSync(packages, { recursive: true, force: true });
  mkdirSync(join(packages, '@google-cloud'), { recursive: true });
  for (const [name, folder] of Object.entries(OURS)) {
    for (const part of ['dist/esm', 'dist/cjs', 'package.json'])
      cpSync(join(root, folder, part), join(packages, name, part), { recursive: true });
  }
  for (const name of names) symlinkSync(join(root, 'node_modules', name), join(packages, name));
};

const ALL = ['commander', 'lmdb', 're2js', 'jstat', 'simple-statistics', 'asciichart', '@google-cloud/bigtable'];
const NEEDED: readonly (readonly [name: string, args: readonly string[]])[] = [
  ['lmdb', ['init', '--store', join(dir, 'no-lmdb')]],
  ['re2js', ['query', '--store', store, 'test=~dr']],
  ['jstat', ['regressions', '--store', store]],
  ['simple-statistics', ['regressions', '--store', store]],
  ['asciichart', ['regressions', '--plot', '--store', store]],
  ['@google-cloud/bigtable', ['init', '--store', 'bigtable://project/instance/table']],
];

test.each(sampleOf(NEEDED, 1, NEEDED.length))('%s', async (name, args) => {
  install(ALL.filter((one) => one !== name));
  const missing = await spanlineProcess(['perf', ...args], { program, cwd: dir });
  expect(missing.code).toBe(3);
  expect(missing.stderr).toMatch(new RegExp(`^spanline: .*: npm install ${name}\\n$`));
  expect(await spanlineProcess(['perf', '--help'], { program, cwd: dir })).toMatchObject({ code: 0, stderr: '' });
});
