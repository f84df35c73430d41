// `attach` leaves an inspector that was open, ends early by a signal, and keeps out of another's way.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { buildFirst, scratch, spanline, spanlineProcess } from '../support/spanline.js';
import { shopProgram } from './support.js';

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

test('an inspector that was open stays open', async () => {
  const { pid, said } = await running(['--inspect=127.0.0.1:0']);
  const out = join(dir, 'open.cpuprofile');
  const args = ['profile', 'attach', pid, '--seconds', '0.3', '--format', 'cpuprofile', '--out', out];
  expect((await spanline(args)).code).toBe(0);
  expect(existsSync(out)).toBe(true);
  expect(addresses(said)).toHaveLength(1);
  // Longer than it would take to be closed.
  await sleep(500);
  expect(await isOpen(addresses(said)[0])).toBe(true);
});

test.each(['SIGINT', 'SIGTERM'] as const)('%s ends the profile early and writes it', async (signal) => {
  const { pid, profiled } = await running();
  const out = join(dir, `early-${signal}.pb.gz`);
  const outcome = await spanline(['profile', 'attach', pid, '--seconds', '600', '--out', out], {
    onStart: (kill) => void profiled.then(() => kill(signal)),
  });
  expect(outcome.code).toBe(0);
  expect(existsSync(out)).toBe(true);
});

test('a process that is under profile already is left to it', async () => {
  const { pid, profiled } = await running();
  const out = join(dir, 'first.pb.gz');
  let end: (() => void) | undefined;
  const [first, second] = await Promise.all([
    spanlineProcess(['profile', 'attach', pid, '--seconds', '600', '--out', out], {
      onStart: (kill) => {
        end = () => kill('SIGINT');
      },
    }),
    profiled
      .then(() => spanline(['profile', 'attach', pid, '--out', join(dir, 'second.pb.gz')]))
      .finally(() => end?.()),
  ]);
  expect(first.code).toBe(0);
  expect(second).toMatchObject({ code: 3, stderr: expect.stringContaining('is being profiled') });
});

test('a process that ends meanwhile is an error, not a wait', async () => {
  const { pid, child, profiled } = await running();
  const outcome = await spanline(['profile', 'attach', pid, '--seconds', '600'], {
    onStart: () => void profiled.then(() => child.kill('SIGKILL')),
  });
  expect(outcome).toMatchObject({ code: 3, stderr: expect.stringContaining('could not be profiled') });
});
