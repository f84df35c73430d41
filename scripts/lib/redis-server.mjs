// A redis of its own for a test or a benchmark, on a free port, without a file.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, isListening } from './local-ports.mjs';

/** Whether the machine has one. */
export const hasRedis = () => spawnSync('redis-server', ['--version']).status === 0;

/** With `more` options of its own. Resolves when it answers. */
export async function startRedis(more = []) {
  const port = await freePort();
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', ...more];
  const server = spawn('redis-server', options, { stdio: 'ignore' });
  const gone = once(server, 'exit');
  while (!(await isListening(port))) {
    if (server.exitCode !== null) throw new Error(`redis-server ended with ${server.exitCode}`);
    await sleep(20);
  }
  return {
    port,
    async stop() {
      server.kill();
      await gone;
    },
  };
}
