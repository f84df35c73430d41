// A full disk gives a clear error and nothing else: no half of a batch, no unhandled rejection, no crash; and writing goes on when
// there is room again. Needs a small disk of its own, so root.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { root } from '../../../../test/support/child.js';
import { bundleProgram, startProgram } from '../support/child.js';

const DISK_BYTES = 8 * 1024 * 1024;
const BALLAST_BYTES = 2_000_000;

/** A disk of `DISK_BYTES`, or undefined where this user may not mount one. */
const mountDisk = (): string | undefined => {
  const directory = mkdtempSync(join(tmpdir(), 'spanline-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', directory], { stdio: 'pipe' });
    return directory;
  } catch (error) {
    rmSync(directory, { recursive: true });
    console.warn(
      `skipped: a full disk. A small tmpfs cannot be mounted here: ${String((error as Error).message).trim()}`,
    );
    return undefined;
  }
};

const disk = mountDisk();
afterAll(() => {
  if (disk === undefined) return;
  execFileSync('umount', [disk]);
  rmSync(disk, { recursive: true });
});

describe.skipIf(disk === undefined)('a full disk', () => {
  const ballast = join(disk ?? '', 'ballast');

  test('refuses batches whole, can be read, and takes batches again when there is room', async () => {
    await writeFile(ballast, Buffer.alloc(BALLAST_BYTES));
    const program = await bundleProgram(join(root, 'packages/tracedb/test/table/children/lmdb-full.ts'));
    const child = startProgram(program, [join(disk as string, 'store')]);
    await child.line((line) => line === 'full');
    await rm(ballast);
    child.process.stdin?.write('there is room\n');
    const end = await child.ended;
    expect({ ...end, rejections: child.stderr().includes('unhandled') }).toEqual({
      code: 0,
      signal: null,
      rejections: false,
    });
    const report = JSON.parse(child.lines.at(-1) ?? '') as Record<string, unknown>;
    expect(report.acked).toBeGreaterThan(5);
    expect({ ...report, acked: undefined }).toEqual({
      refusal: 'ERR_SPANLINE_STORE_FULL',
      again: 'ERR_SPANLINE_STORE_FULL',
      sideBySide: ['ERR_SPANLINE_STORE_FULL'],
      wrongWhenFull: [],
      wrongForOther: [],
      wrongWithRoom: [],
      wrongReopened: [],
      openReads: 0,
    });
    rmSync(join(disk as string, 'store'), { recursive: true });
  });

  test.each([0, 4, 28, 60])('with %i KB left, opens a store that is there and makes no new one', async (leftKb) => {
    const directory = join(disk as string, `store-${leftKb}`);
    const fresh = join(disk as string, `new-${leftKb}`);
    const program = await bundleProgram(join(root, 'packages/tracedb/test/table/children/lmdb-open.ts'));
    const open = async (location: string) => {
      const child = startProgram(program, [location]);
      const end = await child.finish();
      return { ...end, said: child.lines.at(-1), rejections: child.stderr().includes('unhandled') };
    };
    const fine = { code: 0, signal: null, rejections: false };
    expect(await open(directory)).toEqual({ ...fine, said: 'opened, read, written' });
    mkdirSync(fresh);
    await writeFile(ballast, Buffer.alloc(DISK_BYTES)).catch(() => {});
    await truncate(ballast, (await stat(ballast)).size - leftKb * 1024);
    expect(await open(fresh)).toEqual({ ...fine, said: 'ERR_SPANLINE_STORE_FULL' });
    expect(await open(directory)).toMatchObject({
      ...fine,
      said: expect.stringMatching(/^opened, read, (written|ERR_SPANLINE_STORE_FULL)$/),
    });
    await rm(ballast);
    expect(await open(fresh)).toEqual({ ...fine, said: 'opened, read, written' });
    expect(await open(directory)).toEqual({ ...fine, said: 'opened, read, written' });
    for (const location of [fresh, directory]) rmSync(location, { recursive: true });
  });
});
