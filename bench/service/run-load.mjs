// Has load.mjs, a process of its own, ask services, and gives what it says. The load's own CPU must never be in the figures.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const LOAD = fileURLToPath(new URL('./load.mjs', import.meta.url));

/**
 * For each port in their order: requests a second that were answered, and at a rate their p50 and p99 in ms. Without a rate ports take turns, and one may
 * stand there several times; with one all are asked at the same time.
 * @param {readonly number[]} ports
 * @param {{ seconds: number, rate?: number, path?: string }} how `seconds`: for each.
 */
export async function load(ports, { seconds, rate = 0, path = '/api' }) {
  const child = spawn(process.execPath, [LOAD, ports.join(), String(seconds), String(rate), path], {
    stdio: ['ignore', 'pipe', 2],
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (code !== 0) throw new Error(`load.mjs ended with ${code}`);
  return JSON.parse(output);
}
