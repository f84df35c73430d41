// `spanline bench overhead` loads a real service untraced and traced, tells costs with intervals, and leaves nothing running.
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { buildFirst } from '../support/spanline.js';
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
