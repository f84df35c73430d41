// What is in a spool comes into the bucket once, whatever fails on the way, and stays in the spool until it is there.
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { timers } from 'spanline/internal/base';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Spool } from '../../src/bucket/spool.js';
import { LOCK_FILE } from '../../src/bucket/spool-lock.js';
import { type Outcome, Uploader } from '../../src/bucket/uploader.js';
import { filesOf, newDirectory, SEGMENT } from '../archive/support/directory.js';
import { MemoryStore, unreachable } from './support/memory-store.js';

const HOUR_MS = 3_600_000;
const NAME = 'seg-1-2-0123456789ab.spans';

const nameOf = (number: number): string => `seg-1-2-${number.toString(16).padStart(12, '0')}.spans`;

interface Bench {
  readonly spool: Spool;
  readonly store: MemoryStore;
  readonly uploader: Uploader;
  readonly reported: string[];
  outcome: Outcome;
  replaces: readonly string[] | undefined;
}

const newBench = async (directory = newDirectory(), spoolBytes = 1_000_000): Promise<Bench> => {
  const spool = await Spool.open(directory);
  onTestFinished(() => spool.close());
  const store = new MemoryStore();
  const reported: string[] = [];
  const bench = {
    spool,
    store,
    reported,
    outcome: { isKnown: false, listFrom: '' },
    replaces: [] as readonly string[] | undefined,
  };
  const uploader = new Uploader({
    ...{ spool, store, spoolBytes },
    outcome: async () => {
      await store.get('catalogue.json');
      return bench.outcome;
    },
    replacesOf: async () => bench.replaces,
    rotateTimelines: () => {},
    onUploaded: (_segment, key) => reported.push(key),
    onAdopted: () => {},
  });
  return Object.assign(bench, { uploader });
};

const write = ({ spool }: Pick<Bench, 'spool'>, name = NAME, text = 'spans'): void =>
  writeFileSync(join(spool.directory, name), text);

test('a segment is put under its name and the hour of the store, and goes from the spool', async () => {
  const bench = await newBench();
  write(bench);
  await bench.uploader.drain();
  const key = `fresh/2026-11-27T10/${NAME}`;
  expect([...bench.store.objects]).toEqual([[key, Buffer.from('spans')]]);
  expect(bench.reported).toEqual([key]);
  expect(readdirSync(bench.spool.directory)).toEqual([LOCK_FILE]);
  expect(bench.uploader.stats()).toMatchObject({ uploads: 1, uploadedBytes: 5, uploadFailures: 0, uploadDelayMs: 0 });
});

test('it stays as long as its write-ahead file, and is not put again', async () => {
  const bench = await newBench();
  write(bench);
  const wal = `wal-00000000-1-00000000-${'c'.repeat(12)}.log`;
  write(bench, wal);
  bench.replaces = ['c'.repeat(12)];
  await bench.uploader.drain();
  expect(filesOf(bench.spool.directory, SEGMENT)).toEqual([NAME]);
  bench.spool.removeFiles([wal]);
  bench.store.before = (call) => {
    if (call === 'put') throw new Error('put again');
  };
  await bench.uploader.drain();
  expect(readdirSync(bench.spool.directory)).toEqual([LOCK_FILE]);
});

test('it stays while nobody can say which write-ahead files it stands for', async () => {
  const bench = await newBench();
  write(bench);
  const wal = `wal-00000000-1-00000000-${'c'.repeat(12)}.log`;
  write(bench, wal);
  bench.replaces = undefined;
  await bench.uploader.drain();
  expect(bench.store.objects.size).toBe(1);
  expect(filesOf(bench.spool.directory, SEGMENT)).toEqual([NAME]);
  bench.replaces = ['d'.repeat(12)];
  await bench.uploader.drain();
  expect(filesOf(bench.spool.directory, SEGMENT)).toEqual([]);
});

test('what cannot be put stays, is counted, and is put later', async () => {
  const bench = await newBench();
  for (let i = 0; i < 10; i++) write(bench, nameOf(i));
  bench.store.before = unreachable;
  await expect(bench.uploader.drain()).rejects.toMatchObject({ code: 'ERR_SPANLINE_BUCKET_UNAVAILABLE' });
  expect(filesOf(bench.spool.directory, SEGMENT)).toHaveLength(10);
  const { uploads, uploadFailures, lastUploadFailure } = bench.uploader.stats();
  expect({ uploads, uploadFailures }).toEqual({ uploads: 0, uploadFailures: 1 });
  expect(lastUploadFailure).toContain('s3://memory/archive');
  expect(bench.uploader.trouble).toBe(lastUploadFailure);
  bench.store.before = () => {};
  await bench.uploader.drain();
  expect(bench.uploader.trouble).toBe('');
  expect(bench.store.objects.size).toBe(10);
});

