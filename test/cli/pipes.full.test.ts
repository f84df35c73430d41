// Commands that print in other ways than those of pipes.process.test.ts do as these with a reader that goes away, a full disk and a named pipe.
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, lstatSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { toPprof } from '../../src/profile/output/pprof.js';
import { hostile } from '../profile/support/sampled.js';
import { perfStore } from './support/perf-store.js';
import { buildFirst, PROGRAM, spanline } from './support/spanline.js';
import { fillArchive, spanAt } from './trace/support/traces.js';

buildFirst();
const { dir, store } = perfStore();
const archive = join(dir, 'archive');

beforeAll(async () => {
  writeFileSync(join(dir, 'hostile.pb.gz'), await toPprof(hostile()));
  await fillArchive(archive, [spanAt(1, 0, 'GET /', 0, 1000)]);
});

const inShell = (line: string) => spawnSync('bash', ['-o', 'pipefail', '-c', line], { encoding: 'utf8', cwd: dir });
const program = `"${process.execPath}" "${PROGRAM}"`;

test.each(['traces export', 'commits', 'query ""', 'tiles list'])('a reader of one line of perf %s', (command) => {
  const { status, stdout, stderr } = inShell(`${program} perf ${command} --store "${store}" | head -1`);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout.split('\n')).toHaveLength(2);
});

test('a reader of one byte of a profile', () => {
  const { stdout, stderr, status } = inShell(`${program} profile export hostile.pb.gz --format folded | head -c 1`);
  expect([stdout, stderr, status]).toEqual(['[', '', 0]);
});

test.runIf(existsSync('/dev/full'))('a table on a full device', () => {
  const { status, stderr } = inShell(`${program} profile top hostile.pb.gz > /dev/full`);
  expect([status, stderr]).toEqual([3, expect.stringContaining('standard output cannot be written')]);
});

test('an export of traces into a named pipe goes through it, and leaves it where it is', async () => {
  const pipe = join(dir, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const reading = promisify(execFile)('cat', [pipe], { timeout: 20_000 });
  expect(await spanline(['trace', 'export', '-a', archive, '-o', pipe])).toMatchObject({ code: 0, stdout: '' });
  expect(lstatSync(pipe).isFIFO()).toBe(true);
  expect(JSON.parse((await reading).stdout)).toHaveProperty('resourceSpans');
});
