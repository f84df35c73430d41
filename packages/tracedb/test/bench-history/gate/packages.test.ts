// A work tree gets the packages of the checkout without a copy, and whatever is done to them there the checkout keeps its own; what is written through
// a link is told.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { requireUnchanged, sharePackages } from '../../../src/bench-history/gate/work-trees.js';

let dir: string;
let from: string;
let to: string;

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(from, path)), { recursive: true });
  writeFileSync(join(from, path), text);
};
/** A moment at which all that is there has been written: a file system counts in ticks. */
const later = (shared: readonly string[]): number => {
  const past = new Date(Date.now() - 60_000);
  for (const path of shared) utimesSync(path, past, past);
  return Date.now() - 1000;
};
const inode = (directory: string, path: string): number => statSync(join(directory, path)).ino;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'packages-'));
  from = join(dir, 'checkout');
  to = join(dir, 'tree');
  write('one/index.js', 'one');
  write('@scope/two/lib/deep.js', 'two');
  write('.pnpm/three@1/node_modules/three/index.js', 'three');
  write('.prisma/client/index.js', 'generated');
  write('.package-lock.json', '{}');
  write('.cache/big', 'cache');
  symlinkSync('../packages/own', join(from, 'own'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('packages are shared file by file, in directories of the tree itself', async () => {
  await sharePackages(from, to);
  for (const path of ['one/index.js', '@scope/two/lib/deep.js', '.pnpm/three@1/node_modules/three/index.js']) {
    expect(inode(to, path), path).toBe(inode(from, path));
    expect(inode(to, dirname(path)), path).not.toBe(inode(from, dirname(path)));
  }
});

test('links lead to the same place of the tree, what tools generate is a copy, caches stay behind', async () => {
  await sharePackages(from, to);
  expect(readlinkSync(join(to, 'own'))).toBe('../packages/own');
  for (const path of ['.prisma/client/index.js', '.package-lock.json']) {
    expect(readFileSync(join(to, path), 'utf8')).toBe(readFileSync(join(from, path), 'utf8'));
    expect(inode(to, path), path).not.toBe(inode(from, path));
  }
  expect(existsSync(join(to, '.cache'))).toBe(false);
});

test('what is deleted, replaced or added in the tree leaves the checkout as it was', async () => {
  const shared = await sharePackages(from, to);
  const start = later(shared);
  rmSync(join(to, 'one'), { recursive: true });
  rmSync(join(to, '@scope/two/lib/deep.js'));
  writeFileSync(join(to, '@scope/two/lib/deep.js'), 'replaced');
  writeFileSync(join(to, '@scope/two/lib/more.js'), 'more');
  writeFileSync(join(to, '.prisma/client/index.js'), 'generated otherwise');
  requireUnchanged(shared, start);
  expect(readFileSync(join(from, 'one/index.js'), 'utf8')).toBe('one');
  expect(readFileSync(join(from, '@scope/two/lib/deep.js'), 'utf8')).toBe('two');
  expect(existsSync(join(from, '@scope/two/lib/more.js'))).toBe(false);
  expect(readFileSync(join(from, '.prisma/client/index.js'), 'utf8')).toBe('generated');
});

test('what is written in place is an error that names the file', async () => {
  const shared = await sharePackages(from, to);
  const start = later(shared);
  writeFileSync(join(to, 'one/index.js'), 'patched');
  expect(() => requireUnchanged(shared, start)).toThrow(
    expect.objectContaining({
      code: 'ERR_SPANLINE_BENCH_COMMAND',
      message: expect.stringContaining(
        `1 files of packages that work trees share with the checkout, such as ${join(from, 'one/index.js')}`,
      ),
    }),
  );
});

test('an abort ends it', async () => {
  await expect(sharePackages(from, to, AbortSignal.abort())).rejects.toMatchObject({
    code: 'ERR_SPANLINE_BENCH_ABORTED',
  });
});
