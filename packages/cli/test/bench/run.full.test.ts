// `spanline bench run` understands vitest, autocannon, hyperfine and spanline's own benchmarks.
import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../support/spanline.js';
import { shape, useBenchRun } from './support/bench-run.js';

const { json, run } = useBenchRun();

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

test('tinybench before version 6, which prints every sample', async () => {
  const print = `
    const samples = Array.from({ length: 1_300_000 }, (_, i) => 0.0005 + (i % 997) / 7e9);
    const latency = { mean: 0.0006, p50: 0.0005, samples };
    const result = { ...latency, hz: 1_666_666, latency, throughput: { mean: 1_666_666, samples } };
    console.log(JSON.stringify([{ name: 'sum', ...result }]));`;
  const { figures } = await json('--', process.execPath, '-e', print);
  expect(figures).toMatchObject([{ bench: 'sum', metric: 'latency', unit: 'ns', value: 500 }]);
  expect(figures[0].samples).toHaveLength(32);
});

test('hyperfine', async (context) => {
  if (spawnSync('hyperfine', ['--version']).status !== 0) context.skip('no hyperfine here: apt-get install hyperfine');
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