test('an answer that was lost: another process with the spool meets the object, in the same hour and later', async () => {
  for (const laterMs of [0, 5 * HOUR_MS]) {
    const directory = newDirectory();
    const first = await newBench(directory);
    write(first);
    first.store.after = unreachable;
    await expect(first.uploader.drain()).rejects.toThrow();
    first.spool.close();
    const second = await newBench(directory);
    for (const [key, bytes] of first.store.objects) second.store.objects.set(key, bytes);
    second.store.now += laterMs;
    await second.uploader.drain();
    expect([...second.store.objects.keys()]).toEqual([`fresh/2026-11-27T10/${NAME}`]);
    expect(readdirSync(directory)).toEqual([LOCK_FILE]);
    second.spool.close();
  }
});

test('one that the catalogue knows is not put again', async () => {
  const bench = await newBench();
  write(bench);
  bench.spool.willTry(NAME, '2026-11-27T08');
  bench.outcome = { isKnown: true, listFrom: '2026-11-27T10' };
  await bench.uploader.drain();
  expect(bench.store.objects.size).toBe(0);
  expect(readdirSync(bench.spool.directory)).toEqual([LOCK_FILE]);
});

test('one that lies where nobody looks any more is put where they do', async () => {
  const bench = await newBench();
  write(bench);
  bench.spool.willTry(NAME, '2026-11-27T08');
  bench.store.objects.set(`fresh/2026-11-27T08/${NAME}`, Buffer.from('spans'));
  bench.outcome = { isKnown: false, listFrom: '2026-11-27T10' };
  await bench.uploader.drain();
  expect([...bench.store.objects.keys()]).toContain(`fresh/2026-11-27T10/${NAME}`);
});

test('a put that takes longer than its hour is made again where it is looked for', async () => {
  const bench = await newBench();
  write(bench);
  bench.store.after = () => {
    bench.store.after = () => {};
    bench.store.now += 3 * HOUR_MS;
    bench.outcome = { isKnown: false, listFrom: '2026-11-27T12' };
  };
  await bench.uploader.drain();
  expect([...bench.store.objects.keys()]).toEqual([`fresh/2026-11-27T10/${NAME}`, `fresh/2026-11-27T13/${NAME}`]);
});

test('one that was tried longer ago than the archive remembers is put aside, and the others are put', async () => {
  const bench = await newBench();
  write(bench);
  write(bench, nameOf(2));
  bench.spool.willTry(NAME, '2026-11-20T09');
  await expect(bench.uploader.drain()).rejects.toMatchObject({ code: 'ERR_SPANLINE_BUCKET_TOO_LATE' });
  await bench.uploader.drain();
  expect(readdirSync(bench.spool.directory).sort()).toEqual([`late-${NAME}`, LOCK_FILE].sort());
  expect([...bench.store.objects.keys()]).toEqual([`fresh/2026-11-27T10/${nameOf(2)}`]);
});

test('a full spool says so', async () => {
  const bench = await newBench(newDirectory(), 100);
  expect(bench.uploader.isFull).toBe(false);
  write(bench, NAME, 'x'.repeat(200));
  bench.uploader.stats();
  expect(bench.uploader.isFull).toBe(true);
  await bench.uploader.drain();
  bench.uploader.stats();
  expect(bench.uploader.isFull).toBe(false);
});

test('timelines go up with a segment', async () => {
  const bench = await newBench();
  write(bench);
  write(bench, `timeline-100-200-${'a'.repeat(12)}.jsonl`, 'one\n');
  write(bench, `timeline-150-300-${'b'.repeat(12)}.jsonl`, 'two\n');
  await bench.uploader.drain();
  expect(bench.store.objects.get(`timelines/2026-11-27T10/${NAME}.100-300.jsonl`)?.toString()).toBe('one\ntwo\n');
  expect(readdirSync(bench.spool.directory)).toEqual([LOCK_FILE]);
});

