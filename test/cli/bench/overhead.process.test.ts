// `spanline bench overhead` loads a real service untraced and traced, tells costs with intervals, and leaves nothing running.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildFirst, root } from '../support/spanline.js';
import { useOverheadProject } from './support/overhead-project.js';

const { overhead, pids } = useOverheadProject();

buildFirst();

test('tells what tracing adds, with intervals, and ends both services', async () => {
  const { code, stdout, stderr } = await overhead(['--url', '/api', '--json', '--budget', '1ms']);
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

test('refuses where both would be traced', async () => {
  const { code, stderr } = await overhead([], undefined, {
    NODE_OPTIONS: `--import ${join(root, 'dist/esm/register/preload.js')}`,
    OTEL_TRACES_EXPORTER: 'none',
  });
  expect(stderr).toContain('NODE_OPTIONS loads spanline');
  expect(code).toBe(2);
});

test.each<[string, string[], string[], number, RegExp]>([
  ['one that ends', [], [process.execPath, '-e', '1'], 3, /ended with 0 before it listened/],
  ['one that is not there', [], ['no-such-program'], 3, /cannot be started/],
  ['a url with a host', ['--url', 'http://a/'], [process.execPath, 'server.mjs'], 2, /write a path/],
])('fails for %s', async (_what, args, service, code, message) => {
  const outcome = await overhead(args, service);
  expect(outcome.stderr).toMatch(message);
  expect(outcome.code).toBe(code);
});
