// `attach` profiles a process that runs, with its labels, and leaves it as it was: running, and its inspector closed.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { buildFirst, scratch, spanline } from '../support/spanline.js';
import { shareOfQ1, shopProgram, type TopJson } from './support.js';

buildFirst();

const dir = scratch();
const program = shopProgram(dir);

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** A program that works until it is killed. */
const running = async (args: readonly string[] = []) => {
  // A port of its own, for other tests may have the usual one.
  const child = spawn(process.execPath, ['--inspect-port=0', ...args, program, '600000', 'watch'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  children.push(child);
  const said = { stderr: '' };
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.stderr += text;
  });
  await once(child.stdout, 'data');
  /** Resolves when a profile of it is under way. */
  const profiled = once(child.stdout, 'data');
  return { pid: String(child.pid), child, said, profiled };
};

/** The addresses where the inspector has been so far, the last one last. */
const addresses = ({ stderr }: { readonly stderr: string }): string[] =>
  [...stderr.matchAll(/listening on ws:\/\/([\d.:]+)\//g)].map(([, address]) => `http://${address}/json/list`);

const isOpen = (address: string): Promise<boolean> =>
  fetch(address).then(
    ({ ok }) => ok,
    () => false,
  );

const topOf = async (file: string): Promise<TopJson> =>
  JSON.parse((await spanline(['profile', 'top', file, '--by', 'query', '--json'])).stdout) as TopJson;

test('a process that runs is profiled with its labels, twice, and goes on', async () => {
  const { pid, child, said } = await running();
  for (const round of [1, 2]) {
    const out = join(dir, `attached-${round}.pb.gz`);
    const outcome = await spanline(['profile', 'attach', pid, '--seconds', '0.5', '--out', out]);
    expect(outcome).toMatchObject({ code: 0, stdout: '' });
    expect(outcome.stderr).toMatch(/^spanline: \d+ samples, \d+ labelled, in /);
    const q1 = shareOfQ1(await topOf(out));
    expect(q1).toBeGreaterThan(0);
    expect(q1).toBeLessThan(1);
    // Opened for this, closed after.
    const opened = addresses(said);
    expect(opened).toHaveLength(round);
    while (await isOpen(opened[round - 1])) await sleep(20);
  }
  expect(child.exitCode).toBeNull();
  expect(said.stderr).not.toContain('Warning');
});

test('what cannot be profiled is left alone and named', async () => {
  const sleeper = spawn('sleep', ['60']);
  children.push(sleeper);
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