test('closing waits a bounded time, and leaves the rest', async () => {
  const bench = await newBench();
  write(bench);
  bench.store.before = unreachable;
  await bench.uploader.close(1000);
  expect(filesOf(bench.spool.directory, SEGMENT)).toEqual([NAME]);
});

test('closing ends what waits for an answer of the catalogue that never comes', async () => {
  const bench = await newBench();
  write(bench);
  const uploader = new Uploader({
    ...{ spool: bench.spool, store: bench.store, spoolBytes: 1_000_000 },
    outcome: (_segment, signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true })),
    replacesOf: async () => [],
    rotateTimelines: () => {},
    onUploaded: () => {},
    onAdopted: () => {},
  });
  await uploader.close(1);
  expect(filesOf(bench.spool.directory, SEGMENT)).toEqual([NAME]);
});

test('spools beside: each process has its own, and what dead ones left is taken over', async () => {
  const home = newDirectory();
  const first = await Spool.openOneOf(home);
  const second = await Spool.openOneOf(home);
  expect(second.directory).not.toBe(first.directory);
  write({ spool: second });
  second.willTry(NAME, '2026-11-27T08');
  expect(await first.adopt()).toEqual({ files: 0, failures: [] });
  second.close();
  expect(await first.adopt()).toEqual({ files: 2, failures: [] });
  expect(first.segments()).toMatchObject([{ name: NAME, tried: ['2026-11-27T08'] }]);
  expect(existsSync(second.directory)).toBe(false);
  first.close();
});

test('a neighbouring spool that cannot be used is not taken for one in use: the reason is reported', async () => {
  const home = newDirectory();
  writeFileSync(join(home, 'process-0'), 'a file');
  await expect(Spool.openOneOf(home)).rejects.toThrow(/the spool .*process-0 cannot be used: .*(?:EEXIST|ENOTDIR)/);
  rmSync(join(home, 'process-0'));
  // A lock that cannot be read.
  mkdirSync(join(home, 'process-0', LOCK_FILE), { recursive: true });
  await expect(Spool.openOneOf(home)).rejects.toThrow(/the spool .*process-0 cannot be used: .*EISDIR/);
  rmSync(join(home, 'process-0'), { recursive: true });
  const spool = await Spool.openOneOf(home);
  mkdirSync(join(home, 'process-1', LOCK_FILE), { recursive: true });
  const { files, failures } = await spool.adopt();
  expect(files).toBe(0);
  expect(failures.map(String)).toEqual([expect.stringMatching(/process-1 cannot be used/)]);
  spool.close();
});

test('that all spools are in use says of the last by whom', async () => {
  const home = newDirectory();
  const owner = { host: 'elsewhere', place: '00000000', pid: 1, instance: '00000000' };
  for (let number = 0; number < 256; number++) {
    mkdirSync(join(home, `process-${number}`));
    writeFileSync(join(home, `process-${number}`, LOCK_FILE), JSON.stringify(owner));
  }
  await expect(Spool.openOneOf(home)).rejects.toThrow(/all 256 spools in .* are in use; of the last: .* of elsewhere/);
});

test('each failure is reported, and that uploads go on', async () => {
  const bench = await newBench();
  write(bench);
  const troubles: (string | undefined)[] = [];
  const uploader = new Uploader({
    ...{ spool: bench.spool, store: bench.store, spoolBytes: 1_000_000 },
    outcome: async () => bench.outcome,
    replacesOf: async () => [],
    rotateTimelines: () => {},
    onUploaded: () => {},
    onAdopted: () => {},
    onTrouble: (trouble) => troubles.push(trouble),
  });
  bench.store.before = unreachable;
  await expect(uploader.drain()).rejects.toThrow();
  bench.store.before = () => {};
  await uploader.drain();
  expect(troubles).toEqual([expect.stringContaining('does not answer'), undefined]);
});

test('a clock that is put back keeps nothing from being tried again', async () => {
  const bench = await newBench();
  write(bench);
  bench.store.before = unreachable;
  await expect(bench.uploader.drain()).rejects.toThrow();
  bench.store.before = () => {};
  const clock = vi.spyOn(timers, 'wallMs').mockImplementation(() => Date.now() - HOUR_MS);
  onTestFinished(() => clock.mockRestore());
  bench.uploader.start();
  onTestFinished(() => bench.uploader.close(1000));
  await vi.waitFor(() => expect(bench.store.objects.size).toBe(1), { timeout: 30_000 });
});
