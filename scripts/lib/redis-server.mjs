// A redis of its own for a test or a benchmark, on a free port, without a file.
import { spawnSync } from 'node:child_process';
import { freePort, isListening } from './local-ports.mjs';
import { startGuarded, withFreePorts } from './programs.mjs';

/** Whether the machine has one. */
export const hasRedis = () => spawnSync('redis-server', ['--version']).status === 0;

async function startOnce(more) {
  const port = await freePort();
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', ...more];
  return { port, stop: await startGuarded('redis-server', options, { isUp: () => isListening(port) }) };
}

/** With `more` options of its own. Resolves when it answers. */
export async function startRedis(more = []) {
  return withFreePorts(() => startOnce(more));
}
