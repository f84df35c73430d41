// A test that failed and passed on a second try is named, with what it failed with, in the log and in the file that CI reads.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

// Inside the checkout, for the suite to find vitest.
const scratch = (): string => {
  mkdirSync('.tmp', { recursive: true });
  const directory = mkdtempSync(resolve('.tmp/second-try-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
};

const SUITE = `
import { describe, expect, test } from 'vitest';
let tries = 0;
describe('a group', () => {
  test('meets a busy machine', () => { expect(++tries, 'the connection was cut').toBe(2); });
});
test('passes at once', () => {});
`;

test('retried tests are named in the log and in the file, others are not', () => {
  const directory = scratch();
  const list = join(directory, 'second-tries.jsonl');
  writeFileSync(join(directory, 'sample.test.mjs'), SUITE);
  writeFileSync(join(directory, 'vitest.config.mjs'), 'export default {};');
  const { status, stdout } = spawnSync(
    process.execPath,
    [
      resolve('node_modules/vitest/vitest.mjs'),
      'run',
      `--root=${directory}`,
      '--retry=1',
      '--reporter=default',
      `--reporter=${resolve('scripts/lib/second-try-reporter.mjs')}`,
    ],
    { encoding: 'utf8', env: { ...process.env, SPANLINE_SECOND_TRIES: list, NO_COLOR: '1' } },
  );
  expect(status).toBe(0);
  expect(stdout).toMatch(
    /passed on try 2: .*sample\.test\.mjs > a group > meets a busy machine\n {2}failed before: .*the connection was cut/,
  );
  expect(stdout).not.toContain('passed on try 2: passes at once');
  const found = readFileSync(list, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(found).toEqual([
    {
      test: expect.stringMatching(/sample\.test\.mjs > a group > meets a busy machine$/),
      tries: 2,
      errors: [expect.stringContaining('the connection was cut')],
    },
  ]);
});
