// `| head` hides no finding: a command whose output is closed early ends with the exit code that it would have had, and soon.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildFirst, root, scratch, spanline } from './support/spanline.js';

buildFirst();
const dir = scratch();
const graph = join(dir, 'keys.graph');
const keys = Array.from({ length: 20_000 }, (_, i) => `key-${String(i).padStart(8, '0')}`);

beforeAll(async () => {
  writeFileSync(join(dir, 'keys.txt'), keys.map((key) => `${key}\n`).join(''));
  expect(await spanline(['graph', 'build', '-o', graph, join(dir, 'keys.txt')])).toMatchObject({ code: 0 });
});

/** Runs `spanline` and closes its output: before it begins, or once it has printed something. */
const closed = async (args: readonly string[], when: 'at once' | 'after the first bytes'): Promise<number | null> => {
  const child = spawn(process.execPath, [join(root, 'dist/esm/cli/main.js'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  child.stderr.resume();
  const ended = once(child, 'close');
  if (when === 'after the first bytes') await once(child.stdout, 'data');
  child.stdout.destroy();
  return (await ended)[0] as number | null;
};

test.each(['at once', 'after the first bytes'] as const)('output closed %s', async (when) => {
  expect(await closed(['graph', 'get', graph, ...keys.slice(0, 5000)], when)).toBe(0);
  // What is missing is known before the rest is printed.
  expect(await closed(['graph', 'get', graph, 'nosuch', ...keys.slice(0, 5000)], when)).toBe(1);
  expect(await closed(['graph', 'get', join(dir, 'nosuch'), 'key'], 'at once')).toBe(3);
});

test('a finding that is known after the printing', async () => {
  const config = join(dir, 'bad.json');
  const settings = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`setting${i}`, i]));
  writeFileSync(config, JSON.stringify({ store: 'x', ...settings }));
  expect(await closed(['perf', 'config', 'validate', config], 'after the first bytes')).toBe(1);
  expect(await closed(['perf', 'config', 'validate', config], 'at once')).toBe(1);
});
