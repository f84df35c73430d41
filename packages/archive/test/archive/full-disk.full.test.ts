// A full disk keeps nobody from opening an archive: what is too much is deleted before files of dead writers are taken over, which needs
// room, and what cannot be taken over is read where it is until it can be. On a real file system of a few megabytes, where one can be made.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { failureOf } from '../../../graph/test/container/support/errors.js';
import { Archive } from '../../src/archive.js';
import { ownerText, THIS_OWNER } from '../../src/directory.js';
import { WalWriter } from '../../src/wal/wal-writer.js';
import { span, spanIdOf, traceIdOf } from '../segment/support/segments.js';
import { filesOf, newDirectory, SEGMENT, WAL } from './support/directory.js';

const MIB = 1024 * 1024;

/** Mounts a file system of `mib` at `place`; false where that is not allowed. */
const mount = (place: string, mib: number): boolean => {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mib}m`, 'spanline-test', place], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

const canMount = ((): boolean => {
  if (process.platform !== 'linux') return false;
  const place = join(process.cwd(), 'node_modules', `.spanline-mount-${process.pid}`);
  mkdirSync(place, { recursive: true });
  try {
    const done = mount(place, 1);
    if (done) execFileSync('umount', [place]);
    return done;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
})();

const smallDisk = (mib: number): string => {
  const place = newDirectory();
  if (!mount(place, mib)) throw new Error('no file system could be made');
  onTestFinished(() => {
    execFileSync('umount', ['-l', place]);
  });
  return place;
};

/** `count` spans that do not compress, a kilobyte each, of minute `minute`. */
const spansOf = (minute: number, count: number) => {
  return Array.from({ length: count }, (_, n) => {
    const startUnixNs = 1_760_000_000_000_000_000n + BigInt(minute) * 60_000_000_000n + BigInt(n);
    const body = new Uint8Array(randomBytes(1000));
    const id = minute * 10_000 + n + 1;
    return span({
      traceId: traceIdOf(id),
      spanId: spanIdOf(id),
      startUnixNs,
      endUnixNs: startUnixNs,
      properties: { body },
    });
  });
};

const DEAD = ownerText({ ...THIS_OWNER, pid: 2 ** 22 + 1, instance: '0badf00d' });

/** Segments of minutes 0 to 3, a megabyte each, and a dead writer's file of minute 9 of one and a half; then not a byte is left. */
const fillDisk = async (directory: string): Promise<void> => {
  const archive = await Archive.open(directory, { maintain: false });
  for (let minute = 0; minute < 4; minute++) {
    archive.append(spansOf(minute, 1000));
    await archive.seal();
  }
  await archive.close();
  const wal = new WalWriter(join(directory, `wal-${DEAD}-0123456789ab.log`));
  wal.append(spansOf(9, 1500));
  wal.close();
  const { bavail, bsize } = statfsSync(directory);
  writeFileSync(join(directory, 'ballast'), Buffer.alloc(bavail * bsize));
  expect(statfsSync(directory).bavail).toBe(0);
};

const minutesOf = async (archive: Archive): Promise<Set<number>> =>
  new Set(
    (await archive.search({ limit: 10_000 })).map(({ traceId }) =>
      Math.floor((Number.parseInt(traceId, 16) - 1) / 10_000),
    ),
  );

test.skipIf(!canMount)('retention makes room for recovery', { timeout: 60_000 }, async () => {
  const directory = smallDisk(8);
  await fillDisk(directory);
  const archive = await Archive.open(directory, { maxBytes: 2.5 * MIB });
  onTestFinished(() => archive.close());
  const stats = await archive.stats();
  expect(stats).toMatchObject({ recoveredFiles: 1, recoveredSpans: 1500, failures: 0 });
  expect(stats.bytes).toBeLessThanOrEqual(2.5 * MIB);
  expect(filesOf(directory, WAL)).toEqual([]);
  // The newest.
  expect(await minutesOf(archive)).toContain(9);
  expect(await minutesOf(archive)).not.toContain(0);
});

test.skipIf(!canMount)(
  'without room for recovery everything is read, and taken over once there is room',
  { timeout: 60_000 },
  async () => {
    const directory = smallDisk(8);
    await fillDisk(directory);
    const archive = await Archive.open(directory);
    onTestFinished(() => archive.close());
    expect(await minutesOf(archive)).toEqual(new Set([0, 1, 2, 3, 9]));
    expect(await archive.search({ limit: 10_000 })).toHaveLength(5500);
    const stats = await archive.stats();
    expect(stats).toMatchObject({ recoveredFiles: 0, failures: 1, lastFailure: expect.stringContaining('no space') });
    expect(readdirSync(directory).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    expect((await failureOf(Promise.resolve().then(() => archive.append(spansOf(5, 100))))).message).toContain(
      'no space',
    );
    expect((await archive.stats()).refusedSpans).toBe(100);
    await archive.close();
    rmSync(join(directory, 'ballast'));
    const next = await Archive.open(directory);
    onTestFinished(() => next.close());
    expect(await next.stats()).toMatchObject({ recoveredFiles: 1, recoveredSpans: 1500, failures: 0 });
    expect(filesOf(directory, SEGMENT).every((name) => statSync(join(directory, name)).size > 0)).toBe(true);
    expect(await next.search({ limit: 10_000 })).toHaveLength(5500);
  },
);
