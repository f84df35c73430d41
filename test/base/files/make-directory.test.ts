// A directory is made with those above it, or the system's error is thrown: also where a system makes none in a directory that is there.
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeDirectory } from '../../../src/base/files/fs-steps.js';
import { sourceFiles, sourceText } from '../../support/sources.js';

const home = mkdtempSync(join(tmpdir(), 'spanline-make-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

test('it is made with all above it, and may be there', () => {
  const deep = join(home, 'a/b/../c/d');
  makeDirectory(deep, 0o700);
  makeDirectory(deep);
  expect(existsSync(deep)).toBe(true);
  expect(statSync(join(home, 'a')).mode & 0o777).toBe(0o700);
  makeDirectory('/');
});

test('a file in the way is the error that it is', () => {
  writeFileSync(join(home, 'file'), '');
  expect(() => makeDirectory(join(home, 'file'))).toThrow(expect.objectContaining({ code: 'EEXIST' }));
  expect(() => makeDirectory(join(home, 'file/x/y'))).toThrow(expect.objectContaining({ code: 'ENOTDIR' }));
});

test.runIf(existsSync('/proc/self'))('a directory in which none can be made is an error, and not waited for', () => {
  for (const path of ['/proc/x', '/proc/x/y/z'])
    expect(() => makeDirectory(path)).toThrow(expect.objectContaining({ code: 'ENOENT' }));
});

test('nothing else makes directories with those above them', () => {
  const makes = (file: string): boolean => /\bmkdir(Sync)?\([^)]*recursive/.test(sourceText(file));
  expect(sourceFiles.filter(makes)).toEqual([]);
});
