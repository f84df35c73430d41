// A spool has one owner: a living one keeps it, a dead one of this machine loses it, one of another machine keeps it for ever.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { timers } from 'spanline/internal/base';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { fakeTimers } from '../../../../test/support/fake-timers.js';
import { LOCK_FILE, SpoolLock } from '../../src/bucket/spool-lock.js';
import { THIS_OWNER } from '../../src/directory.js';
import { newDirectory } from '../archive/support/directory.js';

const deadPid = (): number => spawnSync(process.execPath, ['-e', '']).pid;

const own = (directory: string, changes: object, ageMs = 0): string => {
  const path = join(directory, LOCK_FILE);
  const owner = { host: hostname(), place: THIS_OWNER.host, pid: process.ppid, instance: '00000000', ...changes };
  writeFileSync(path, `${JSON.stringify(owner)}\n`);
  const sign = (Date.now() - ageMs) / 1000;
  utimesSync(path, sign, sign);
  return path;
};

const IN_USE = { code: 'ERR_SPANLINE_BUCKET_SPOOL' };

test('one whose sign of life lies in the future, and gives no other, loses it', async () => {
  const directory = newDirectory();
  const path = own(directory, { place: 'ffffffff' }, -24 * 3_600_000);
  fakeTimers('setTimeout', 'performance');
  const taking = SpoolLock.take(directory);
  await vi.advanceTimersByTimeAsync(61_000);
  const lock = await taking;
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ pid: process.pid });
  lock.release();
});

test('two in one process', async () => {
  const directory = newDirectory();
  const lock = await SpoolLock.take(directory);
  await expect(SpoolLock.take(directory)).rejects.toMatchObject(IN_USE);
  lock.release();
  (await SpoolLock.take(directory)).release();
});

test('a process that lives keeps it', async () => {
  const directory = newDirectory();
  own(directory, {});
  await expect(SpoolLock.take(directory)).rejects.toMatchObject(IN_USE);
});

test.each([
  ['is dead', () => ({ pid: deadPid() }), 0],
  ['was silent for a minute', () => ({}), 61_000],
  ['was silent, in a container that was there before', () => ({ place: 'ffffffff' }), 61_000],
])('a process that %s loses it', async (_, changes, ageMs) => {
  const directory = newDirectory();
  const path = own(directory, changes(), ageMs);
  const lock = await SpoolLock.take(directory);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ pid: process.pid });
  lock.release();
});

test('a process of another machine keeps it, and the file to delete is named', async () => {
  const directory = newDirectory();
  const path = own(directory, { host: 'elsewhere' }, 10 * 60_000);
  await expect(SpoolLock.take(directory)).rejects.toThrow(`delete ${path}`);
});

test('a file that says nothing is of another machine', async () => {
  const directory = newDirectory();
  writeFileSync(join(directory, LOCK_FILE), 'nonsense');
  await expect(SpoolLock.take(directory)).rejects.toMatchObject(IN_USE);
});

test('of several that come at once one takes it from a dead one', async () => {
  const directory = newDirectory();
  own(directory, { pid: deadPid() });
  const taken = await Promise.allSettled(Array.from({ length: 8 }, () => SpoolLock.take(directory)));
  const locks = taken.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  expect(locks).toHaveLength(1);
  locks[0].release();
});

describe('a process that was stopped for longer than others wait', () => {
  const stopped = async () => {
    const directory = newDirectory();
    const lock = await SpoolLock.take(directory);
    onTestFinished(() => lock.release());
    const text = readFileSync(join(directory, LOCK_FILE), 'utf8');
    let again = 0;
    lock.onAgain = () => again++;
    let laterMs = 0;
    const { monotonicMs } = timers;
    vi.spyOn(timers, 'monotonicMs').mockImplementation(() => monotonicMs() + laterMs);
    onTestFinished(() => void vi.restoreAllMocks());
    return {
      ...{ directory, lock, text },
      again: () => again,
      pass: (ms: number) => {
        laterMs += ms;
      },
    };
  };

  test('notices that another has its spool, and that it has it no longer', async () => {
    const { directory, lock, text, again, pass } = await stopped();
    own(directory, {});
    // Nobody is taken for dead as quickly.
    expect(lock.check()).toBe(true);
    pass(61_000);
    expect(lock.check()).toBe(false);
    expect(lock.lostTo).toContain(`taken over by process ${process.ppid} of ${hostname()}`);
    expect([lock.losses, again()]).toEqual([1, 0]);
    rmSync(directory, { recursive: true });
    pass(1000);
    expect(lock.check()).toBe(true);
    expect(readFileSync(join(directory, LOCK_FILE), 'utf8')).toBe(text);
    expect([lock.losses, again()]).toEqual([1, 1]);
  });

  test('notices that its spool was emptied, and was given back', async () => {
    const { directory, lock, text, again, pass } = await stopped();
    writeFileSync(join(directory, LOCK_FILE), ` ${text}`);
    pass(61_000);
    expect(lock.check()).toBe(true);
    expect(readFileSync(join(directory, LOCK_FILE), 'utf8')).toBe(text);
    expect([lock.losses, again()]).toEqual([1, 1]);
  });

  test('has its spool again when the process that took it is dead', async () => {
    const { directory, lock, text, again, pass } = await stopped();
    own(directory, {});
    pass(61_000);
    expect(lock.check()).toBe(false);
    own(directory, { pid: deadPid() });
    pass(1000);
    expect(lock.check()).toBe(true);
    expect(readFileSync(join(directory, LOCK_FILE), 'utf8')).toBe(text);
    expect([lock.losses, again()]).toEqual([1, 1]);
  });

  test('has lost nothing when nobody was there', async () => {
    const { lock, again, pass } = await stopped();
    pass(3_600_000);
    expect(lock.check()).toBe(true);
    expect([lock.losses, again()]).toEqual([0, 0]);
  });
});

test('one that is silent and not dead gets its spool back, or keeps it', async () => {
  const directory = newDirectory();
  const path = own(directory, {}, 61_000);
  await expect(SpoolLock.take(directory, { waits: false, sparesSilent: true })).rejects.toMatchObject(IN_USE);
  const lock = await SpoolLock.take(directory, { waits: false });
  expect(lock.giveBack()).toBe(true);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ pid: process.ppid });
  // Of a dead one nothing is given back.
  own(directory, { pid: deadPid() });
  expect((await SpoolLock.take(directory)).giveBack()).toBe(false);
  expect(existsSync(path)).toBe(false);
});
