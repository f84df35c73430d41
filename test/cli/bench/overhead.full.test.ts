// `spanline bench overhead` loads a real service untraced and traced, finds it whichever port it takes, tells costs with intervals, and leaves nothing running.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildFirst, type Outcome, root, scratch, spanline } from '../support/spanline.js';
import { Project } from './support/project.js';

buildFirst();
const dir = scratch();
const project = new Project(join(dir, 'project'));
const pids = join(dir, 'pids');
project.write(
  'server.mjs',
  `import { createServer } from 'node:http';
import { appendFileSync } from 'node:fs';
appendFileSync(${JSON.stringify(pids)}, process.pid + '\\n');
createServer((request, response) => {
  const isRefused = request.url === '/no' || (request.url === '/key' && request.headers['x-key'] !== 'a: b');
  response.statusCode = isRefused ? 500 : 200;
  if (process.env.NODE_OPTIONS?.includes('preload')) for (let i = 0, end = process.argv.includes('slow') ? 3e6 : 0; i < end; i++) Math.sqrt(i);
  response.end('ok');
}).listen(process.argv[2] === '0' ? 0 : process.env.PORT);`,
);

const overhead = (
  args: readonly string[],
  service: readonly string[] = [process.execPath, 'server.mjs'],
  env: NodeJS.ProcessEnv = {},
): Promise<Outcome> =>
  spanline(
    ['bench', 'overhead', '--round', '300ms', '--budget', '1s', '--connections', '2', ...args, '--', ...service],
    {
      cwd: project.dir,
      env: { OTEL_TRACES_EXPORTER: '', OTEL_EXPORTER_OTLP_ENDPOINT: '', SPANLINE_ARCHIVE: '', ...env },
    },
  );

test('tells what tracing adds, with intervals, and ends both services', async () => {
  const { code, stdout, stderr } = await overhead(['--url', '/api', '--json']);
  expect(code, stderr).toBe(0);
  expect(stderr).not.toContain('not one trace');
  const { costs, rounds } = JSON.parse(stdout) as {
    costs: { name: string; untraced: number; change: { low: number; high: number } }[];
    rounds: unknown[];
  };
  expect(rounds.length).toBeGreaterThanOrEqual(3);
  const names = costs.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['throughput', 'p99']));
  for (const { untraced, change } of costs) {
    expect(untraced).toBeGreaterThan(0);
    expect(change.low).toBeLessThanOrEqual(change.high);
  }
  const started = readFileSync(pids, 'utf8').trim().split('\n');
  expect(started).toHaveLength(2);
  for (const pid of started) {
    const status = existsSync(`/proc/${pid}/status`) ? readFileSync(`/proc/${pid}/status`, 'utf8') : 'State:\tZ';
    expect(status).toMatch(/State:\s+Z/);
  }
});

test.skipIf(process.platform !== 'linux')('finds a service on a port of its own', async () => {
  const { code, stderr } = await overhead([], [process.execPath, 'server.mjs', '0']);
  expect(code, stderr).toBe(0);
});

test('takes the url at the end of the line, unless one is given before', async () => {
  const service = [process.execPath, 'server.mjs', '--url', '/no'];
  const refused = await overhead([], service);
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain('--url /no is what is asked');
  const { code, stderr } = await overhead(['--url', '/api'], service);
  expect(code, stderr).toBe(0);
});

test('sends the headers that are given', async () => {
  expect((await overhead(['--url', '/key'])).code).toBe(3);
  const { code, stderr } = await overhead(['--url', '/key', '--header', 'x-key: a: b']);
  expect(code, stderr).toBe(0);
});

test.skipIf(process.platform !== 'linux')('ends with 1 where tracing costs more CPU than --max-cpu', async () => {
  const { code, stdout } = await overhead(['--max-cpu', '10%'], [process.execPath, 'server.mjs', 'slow']);
  expect(stdout).toContain('CPU a request');
  expect(code).toBe(1);
});

test('refuses where both would be traced', async () => {
  const { code, stderr } = await overhead([], undefined, {
    NODE_OPTIONS: `--import ${join(root, 'dist/esm/register/preload.js')}`,
    OTEL_TRACES_EXPORTER: 'none',
  });
  expect(stderr).toContain('NODE_OPTIONS loads spanline');
  expect(code).toBe(2);
});

test.each<[string, string[], string[], number, RegExp]>([
  ['a service that refuses', ['--url', '/no'], [process.execPath, 'server.mjs'], 3, /other than 2xx/],
  ['one that ends', [], [process.execPath, '-e', '1'], 3, /ended with 0 before it listened/],
  ['one that is not there', [], ['no-such-program'], 3, /cannot be started/],
  ['a url with a host', ['--url', 'http://a/'], [process.execPath, 'server.mjs'], 2, /write a path/],
])('fails for %s', async (_what, args, service, code, message) => {
  const outcome = await overhead(args, service);
  expect(outcome.stderr).toMatch(message);
  expect(outcome.code).toBe(code);
});
