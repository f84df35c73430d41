import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { buildFirst, scratch, spanline, spanlineProcess } from '../support/spanline.js';
import { addresses, isOpen, startsOf } from './attach-target.js';
import { shopProgram } from './support.js';

buildFirst();

const dir = scratch();
const program = shopProgram(dir);

const running = startsOf(program);

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
