// Files that appear whole or not at all, written synchronously and not.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FsSteps, runAsync, runSync, syncDirectory } from '../../../src/base/files/fs-steps.js';
import { placeOf, WholeFile, writeWhole } from '../../../src/base/files/whole-file.js';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'spanline-'));
  path = join(folder, 'file');
});
afterEach(() => rmSync(folder, { recursive: true }));

const parts = [Buffer.from('one '), Buffer.from('two')];

describe.each([
  ['synchronously', async <T>(steps: FsSteps<T>): Promise<T> => runSync(steps)],
  ['asynchronously', runAsync],
] as const)('%s', (_, run) => {
  test('the old file stays until the new one is whole, and nothing is left beside it', async () => {
    writeFileSync(path, 'old');
    const file = await run(WholeFile.open(path));
    await run(file.write(parts[0]));
    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(readdirSync(folder)).toHaveLength(2);
    await run(file.finish());
    expect(file.isOpen).toBe(false);
    expect(readFileSync(path, 'utf8')).toBe('one ');
    await run(file.abort());
    expect(readdirSync(folder)).toEqual(['file']);
  });

  test('what is given up leaves nothing', async () => {
    const file = await run(WholeFile.open(path));
    await run(file.write(parts[0]));
    await run(file.abort());
    expect(readdirSync(folder)).toEqual([]);
  });

  test('a part that fails gives the file up', async () => {
    const failing = function* () {
      yield parts[0];
      throw new Error('no more');
    };
    await expect(run(writeWhole(path, failing()))).rejects.toThrow('no more');
    expect(readdirSync(folder)).toEqual([]);
  });

  test('a rename that fails gives the file up', async () => {
    const file = await run(WholeFile.open(path));
    mkdirSync(join(path, 'in-the-way'), { recursive: true });
    await expect(run(file.finish())).rejects.toThrow();
    expect(readdirSync(folder)).toEqual(['file']);
  });

  test('a link stays a link: what it points to is replaced', async () => {
    const target = join(folder, 'target');
    writeFileSync(target, 'old');
    symlinkSync(target, path);
    await run(writeWhole(path, parts));
    expect(readFileSync(target, 'utf8')).toBe('one two');
    expect(await run(placeOf(path))).toBe(await run(placeOf(target)));
  });

  test('what is not a regular file is refused, or written to as it is', async () => {
    await expect(run(writeWhole(folder, parts))).rejects.toMatchObject({ code: 'ERR_SPANLINE_FILE' });
    await expect(run(writeWhole('/dev/null', parts))).rejects.toThrow('it is not a regular file');
    await run(writeWhole('/dev/null', parts, { takesSpecial: true }));
    expect(existsSync('/dev/null')).toBe(true);
    expect(await run(placeOf('/dev/null'))).toBeUndefined();
  });

  test('a missing directory is made where that is wanted', async () => {
    const deep = join(folder, 'a/b/file');
    await expect(run(writeWhole(deep, parts))).rejects.toMatchObject({ code: 'ENOENT' });
    await run(writeWhole(deep, parts, { makesDirectory: true, isDurable: false }));
    expect(readFileSync(deep, 'utf8')).toBe('one two');
  });

  test('a directory that cannot be synced is not a failure', async () => {
    await run(syncDirectory(folder));
    await run(syncDirectory(join(folder, 'missing')));
  });
});
