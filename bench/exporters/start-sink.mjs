// Starts a sink beside a subject; it ends when the subject's process does.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** @returns {Promise<{ http: number, udp: number }>} Its ports on 127.0.0.1. */
export async function startSink() {
  const sink = spawn(process.execPath, [fileURLToPath(new URL('./sink.mjs', import.meta.url))], {
    stdio: ['pipe', 'pipe', 2],
  });
  const [line] = await once(sink.stdout, 'data');
  // Nothing of it holds whoever started it.
  for (const held of [sink, sink.stdin, sink.stdout]) held.unref();
  return JSON.parse(String(line));
}
