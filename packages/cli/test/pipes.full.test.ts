// More of pipes.process.test.ts: what `npm run spanline` starts behaves as the command does, and not one byte is lost where room ends.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { encodeOtlpJson } from '../../archive/src/formats/encode.js';
import { spanAt } from '../../archive/test/support/traces.js';
import { buildFirst, PROGRAM, root, scratch, spanline } from './support/spanline.js';

buildFirst();
const dir = scratch();
const at = (name: string): string => join(dir, name);

describe('the program that npm run spanline starts', () => {
  const bin = [process.execPath, join(root, 'scripts/spanline.mjs')].map((part) => `"${part}"`).join(' ');
  const inShell = (line: string) => spawnSync('bash', ['-o', 'pipefail', '-c', line], { encoding: 'utf8' });

  test('takes a closed pipe for no failure', () => {
    expect(inShell(`${bin} --help | true`)).toMatchObject({ status: 0, stderr: '' });
  });

  test('says what is wrong usage by its exit code', () => {
    const { status, stdout, stderr } = inShell(`${bin} tock`);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain('spanline');
  });

  test.skipIf(!existsSync('/dev/full'))('a full disk is a failure that is told, not a bug', () => {
    const { status, stderr } = inShell(`${bin} --help > /dev/full`);
    expect(status).toBe(3);
    expect(stderr).toMatch(/^spanline: standard output cannot be written: ENOSPC.*\n$/);
  });
});

describe('an output for which there is no room', () => {
  const inShell = (line: string) => spawnSync('bash', ['-c', line], { encoding: 'utf8', cwd: dir });
  const program = `"${process.execPath}" "${PROGRAM}"`;
  const graph = at('keys.graph');
  const keys = Array.from({ length: 500 }, (_, i) => `key-${String(i).padStart(8, '0')}`);

  beforeAll(async () => {
    writeFileSync(at('keys.txt'), keys.map((key) => `${key}\n`).join(''));
    expect(await spanline(['graph', 'build', '-o', graph, at('keys.txt')])).toMatchObject({ code: 0 });
    const run = (_: unknown, i: number) => ({
      ...{ commit: `c${i}`, date: i * 1000 },
      benches: Array.from({ length: 3 }, (_, k) => ({ name: `t${k}`, value: 100 + i, unit: 'ms' })),
    });
    const runs = Array.from({ length: 100 }, run);
    writeFileSync(at('history.jsonl'), runs.map((one) => `${JSON.stringify(one)}\n`).join(''));
    expect(await spanline(['perf', 'ingest', '-s', at('perf'), at('history.jsonl')])).toMatchObject({ code: 0 });
    const spans = Array.from({ length: 60 }, (_, i) =>
      spanAt(1, 0, `GET /${i}`, i, 1000, { traceId: String(i + 1).padStart(32, '0') }),
    );
    writeFileSync(at('traces.jsonl'), `${encodeOtlpJson(spans)}\n`);
    expect(await spanline(['trace', 'import', '-a', at('traces'), at('traces.jsonl')])).toMatchObject({ code: 0 });
  });

  test.each([
    'perf traces export -s perf --last 1000',
    'perf query --json -s perf unit=ms --last 1000',
    'perf commits -s perf',
    'trace ls -a traces -n 300',
    'trace search -a traces -n 300 --json',
    'trace export -a traces',
  ])('%s is cut, and says so', (command) => {
    const { status, stderr } = inShell(`ulimit -f 1; ${program} ${command} > cut.out`);
    expect([status, stderr]).toEqual([3, expect.stringContaining('standard output cannot be written: EFBIG')]);
    expect(statSync(at('cut.out')).size).toBe(1024);
  });

  test('its last byte alone', () => {
    const command = `graph get --json "${graph}" ${keys.join(' ')}`;
    const { length } = inShell(`${program} ${command}`).stdout;
    const blocks = Math.floor((length - 1) / 1024);
    // What stands in the file already leaves room for all but one byte.
    writeFileSync(at('nearly.out'), 'x'.repeat((blocks + 1) * 1024 - length + 1));
    const line = `ulimit -f ${blocks + 1}; ${program} ${command} >> nearly.out`;
    expect(inShell(line)).toMatchObject({ status: 3 });
  });

  test.skipIf(!existsSync('/dev/full'))('notes: no bug and no finding, and the answer is there', () => {
    writeFileSync(at('few.jsonl'), `${encodeOtlpJson([spanAt(1, 0, 'GET /', 0, 1000)])}\n`);
    const line = `${program} trace import -a few few.jsonl && ${program} trace export -a few > few.out 2> /dev/full`;
    expect(inShell(line).status).toBe(3);
    expect(readFileSync(at('few.out'), 'utf8')).toContain('GET /');
  });
});
