// `attach` profiles a process that runs, with its labels, and leaves it as it was: running, and its inspector closed.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { buildFirst, scratch, spanline } from '../support/spanline.js';
import { addresses, isOpen, startsOf } from './attach-target.js';
import { shareOfQ1, shopProgram, type TopJson } from './support.js';

buildFirst();

const dir = scratch();
const program = shopProgram(dir);

const running = startsOf(program);

const topOf = async (file: string): Promise<TopJson> =>
  JSON.parse((await spanline(['profile', 'top', file, '--by', 'query', '--json'])).stdout) as TopJson;

test('a process that runs is profiled with its labels, twice, and goes on', async () => {
  const { pid, child, said, worked } = await running();
  const file = (round: number): string => join(dir, `attached-${round}.pb.gz`);
  const attach = async (round: number, seconds: string, onStart?: (kill: (signal: NodeJS.Signals) => void) => void) => {
    const args = ['profile', 'attach', pid, '--seconds', seconds, '--out', file(round)];
    const outcome = await spanline(args, { onStart });
    expect(outcome).toMatchObject({ code: 0, stdout: '' });
    expect(outcome.stderr).toMatch(/^spanline: \d+ samples, \d+ labelled, in /);
    // Opened for this, closed by now.
    const opened = addresses(said);
    expect(opened).toHaveLength(round);
    expect(await isOpen(opened[round - 1])).toBe(false);
  };
  // Ended when it has worked enough for shares: how much it works in so many seconds the machine decides.
  await attach(1, '600', (kill) => void worked.then(() => kill('SIGINT')));
  const q1 = shareOfQ1(await topOf(file(1)));
  expect(q1).toBeGreaterThan(0);
  expect(q1).toBeLessThan(1);
  await attach(2, '0.5');
  expect(child.exitCode).toBeNull();
  expect(said.stderr).not.toContain('Warning');
});

test('what cannot be profiled is left alone and named', async () => {
  const sleeper = spawn('sleep', ['60']);
  onTestFinished(() => void sleeper.kill('SIGKILL'));
  const other = await spanline(['profile', 'attach', String(sleeper.pid)]);
  expect(other).toMatchObject({ code: 3, stderr: expect.stringContaining('no Node.js') });
  expect(sleeper.exitCode ?? sleeper.signalCode).toBeNull();
  const nobody = await spanline(['profile', 'attach', '2147483000']);
  expect(nobody).toMatchObject({ code: 3, stderr: expect.stringContaining('there is no process') });
});

test('a file that cannot be written is said before the profile is taken', async () => {
  const { pid, said } = await running();
  const out = join(dir, 'no/such/directory/cpu.pb.gz');
  const outcome = await spanline(['profile', 'attach', pid, '--seconds', '600', '--out', out]);
  expect(outcome).toMatchObject({ code: 3, stderr: expect.stringContaining('cannot be written') });
  expect(addresses(said)).toEqual([]);
});
