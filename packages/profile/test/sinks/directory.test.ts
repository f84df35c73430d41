// The directory sink leaves whole files named by time and no more of them than it may; what others keep there stays.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readProfile } from '../../src/output/read-profile.js';
import { directorySink } from '../../src/sinks/directory.js';
import { shop, summary } from '../support/sampled.js';

const root = mkdtempSync(join(tmpdir(), 'spanline-sink-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let made = 0;
const fresh = (): string => join(root, `d${made++}`, 'deeper');

/** Taken so many seconds after the first. */
const later = (seconds: number) => ({ ...shop(), startUnixNs: shop().startUnixNs + BigInt(seconds) * 1_000_000_000n });

test('a file for each profile, named by its time, whole and readable', async () => {
  const dir = fresh();
  const sink = directorySink({ dir });
  await sink(later(60));
  await sink(later(0));
  const names = readdirSync(dir);
  expect(names).toEqual([
    expect.stringMatching(/^spanline-2025-06-15T150640\.123Z-\d+-0-1\.pb\.gz$/),
    expect.stringMatching(/^spanline-2025-06-15T150740\.123Z-\d+-0-0\.pb\.gz$/),
  ]);
  const bytes = names.map((name) => readFileSync(join(dir, name)));
  for (const each of bytes) expect(summary(await readProfile(each))).toEqual(summary(shop()));
  expect(sink.stats()).toEqual({
    profiles: 2,
    bytes: bytes.reduce((sum, { length }) => sum + length, 0),
    failures: 0,
    removed: 0,
    retentionFailures: 0,
    lastFile: join(dir, names[0]),
  });
});

test.each([
  ['pprof', '.pb.gz'],
  ['cpuprofile', '.cpuprofile'],
  ['speedscope', '.speedscope.json'],
  ['folded', '.folded'],
] as const)('%s files end in %s', async (format, extension) => {
  const dir = fresh();
  await directorySink({ dir, format })(shop());
  expect(readdirSync(dir)).toEqual([expect.stringMatching(/^spanline-/)]);
  expect(readdirSync(dir)[0].endsWith(extension)).toBe(true);
});

describe('retention', () => {
  const timesOf = (dir: string): string[] => readdirSync(dir).map((name) => name.slice(19, 26));

  test('by number: the oldest go', async () => {
    const dir = fresh();
    const sink = directorySink({ dir, keep: { files: 3 } });
    for (let i = 0; i < 6; i++) await sink(later(i));
    expect(timesOf(dir)).toEqual(['T150643', 'T150644', 'T150645']);
    expect(sink.stats().removed).toBe(3);
  });

  test('by bytes, but the newest is always kept', async () => {
    const dir = fresh();
    const probe = directorySink({ dir: fresh() });
    await probe(shop());
    const sink = directorySink({ dir, keep: { bytes: Math.round(probe.stats().bytes * 2.5) } });
    for (let i = 0; i < 4; i++) await sink(later(i));
    expect(timesOf(dir)).toEqual(['T150642', 'T150643']);
    await directorySink({ dir, keep: { bytes: 1 } })(later(9));
    expect(timesOf(dir)).toEqual(['T150649']);
  });

  test('by age since it was written', async () => {
    const dir = fresh();
    const sink = directorySink({ dir, keep: { ageMs: 3_600_000 } });
    await sink(later(0));
    await sink(later(1));
    const [old] = readdirSync(dir);
    const twoHoursAgo = Date.now() / 1000 - 7200;
    utimesSync(join(dir, old), twoHoursAgo, twoHoursAgo);
    await sink(later(2));
    expect(timesOf(dir)).toEqual(['T150641', 'T150642']);
  });

  test('files of others stay; temporary files of the dead go', async () => {
    const dir = fresh();
    mkdirSync(dir, { recursive: true });
    const others = [
      'cpu.pb.gz',
      'my-spanline-2025-06-15T150640.123Z-1-0-0.pb.gz',
      'spanline-notes.txt',
      'spanline-2025-06-15T150640.123Z-1-0-0.pb.gz.bak',
    ];
    for (const name of others) writeFileSync(join(dir, name), 'mine');
    const temporary = '.spanline-2025-06-15T150640.123Z-1-0-0.pb.gz.1-00ff00ff.tmp';
    const inFlight = '.spanline-2025-06-15T150641.123Z-2-0-0.pb.gz.2-00ff00ff.tmp';
    for (const name of [temporary, inFlight]) writeFileSync(join(dir, name), 'half');
    utimesSync(join(dir, temporary), 1, 1);
    const sink = directorySink({ dir, keep: { files: 1 } });
    await sink(later(0));
    await sink(later(1));
    const left = readdirSync(dir);
    expect(left).toEqual(expect.arrayContaining([...others, inFlight]));
    expect(left).not.toContain(temporary);
    expect(left).toHaveLength(6);
  });
});

test('what cannot be removed keeps nothing else from being removed, and is counted', async () => {
  const dir = fresh();
  const sink = directorySink({ dir, keep: { files: 1 } });
  mkdirSync(join(dir, 'spanline-2025-06-15T150641.123Z-1-0-0.pb.gz'), { recursive: true });
  writeFileSync(join(dir, 'spanline-2025-06-15T150640.123Z-1-0-0.pb.gz'), 'old');
  await sink(later(60));
  expect(readdirSync(dir)).toEqual([
    'spanline-2025-06-15T150641.123Z-1-0-0.pb.gz',
    expect.stringMatching(/^spanline-2025-06-15T150740\.123Z/),
  ]);
  expect(sink.stats()).toMatchObject({ profiles: 1, removed: 1, failures: 0, retentionFailures: 1 });
});

test('a directory that cannot be made fails the profile, is counted, and leaves nothing', async () => {
  const file = join(root, 'a-file');
  writeFileSync(file, '');
  const sink = directorySink({ dir: join(file, 'inside') });
  await expect(sink(shop())).rejects.toMatchObject({ code: 'ENOTDIR' });
  expect(sink.stats()).toMatchObject({ profiles: 0, failures: 1, lastFile: undefined });
});

test('options that are wrong are refused at once', () => {
  const refused = (options: object) => () =>
    directorySink({ dir: 'x', ...options } as Parameters<typeof directorySink>[0]);
  for (const options of [{ dir: '' }, { format: 'svg' }, { keep: { files: 0 } }, { keep: { bytes: Number.NaN } }]) {
    expect(refused(options)).toThrow(expect.objectContaining({ code: 'ERR_SPANLINE_PROFILE_OPTION' }));
  }
});
