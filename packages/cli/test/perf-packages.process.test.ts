// Where the client of Bigtable, or the binary of LMDB, is not installed it is asked for by name, and all that needs none works.
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, beforeEach, expect, test } from 'vitest';
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

beforeAll(() => {
  for (const [name, folder] of Object.entries(OURS)) {
    for (const part of ['dist/esm', 'dist/cjs', 'package.json'])
      cpSync(join(root, folder, part), join(packages, name, part), { recursive: true });
  }
  for (const name of ['commander', 're2js']) symlinkSync(join(root, 'node_modules', name), join(packages, name));
});
beforeEach(() => {
  // One of the tests has another.
  rmSync(join(packages, 'lmdb'), { recursive: true, force: true });
  symlinkSync(join(root, 'node_modules/lmdb'), join(packages, 'lmdb'));
});

test('a store on Bigtable', async () => {
  const args = ['perf', 'init', '--store', 'bigtable://project/instance/table'];
  const { code, stderr } = await spanlineProcess(args, { program, cwd: dir });
  expect({ code, stderr }).toEqual({
    code: 3,
    stderr:
      'spanline: the store bigtable://project/instance/table needs the package @google-cloud/bigtable: npm install @google-cloud/bigtable\n',
  });
});

test('a store on disk, help and queries need it not', async () => {
  for (const args of [['--help'], ['init', '--store', join(dir, 'new')], ['query', '--store', store, 'test=~dr']])
    expect(await spanlineProcess(['perf', ...args], { program, cwd: dir })).toMatchObject({ code: 0, stderr: '' });
});

test('a store on disk where the binary of LMDB was not installed', async () => {
  const lmdb = join(root, 'node_modules/lmdb');
  const place = join(packages, 'lmdb');
  rmSync(place);
  cpSync(lmdb, place, {
    recursive: true,
    filter: (file) => !/[\\/]lmdb[\\/](build|prebuilds|dependencies|src)$/.test(file),
  });
  const { dependencies } = JSON.parse(readFileSync(join(lmdb, 'package.json'), 'utf8'));
  // These find what they need beside themselves, and the binary beside the copy.
  for (const name of Object.keys(dependencies)) {
    const link = join(packages, name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), link);
  }
  const { code, stderr } = await spanlineProcess(['perf', 'init', '--store', join(dir, 'other')], {
    program,
    cwd: dir,
  });
  const binary = `${process.platform}-${process.arch}`;
  expect({ code, stderr }).toEqual({
    code: 3,
    stderr: `spanline: the store ${join(dir, 'other')} needs the package lmdb, which does not load its binary for ${binary}: install with optional packages (npm install --include=optional), or compile it: npm rebuild lmdb\n`,
  });
});
