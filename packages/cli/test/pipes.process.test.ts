// The command in a process of its own, with pipes: what it has begun to print does not hide what it found, a reader may go away, and what it reads and
// writes may come and go at another pace. `| head` hides no finding: a command whose output is closed early ends with the exit code it would have had.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { sampleOf } from '../../../test/support/samples.js';
import { encodeOtlpJson } from '../../archive/src/formats/encode.js';
import { spanAt } from '../../archive/test/support/traces.js';
import { toPprof } from '../../profile/src/output/pprof.js';
import { shop } from '../../profile/test/support/sampled.js';
import { buildFirst, PROGRAM, root, scratch, spanline, spanlineProcess } from './support/spanline.js';

buildFirst();
const dir = scratch();
const at = (name: string): string => join(dir, name);
const graph = at('keys.graph');
const keys = Array.from({ length: 5000 }, (_, i) => `key-${String(i).padStart(8, '0')}`);

beforeAll(async () => {
  writeFileSync(at('shop.pb.gz'), await toPprof(shop()));
  writeFileSync(at('keys.txt'), keys.map((key) => `${key}\n`).join(''));
  expect(await spanline(['graph', 'build', '-o', graph, at('keys.txt')])).toMatchObject({ code: 0 });
});

/** Runs `spanline` and closes its output: before it begins, or once it has printed something. */
const closed = async (args: readonly string[], when: 'at once' | 'after the first bytes'): Promise<number | null> => {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  child.stderr.resume();
  const ended = once(child, 'close');
  if (when === 'after the first bytes') await once(child.stdout, 'data');
  child.stdout.destroy();
  return (await ended)[0] as number | null;
};

describe('an output that is closed', () => {
  test('early: what is missing is known before the rest is printed', async () => {
    expect(await closed(['graph', 'get', graph, 'nosuch', ...keys], 'after the first bytes')).toBe(1);
    expect(await closed(['graph', 'get', graph, ...keys], 'at once')).toBe(0);
  });

  test('before a finding that is known after the printing', async () => {
    const settings = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`setting${i}`, i]));
    writeFileSync(at('bad.json'), JSON.stringify({ store: 'x', ...settings }));
    expect(await closed(['perf', 'config', 'validate', at('bad.json')], 'after the first bytes')).toBe(1);
  });
});

describe('the program that npm run spanline starts', () => {
  const bin = [process.execPath, join(root, 'scripts/spanline.mjs')].map((part) => `"${part}"`).join(' ');
  const inShell = (line: string) => spawnSync('bash', ['-o', 'pipefail', '-c', line], { encoding: 'utf8' });

  test('prints its version and nothing else', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(inShell(`${bin} --version`)).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: '' });
  });
});

describe('an output for which there is no room', () => {
  const inShell = (line: string) => spawnSync('bash', ['-c', line], { encoding: 'utf8', cwd: dir });
  const program = `"${process.execPath}" "${PROGRAM}"`;

  const COMMANDS = [
    ['one long answer', `graph get --json "${graph}" ${keys.slice(0, 500).join(' ')}`],
    ['bytes', 'profile export shop.pb.gz --format speedscope'],
  ] as const;

  test.each(sampleOf(COMMANDS, 1, COMMANDS.length))('%s: the command says that it is cut', (_, command) => {
    const whole = inShell(`${program} ${command} | wc -c`);
    expect(Number(whole.stdout)).toBeGreaterThan(1024);
    const { status, stderr } = inShell(`ulimit -f 1; ${program} ${command} > cut.out`);
    expect([status, stderr]).toEqual([3, expect.stringContaining('standard output cannot be written: EFBIG')]);
    expect(statSync(at('cut.out')).size).toBe(1024);
  });
});

describe('input and output at another pace', () => {
  test('standard input is read as it comes', () => {
    const command = `"${process.execPath}" "${PROGRAM}" profile top - --by query --json`;
    const line = `(head -c 100 shop.pb.gz; sleep 0.3; tail -c +101 shop.pb.gz) | ${command}`;
    const { stdout, status, stderr } = spawnSync('bash', ['-o', 'pipefail', '-c', line], {
      encoding: 'utf8',
      cwd: dir,
    });
    expect([status, stderr]).toEqual([0, '']);
    expect((JSON.parse(stdout) as { rows: unknown[] }).rows).toHaveLength(3);
  });

  test('an input that stays open: Ctrl-C ends the process, with what came before kept', async () => {
    const archive = at('traces');
    const outcome = await spanlineProcess(['trace', 'import', '-a', archive, '-'], {
      stdin: Buffer.from(`${encodeOtlpJson([spanAt(1, 0, 'GET /', 0, 1000)])}\n`),
      keepsStdin: true,
      onStart: async (kill) => {
        await vi.waitUntil(() => existsSync(archive) && readdirSync(archive).length > 0, { timeout: 60_000 });
        kill('SIGINT');
      },
    });
    expect(outcome).toMatchObject({
      code: 130,
      signal: null,
      stderr: expect.stringContaining('interrupted by SIGINT; what was read'),
    });
    expect(await spanline(['trace', 'ls', '-a', archive])).toMatchObject({ stdout: expect.stringContaining('GET /') });
  });

  test('a named pipe is written into, not replaced', async () => {
    const pipe = at('pipe');
    execFileSync('mkfifo', [pipe]);
    const read = readFile(pipe, 'utf8');
    const args = ['profile', 'export', at('shop.pb.gz'), '--format', 'folded', '--out', pipe];
    expect(await spanline(args)).toMatchObject({ code: 0, stdout: '' });
    expect(await read).toContain('[query=q1];');
    expect(lstatSync(pipe).isFIFO()).toBe(true);
  });
});
