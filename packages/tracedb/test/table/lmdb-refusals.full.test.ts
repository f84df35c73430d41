// A place that cannot hold a store, and a file that is none or is damaged, give an error that says so: in the first call, and
// without ending the process.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open as openLmdb } from 'lmdb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../../../../test/support/child.js';
import { sampleOf } from '../../../../test/support/samples.js';
import { checkFileSystem, unfitFileSystem } from '../../src/table/lmdb/data-file.js';
import { openTable } from '../../src/table/open-table.js';
import { rejection } from '../params/support/refusal.js';
import { bundleProgram, startProgram } from '../support/child.js';
import { mountEmptyFuse } from '../support/empty-fuse.js';

const SCHEMA = { families: ['V'] };
const NOBODY = 65534;
const PAGE = 8192;

const folder = mkdtempSync(join(tmpdir(), 'spanline-refusals-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const opening = (location: string): Promise<string> => rejection(() => openTable(location, SCHEMA));

let program: string;
/** Opens in a process of its own, which a bad file could end. */
const openedBy = async (directory: string, ...user: string[]) => {
  const child = startProgram(program, [directory, ...user]);
  const { code, signal } = await child.finish();
  return [child.lines.at(-1) ?? `code ${code}, signal ${signal}`, child.stderr().trim()];
};

beforeAll(async () => {
  program = await bundleProgram(join(root, 'packages/tracedb/test/table/children/lmdb-open.ts'));
});

/** Mounts a small disk; undefined where this user may not. */
const mounted = (): string | undefined => {
  const disk = mkdtempSync(join(tmpdir(), 'spanline-read-only-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'spanline-test', disk]);
  if (status === 0) return disk;
  rmSync(disk, { recursive: true });
  return undefined;
};

test('a store on a disk that is mounted read-only is read, and refuses to be written', async ({ skip }) => {
  const disk = mounted() ?? skip('no disk can be mounted here');
  try {
    const place = join(disk, 'store');
    const row = {
      key: 'row',
      mutations: [{ type: 'set', family: 'V', qualifier: '0', value: Buffer.from('x'), timestampMs: 1 }],
    } as const;
    const made = await openTable(place, SCHEMA);
    await made.mutateRows([row]);
    await made.close();
    execFileSync('mount', ['-o', 'remount,ro', disk]);
    const table = await openTable(place, { ...SCHEMA, make: false });
    expect((await table.readRow('row'))?.cells).toHaveLength(1);
    expect(await rejection(() => table.mutateRows([row]))).toMatch(/^ERR_SPANLINE_STORE_UNAVAILABLE: .* is read-only/);
    await table.close();
    expect(await rejection(() => openTable(place, { families: ['W'] }))).toMatch(/^ERR_SPANLINE_NOT_FOUND/);
    expect(await opening(join(disk, 'other'))).toMatch(/^ERR_SPANLINE_STORE_UNAVAILABLE/);
  } finally {
    // The engine may still have the file mapped.
    execFileSync('umount', ['-l', disk]);
    rmSync(disk, { recursive: true });
  }
});

test.runIf(process.platform === 'linux')('a directory that would be made in /proc is refused at once', async () => {
  expect(await opening('/proc/spanline/store')).toMatch(/^ERR_SPANLINE_STORE_FILE_SYSTEM: .* is on proc/);
});

describe('network file systems', () => {
  test.each([
    ['NFS', 0x6969],
    ['SMB', 0x517b],
    ['CIFS', 0xff534d42],
    ['9P', 0x01021997],
    ['FUSE', 0x65735546],
  ])('%s is refused', async (name, type) => {
    expect(unfitFileSystem(type)).toBe(name);
    const message = await rejection(() => checkFileSystem('/mnt/share', async () => type));
    expect(message).toBe(
      `ERR_SPANLINE_STORE_FILE_SYSTEM: /mnt/share is on ${name}, which cannot hold a memory-mapped store that processes share; ` +
        'use a local disk, or a bigtable:// store to share it between machines',
    );
  });

  test.each([
    ['ext4', 0xef53],
    ['xfs', 0x58465342],
    ['btrfs', 0x9123683e],
    ['tmpfs', 0x01021994],
    ['overlayfs', 0x794c7630],
    ['zfs', 0x2fc12fc1],
  ])('%s is fine', async (_name, type) => {
    expect(await rejection(() => checkFileSystem('/srv/data', async () => type))).toBe('no error');
  });
});

test('a mounted network file system is refused, and nothing is written to it', async (context) => {
  const directory = join(folder, 'mounted');
  mkdirSync(directory);
  let unmount: () => void;
  try {
    unmount = mountEmptyFuse(directory);
  } catch (error) {
    context.skip(`no FUSE file system can be mounted here: ${String((error as Error).message).trim()}`);
    return;
  }
  try {
    expect(await opening(directory)).toMatch(/^ERR_SPANLINE_STORE_FILE_SYSTEM: .*mounted is on FUSE.*bigtable:/);
  } finally {
    unmount();
  }
});

describe('not a directory', () => {
  test('a file', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, 'text');
    expect(await opening(file)).toMatch(/^ERR_SPANLINE_INVALID_INPUT: .*file.*name a directory, not a file$/);
    expect(await opening(join(file, 'below'))).toMatch(/^ERR_SPANLINE_INVALID_INPUT: .*name a directory, not a file$/);
    expect(readFileSync(file, 'utf8')).toBe('text');
  });
});

describe('files that are not a store', () => {
  test('of another program that uses LMDB: refused, and left as they were', async () => {
    const directory = join(folder, 'foreign');
    const other = openLmdb({ path: directory, noSubdir: false });
    await other.put('key', 'value');
    await other.openDB({ name: 'meta' }).put('schema', 'value');
    const before = [...other.getKeys()];
    expect(await opening(directory)).toMatch(/^ERR_SPANLINE_STORE_CORRUPT: .*foreign holds no table of format 2/);
    expect([[...other.getKeys()], other.get('key')]).toEqual([before, 'value']);
    await other.close();
  });

  test.each([
    ['schema', '{}'],
    ['version-1', '{"version":1,"families":["S"]}'],
    ['version-3', '{"version":3,"families":["S"]}'],
  ])('with only our names in it, but not our %s', async (name, schema) => {
    const directory = join(folder, name);
    const other = openLmdb({ path: directory, noSubdir: false });
    await other.openDB({ name: 'meta', encoding: 'binary' }).put('schema', Buffer.from(schema));
    await other.close();
    expect(await opening(directory)).toMatch(
      new RegExp(`^ERR_SPANLINE_STORE_CORRUPT: .*${name} holds no table of format 2`),
    );
  });
});

describe('damaged files', () => {
  const good = join(folder, 'good');
  let bytes: Buffer;
  beforeAll(async () => {
    const table = await openTable(good, SCHEMA);
    const value = Buffer.alloc(100, 1);
    for (let batch = 0; batch < 4; batch++) {
      const rows = Array.from({ length: 1000 }, (_, i) => ({
        key: `row-${batch}-${i}`,
        mutations: [{ type: 'set' as const, family: 'V', qualifier: 'q', value, timestampMs: 1 }],
      }));
      await table.mutateRows(rows);
    }
    await table.close();
    bytes = readFileSync(join(good, 'data.mdb'));
  });

  const damaged = (name: string, change: (file: string) => void): string => {
    const directory = join(folder, name);
    mkdirSync(directory);
    const file = join(directory, 'data.mdb');
    copyFileSync(join(good, 'data.mdb'), file);
    change(file);
    return directory;
  };
  const overwrite = (from: number, to: number, byte: number) => (file: string) =>
    writeFileSync(file, Buffer.from(bytes).fill(byte, from, to));

  test('a copy without damage opens', async () => {
    expect(await openedBy(damaged('whole', () => {}))).toEqual(['opened, read, written', '']);
  });

  test('a whole file that is shorter than it says opens', async () => {
    const directory = join(folder, 'short');
    const table = await openTable(directory, SCHEMA);
    const cell = { family: 'V', qualifier: 'large' };
    const large = { type: 'set' as const, ...cell, value: Buffer.alloc(500_000, 1), timestampMs: 1 };
    // Pages at the end that are given up in the call that took them are not written.
    await table.mutateRows([{ key: 'a', mutations: [large, { type: 'delete-row' }] }]);
    await table.close();
    const file = readFileSync(join(directory, 'data.mdb'));
    const lastPage = [0, PAGE].reduce((last, at) => Math.max(last, Number(file.readBigUInt64LE(at + 144))), 0);
    expect(file.length / PAGE).toBeLessThan(lastPage);
    expect(await openedBy(directory)).toEqual(['opened, read, written', '']);
  });

  test('a file that is longer than its pages opens', async () => {
    const longer = damaged('longer', (file) => truncateSync(file, bytes.length + 100_000));
    expect(await openedBy(longer)).toEqual(['opened, read, written', '']);
  });

  const damages: readonly [name: string, change: (file: string) => void, message: RegExp][] = [
    ['text', (file) => writeFileSync(file, 'hello'), /text.data\.mdb is not an LMDB file, or damaged; restore a copy/],
    ['noise', overwrite(0, 1_000_000, 0x5a), /is not an LMDB file/],
    ['no-first-page', overwrite(0, PAGE, 0), /is not an LMDB file/],
    ['no-second-page', overwrite(PAGE, 2 * PAGE, 0), /is damaged: its second page/],
    ['cut-in-second-page', (file) => truncateSync(file, PAGE + 10), /is damaged/],
    ['cut-behind-them', (file) => truncateSync(file, 2 * PAGE), /cut off after 16384 bytes/],
    ['cut-in-the-middle', (file) => truncateSync(file, bytes.length / 2), /cut off/],
    ['cut-in-the-last-page', (file) => truncateSync(file, bytes.length - 1), /cut off/],
    ['empty-pages', overwrite(2 * PAGE, 1_000_000, 0), /MDB_CORRUPTED.*restore a copy/s],
  ];
  test.each(sampleOf(damages, 3, damages.length))('%s', async (name, change, message) => {
    const [said, stderr] = await openedBy(damaged(name, change));
    expect(said).toBe('ERR_SPANLINE_STORE_CORRUPT');
    expect(stderr).toMatch(message);
  });
});

describe('no permission', () => {
  const asNobody = process.getuid?.() === 0 ? [String(NOBODY)] : [];

  test('to make the directory, or to write in it', async () => {
    const closed = join(folder, 'closed');
    mkdirSync(join(closed, 'empty'), { recursive: true });
    mkdirSync(join(closed, 'mine'));
    await (await openTable(join(closed, 'mine'), SCHEMA)).close();
    await chmod(folder, 0o755);
    for (const name of ['empty', 'mine', '']) await chmod(join(closed, name), 0o555);
    for (const file of ['data.mdb', 'lock.mdb']) await chmod(join(closed, 'mine', file), 0o444);
    for (const name of ['empty', 'mine', 'new']) {
      const [said, stderr] = await openedBy(join(closed, name), ...asNobody);
      expect([name, said]).toEqual([name, 'ERR_SPANLINE_STORE_UNAVAILABLE']);
      expect(stderr).toMatch(/closed.*give this user the right to write to the directory/);
    }
    for (const name of ['', 'empty', 'mine']) await chmod(join(closed, name), 0o755);
  });
});
