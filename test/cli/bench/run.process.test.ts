// `spanline bench run` understands the real tools, keeps what they say for the right commit, in a file and in a store alike, and keeps nothing of a
// run that failed.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readBenchHistory } from '../../../src/bench-history/history-file.js';
import type { BenchRun } from '../../../src/bench-history/run-record.js';
import { type Outcome, root, scratch, spanline } from '../support/spanline.js';
import { Project } from './support/project.js';

const dir = scratch();
const project = new Project(join(dir, 'project'));
const history = join(dir, 'made/on/demand/history.jsonl');

const TINYBENCH = `
import { Bench } from 'tinybench';
const bench = new Bench({ time: 20, warmupTime: 5, retainSamples: true });
bench.add('sum', () => { let sum = 0; for (let i = 0; i < 1000; i++) sum += i; return sum; });
bench.add('wait', async () => { await null; });
await bench.run();
`;
project.write(
  'tasks.mjs',
  `${TINYBENCH}console.log(JSON.stringify(bench.tasks.map(({ name, result }) => ({ name, ...result }))));`,
);
project.write(
  'results.mjs',
  `${TINYBENCH}console.log('results:');console.log(JSON.stringify(bench.results, null, 2));console.log('bye');`,
);
project.write('table.mjs', `${TINYBENCH}console.table(bench.table());`);
project.write('rows.mjs', `${TINYBENCH}console.log(JSON.stringify(bench.table()));`);
project.write(
  'failing.mjs',
  `${TINYBENCH.replace('let sum = 0;', "throw new Error('no luck');")}console.log(JSON.stringify(bench.results));`,
);
project.write(
  'own.bench.ts',
  `import { bench, describe } from 'vitest';
describe('group', () => { bench('sum', () => { let sum = 0; for (let i = 0; i < 1000; i++) sum += i; }, { time: 20, warmupTime: 5 }); });`,
);
project.write('vitest.config.ts', 'export default { cacheDir: ".cache" };');
const commit = project.commit('benchmarks');

const run = (...args: string[]): Promise<Outcome> =>
  spanline(['bench', 'run', ...args], {
    cwd: project.dir,
    // A vitest that is started by this one must not take itself for a part of it.
    env: { VITEST: '', VITEST_POOL_ID: '', VITEST_WORKER_ID: '', VITEST_MODE: '', CI: '1', NODE_ENV: '' },
  });

const json = async (...args: string[]): Promise<BenchRun> => {
  const { code, stdout, stderr } = await run('--json', ...args);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as BenchRun;
};

/** Figures without their values. */
const shape = ({ figures }: BenchRun): string[] =>
  figures.map(({ bench, metric, unit, value, samples }) => {
    expect(value).toBeGreaterThan(0);
    for (const sample of samples) expect(sample).toBeGreaterThan(0);
    return `${bench} ${metric} ${unit} ${samples.length}`;
  });

describe('understands', () => {
  test.each([
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
  ])('tinybench: %s', async (_what, file, expected) => {
    const found = await json('--', process.execPath, file);
    expect(found.tool).toBe('tinybench');
    expect(shape(found)).toEqual(expected);
    // Nanoseconds: a loop of a thousand steps takes no millisecond and more than ten of them.
    expect(found.figures[0].value).toBeGreaterThan(10);
    expect(found.figures[0].value).toBeLessThan(1e6);
  });

  test('vitest bench', async () => {
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    const found = await json('--', process.execPath, vitest, 'bench', '--run', '--root', '.', '--outputJson={out}');
    expect(found.tool).toBe('vitest');
    expect(shape(found)).toEqual(['own.bench.ts > group > sum latency ns 0']);
    expect(found.figures[0].value).toBeLessThan(1e6);
  });

  describe('autocannon', () => {
    const server = createServer((request, response) => {
      response.statusCode = request.url === '/no' ? 503 : 200;
      response.end('hello');
    });
    beforeAll(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)));
    afterAll(() => void server.close());
    const url = (path: string): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
    const autocannon = join(root, 'node_modules/autocannon/autocannon.js');
    const load = (path: string): string[] => ['--', process.execPath, autocannon, '-d1', '-c4', '--json', url(path)];

    test('by the path that it asked for', async () => {
      const found = await json(...load('/api?x=1'));
      expect(found.tool).toBe('autocannon');
      expect(found.figures.map(({ bench, metric, unit }) => `${bench} ${metric} ${unit}`)).toEqual([
        '/api?x=1 throughput req/s',
        '/api?x=1 latency-p50 ms',
        '/api?x=1 latency-p99 ms',
      ]);
      expect(found.figures[0].value).toBeGreaterThan(10);
    });

    test('and refuses figures of a service that refused', async () => {
      const { code, stderr } = await run(...load('/no'));
      expect(code).toBe(3);
      expect(stderr).toMatch(/autocannon: \/no had 0 errors, 0 timeouts and \d+ answers other than 2xx/);
    });
  });

  test('hyperfine', async (context) => {
    if (spawnSync('hyperfine', ['--version']).status !== 0)
      context.skip('no hyperfine here: apt-get install hyperfine');
    const found = await json('--', 'hyperfine', '-N', '--runs', '4', '--export-json', '{out}', 'sleep 0.02');
    expect(found.tool).toBe('hyperfine');
    expect(shape(found)).toEqual(['sleep 0.02 wall ms 4', 'sleep 0.02 cpu ms 0']);
    expect(found.figures[0].value).toBeGreaterThan(20);
  });

  test("spanline's own", async () => {
    const bench = join(root, 'bench/run.mjs');
    const found = await json('--', process.execPath, bench, 'clock', '--json', '--quick', '--only', 'clock-now');
    expect(found.tool).toBe('spanline');
    expect(shape(found).filter((one) => one.startsWith('clock/clock-now monotonic caller ns'))).toHaveLength(1);
    expect(shape(found)).toContain('clock/process.hrtime.bigint clock-now process.hrtime.bigint caller ns 0');
  }, 300_000);

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
        while (!existsSync(pidFile) || readFileSync(pidFile, 'utf8') === '')
          await new Promise((resolve) => setTimeout(resolve, 20));
        kill('SIGINT');
      },
    });
    expect(outcome.code).toBe(130);
    expect(existsSync(file)).toBe(false);
    expect(isRunning(Number(readFileSync(pidFile, 'utf8')))).toBe(false);
  });
});
