// Files that appear whole or not at all, written synchronously and not.
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
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

const modeOf = (file: string): string => (statSync(file).mode & 0o777).toString(8);
const isRoot = process.getuid?.() === 0;

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

  test.each(['600', '640', '664', '444'])('a file of mode %s that is replaced keeps it', async (mode) => {
    writeFileSync(path, 'old');
    chmodSync(path, mode);
    const file = await run(WholeFile.open(path));
    const [temporary] = readdirSync(folder).filter((name) => name !== 'file');
    expect(modeOf(join(folder, temporary))).toBe('600');
    await run(file.write(parts[0]));
    await run(file.finish());
    expect(modeOf(path)).toBe(mode);
  });

  test('one that was closed to others, or made, while it was written stays closed', async () => {
    for (const isThere of [true, false]) {
      if (isThere) writeFileSync(path, 'old');
      else rmSync(path);
      const file = await run(WholeFile.open(path));
      await run(file.write(parts[0]));
      if (!isThere) writeFileSync(path, 'made');
      chmodSync(path, 0o600);
      await run(file.finish());
      expect(readFileSync(path, 'utf8')).toBe('one ');
      expect(modeOf(path)).toBe('600');
    }
  });

  test('a new file has the default mode of the process', async () => {
    await run(writeWhole(path, parts));
    writeFileSync(join(folder, 'other'), '');
    expect(modeOf(path)).toBe(modeOf(join(folder, 'other')));
  });

  test.runIf(isRoot)('a file that is replaced keeps its owner and its group', async () => {
    writeFileSync(path, 'old');
    chmodSync(path, 0o640);
    chownSync(path, 4321, 8765);
    await run(writeWhole(path, parts));
    expect(statSync(path)).toMatchObject({ uid: 4321, gid: 8765 });
    expect(modeOf(path)).toBe('640');
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

test.runIf(isRoot)('a group that the process may not give a file to leaves what it could do to no other group', () => {
  chmodSync(folder, 0o777);
  writeFileSync(path, 'old');
  chmodSync(path, 0o664);
  chownSync(path, 0, 8765);
  process.seteuid?.(4321);
  try {
    runSync(writeWhole(path, parts));
  } finally {
    process.seteuid?.(0);
  }
  expect(readFileSync(path, 'utf8')).toBe('one two');
  expect(statSync(path).uid).toBe(4321);
  expect(modeOf(path)).toBe('644');
});
