// `spanline bench overhead` finds a service whichever port it takes, asks it what it is told to, and fails where tracing costs too much.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildFirst, root } from '../support/spanline.js';
import { useOverheadProject } from './support/overhead-project.js';

const { overhead } = useOverheadProject();

buildFirst();

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
  const service = [process.execPath, 'server.mjs', 'slow'];
  const { code, stdout } = await overhead(['--max-cpu', '10%', '--round', '2s'], service);
  expect(stdout).toContain('CPU a request');
  expect(code).toBe(1);
});

test('fails where a round is too short for an answer', async () => {
  const { code, stderr } = await overhead(['--url', '/never']);
  expect(stderr).toMatch(/\/never gave no answer in a round of 0\.3 s; give a longer --round/);
  expect(code).toBe(3);
});

test('fails for a service that refuses', async () => {
  const { code, stderr } = await overhead(['--url', '/no']);
  expect(stderr).toMatch(/other than 2xx/);
  expect(code).toBe(3);
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
