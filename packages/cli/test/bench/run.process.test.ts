// `spanline bench run` understands what benchmarks print, keeps it for the right commit, in a file and in a store alike, and keeps nothing of a run that
// failed. The tools beside tinybench are in run.full.test.ts.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { sampleOf } from '../../../../test/support/samples.js';
import { readBenchHistory } from '../../../tracedb/src/bench-history/history-file.js';
import { type Outcome, spanline } from '../support/spanline.js';
import { shape, useBenchRun } from './support/bench-run.js';

const { commit, dir, json, project, run } = useBenchRun();
const history = join(dir, 'made/on/demand/history.jsonl');

describe('understands', () => {
  const OUTPUTS = [
    ['names and results of tasks', 'tasks.mjs', ['sum latency ns 32', 'wait latency ns 32']],
    ['bench.results, between other lines', 'results.mjs', ['task 1 latency ns 32', 'task 2 latency ns 32']],
    [
      'the table that is drawn',
      'table.mjs',
      ['sum latency ns 0', 'sum throughput ops/s 0', 'wait latency ns 0', 'wait throughput ops/s 0'],
    ],
    [
      'rows of the table',
      'rows.mjs',
      ['sum latency ns 0', 'sum throughput ops/s 0', 'wait latency ns 0', 'wait throughput ops/s 0'],
    ],
  ] as const;

  test.each(sampleOf(OUTPUTS, 2, OUTPUTS.length))('tinybench: %s', async (_what, file, expected) => {
    const found = await json('--', process.execPath, file);
    expect(found.tool).toBe('tinybench');
    expect(shape(found)).toEqual(expected);
    // Nanoseconds: a loop of a thousand steps takes no millisecond and more than ten of them.
    expect(found.figures[0].value).toBeGreaterThan(10);
    expect(found.figures[0].value).toBeLessThan(1e6);
  });

  test('a list of figures', async () => {
    const list = [{ name: 'encode', value: 12.5, unit: 'ms', samples: [13, 12] }];
    const found = await json('--', process.execPath, '-p', JSON.stringify(JSON.stringify(list)));
    expect(found.tool).toBe('custom');
    expect(found.figures).toEqual([{ bench: 'encode', metric: 'value', unit: 'ms', value: 12.5, samples: [12, 13] }]);
  });
});

/** Whether a process runs; one that nobody has waited for yet does not. */
const isRunning = (pid: number): boolean =>
  !['', 'Z'].includes(
    spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
      .stdout.trim()
      .slice(0, 1),
  );

const encode = (value: number): string[] => [
  '--',
  process.execPath,
  '-p',
  JSON.stringify(JSON.stringify([{ name: 'encode it', value, unit: 'ms' }])),
];

describe('keeps', () => {
  test('a line a run in a file that it makes, for the commit that is checked out', async () => {
    const { code, stdout, stderr } = await run('--file', history, ...encode(12.5));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^bench +metric +value +unit/);
    expect(await run('--file', history, '--commit', 'abc', '--machine', 'ci', ...encode(13.5))).toMatchObject({
      code: 0,
    });
    const [first, second] = readBenchHistory(history);
    expect(first).toMatchObject({ commit, commitMs: Number(project.git('log', '-1', '--format=%ct')) * 1000 });
    expect(first.node).toBe(process.versions.node.split('.')[0]);
    expect(first.figures[0]).toEqual({ bench: 'encode it', metric: 'value', unit: 'ms', value: 12.5, samples: [] });
    expect(second).toMatchObject({ commit: 'abc', machine: 'ci' });
    expect(second.commitMs).toBeUndefined();
  });

  test('the figures behind the half line of a crash', async () => {
    const file = join(dir, 'torn.jsonl');
    expect(await run('--file', file, ...encode(1))).toMatchObject({ code: 0 });
    writeFileSync(file, readFileSync(file, 'utf8').trimEnd());
    expect(await run('--file', file, ...encode(2))).toMatchObject({ code: 0 });
    expect(readBenchHistory(file).map(({ figures }) => figures[0].value)).toEqual([1, 2]);
  });

  test('each of several runs as a sample, and their median', async () => {
    const counter = join(dir, 'counter');
    const program = `
      const { appendFileSync, readFileSync } = require('node:fs');
      appendFileSync(${JSON.stringify(counter)}, 'x');
      const runs = readFileSync(${JSON.stringify(counter)}, 'utf8').length;
      console.log(JSON.stringify([{ name: 'a', value: [7, 1, 4][runs - 1], unit: 'ms' }]));`;
    const { figures } = await json('--runs', '3', '--', process.execPath, '-e', program);
    expect(figures).toEqual([{ bench: 'a', metric: 'value', unit: 'ms', value: 4, samples: [1, 4, 7] }]);
  });

  test('in a store what perf ingest makes of the same line', async () => {
    const list = JSON.stringify(JSON.stringify([{ name: 'encode it', value: 2.5, unit: 'ms', samples: [2, 3] }]));
    const command = ['--commit', 'abc', '--machine', 'ci', '--', process.execPath, '-p', list];
    const file = join(dir, 'one.jsonl');
    expect(await run('--file', file, ...command)).toMatchObject({ code: 0 });
    expect(await run('--store', join(dir, 'by-run'), ...command)).toMatchObject({ code: 0 });
    const ingested = await spanline(['perf', 'ingest', '--store', join(dir, 'by-ingest'), file]);
    expect(ingested.stderr).not.toContain('warning');
    const [byRun, byIngest] = await Promise.all(
      ['by-run', 'by-ingest'].map((name) => spanline(['perf', 'query', '-s', join(dir, name), '', '--json'])),
    );
    const traces = (outcome: Outcome): unknown[] =>
      outcome.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    expect(traces(byRun)).toEqual(traces(byIngest));
    const node = process.versions.node.split('.')[0];
    const params = { bench: 'encode_it', metric: 'value', unit: 'ms', node, machine: 'ci', tool: 'custom' };
    expect(traces(byRun)).toEqual(
      expect.arrayContaining([
        { params: { ...params, stat: 'value' }, values: [[0, 2.5]] },
        { params: { ...params, stat: 'sample', sample: '00' }, values: [[0, 2]] },
        { params: { ...params, stat: 'sample', sample: '01' }, values: [[0, 3]] },
      ]),
    );
    expect(traces(byRun)).toHaveLength(3);
  });

  test('nothing where nobody said where, and says so', async () => {
    const { code, stderr } = await run(...encode(1));
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'spanline: not kept; give --file or --store\n' });
  });

  test('results of a changed checkout, with a word about it', async () => {
    project.write('tasks.mjs', '// changed');
    const { stderr } = await run('--file', join(dir, 'changed.jsonl'), ...encode(1));
    expect(stderr).toContain('uncommitted changes');
    project.git('checkout', '-q', 'tasks.mjs');
  });
});

