// `run` profiles a program without changing what it does: output, exit code and signals are the program's own. Its ways with children, other signals and
// its options are in run.full.test.ts.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { buildFirst, scratch, spanline, spanlineProcess } from '../support/spanline.js';
import { shareOfQ1, shopProgram, type TopJson } from './support.js';

buildFirst();

const dir = scratch();
const program = shopProgram(dir);
const at = (name: string): string => join(dir, name);

const topOf = async (file: string): Promise<TopJson> => {
  const { stdout, stderr } = await spanline(['profile', 'top', file, '--by', 'query', '--json']);
  expect(stderr).toBe('');
  return JSON.parse(stdout) as TopJson;
};

test('the program’s output and exit code are its own; the file has its labels', async () => {
  const out = at('plain.pb.gz');
  const outcome = await spanlineProcess(['profile', 'run', '--out', out, '--', process.execPath, program, '700']);
  expect(outcome).toMatchObject({ code: 7, signal: null, stdout: 'begun\n' });
  expect(outcome.stderr).toContain(`profiles are in ${out}`);
  // How large each share is depends on when a busy machine lets the sampler run; test/profile/accuracy.test.ts asks for that.
  const q1 = shareOfQ1(await topOf(out));
  expect(q1).toBeGreaterThan(0);
  expect(q1).toBeLessThan(1);
});

describe('signals', () => {
  test('SIGTERM ends the program as it would, and the file is written', async () => {
    const out = at('killed.pb.gz');
    const args = ['profile', 'run', '--out', out, '--', process.execPath, program, '600000'];
    const outcome = await spanlineProcess(args, {
      onOutput: (kill) => kill('SIGTERM'),
    });
    expect(outcome).toMatchObject({ code: 143, signal: null });
    expect(existsSync(out)).toBe(true);
  });
});

test('a file of an earlier run is not taken for one of this', async () => {
  const out = at('stale.pb.gz');
  writeFileSync(out, 'of yesterday');
  const outcome = await spanlineProcess(['profile', 'run', '--out', out, '--', 'true']);
  expect(outcome).toMatchObject({ code: 3, stderr: expect.stringContaining('left no profile') });
});

test('a program that is not there, and one that leaves no profile', async () => {
  const nowhere = await spanlineProcess(['profile', 'run', '--out', at('never'), '--', at('no-such-program')]);
  expect(nowhere).toMatchObject({ code: 3, stderr: expect.stringContaining('cannot be started') });
  const other = await spanlineProcess(['profile', 'run', '--out', at('never'), '--', 'true']);
  expect(other).toMatchObject({ code: 3, stderr: expect.stringContaining('left no profile') });
});
