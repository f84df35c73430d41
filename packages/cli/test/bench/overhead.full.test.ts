// `spanline bench overhead` finds a service whichever port it takes, asks it what it is told to, and fails where tracing costs too much.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildFirst, root } from '../support/spanline.js';
import { useOverheadProject } from './support/overhead-project.js';

const { overhead } = useOverheadProject();

buildFirst();

// A run that succeeds takes eight rounds, so all that one can show at once is shown by one: where a part of it fails, the service refuses.
test.skipIf(process.platform !== 'linux')(
  'finds a service on a port of its own, asks it the url at the end of the line, and sends the headers that are given',
  async () => {
    const service = [process.execPath, 'server.mjs', '0', '--url', '/key'];
    const without = await overhead([], service);
    expect(without.stderr).toMatch(/\/key gave .* other than 2xx/);
    expect(without.code).toBe(3);
    const { code, stderr } = await overhead(['--header', 'x-key: a: b'], service);
    expect(stderr).toContain('--url /key is what is asked');
    expect(code, stderr).toBe(0);
  },
);

test('leaves a url at the end of the line to the service where one is given before', async () => {
  const { code, stderr } = await overhead(['--url', '/no'], [process.execPath, 'server.mjs', '--url', '/api']);
  expect(stderr).toMatch(/\/no gave .* other than 2xx/);
  expect(stderr).not.toContain('is what is asked');
  expect(code).toBe(3);
});

test.skipIf(process.platform !== 'linux')('ends with 1 where tracing costs more CPU than --max-cpu', async () => {
  const service = [process.execPath, 'server.mjs', 'slow'];
  // Traced it costs ten times as much and more. The system counts by 10 ms, of which even a service that gets a twentieth of a core has three.
  const { code, stdout, stderr } = await overhead(['--max-cpu', '10%', '--round', '600ms'], service);
  expect(code, stderr).toBe(1);
  expect(stdout).toContain('CPU a request');
});

test('fails where a round is too short for an answer', async () => {
  const { code, stderr } = await overhead(['--url', '/never']);
  expect(stderr).toMatch(/\/never gave no answer in a round of 0\.3 s; give a longer --round/);
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