test('ends what the benchmark has left running', async () => {
  const pidFile = join(dir, 'background');
  const program = `
    const { spawn } = require('node:child_process');
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
    require('node:fs').writeFileSync(${JSON.stringify(pidFile)}, String(child.pid));
    console.log(JSON.stringify([{ name: 'a', value: 1, unit: 'ms' }]));
    process.exit();`;
  expect((await json('--', process.execPath, '-e', program)).figures).toHaveLength(1);
  expect(isRunning(Number(readFileSync(pidFile, 'utf8')))).toBe(false);
});

describe('keeps nothing', () => {
  test.each<[string, string[], number, RegExp]>([
    ['of a command that fails', ['false'], 3, /false ended with 1/],
    ['of one that is not there', ['no-such-program'], 3, /no-such-program cannot be started/],
    [
      'of output without figures',
      [process.execPath, '-p', '"hello"'],
      3,
      /no benchmark that is known; print the JSON of spanline, /,
    ],
    ['of tinybench, a task of which failed', [process.execPath, 'failing.mjs'], 3, /tinybench: task 1 ended errored/],
    ['of a file that was not written', [process.execPath, '-e', '1', '{out}'], 3, /wrote nothing to \{out\}/],
  ])('%s', async (_what, command, code, message) => {
    const file = join(dir, 'nothing.jsonl');
    const outcome = await run('--file', file, '--', ...command);
    expect(outcome.code).toBe(code);
    expect(outcome.stderr).toMatch(message);
    expect(existsSync(file)).toBe(false);
  });

  test('of a wrong command line', async () => {
    expect(await run('--file', 'a', '--store', 'b', '--', 'true')).toMatchObject({ code: 2 });
    const outside = await spanline(['bench', 'run', '--file', 'a.jsonl', '--', 'true'], { cwd: dir });
    expect(outside).toMatchObject({ code: 2 });
    expect(outside.stderr).toContain('give --commit HASH');
    expect(existsSync(join(dir, 'a.jsonl'))).toBe(false);
  });

  test('of a run that is interrupted, and leaves no process behind', async () => {
    const file = join(dir, 'interrupted.jsonl');
    const pidFile = join(dir, 'pid');
    const program = `require('node:fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); setInterval(() => {}, 1000);`;
    const outcome = await spanline(['bench', 'run', '--file', file, '--', process.execPath, '-e', program], {
      cwd: project.dir,
      onStart: async (kill) => {
        await vi.waitUntil(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8') !== '', { timeout: 60_000 });
        kill('SIGINT');
      },
    });
    expect(outcome.code).toBe(130);
    expect(existsSync(file)).toBe(false);
    expect(isRunning(Number(readFileSync(pidFile, 'utf8')))).toBe(false);
  });
});
