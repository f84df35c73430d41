// Processes that record, for the commands that ask one for its last minute.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach } from 'vitest';
import { root } from '../../support/spanline.js';

const LIBRARY = pathToFileURL(join(root, 'dist/esm/index.js')).href;

/** Records what it is told by its first argument, then does what the second says. */
const SOURCE = `
import { configure, LocalSpan, Span } from ${JSON.stringify(LIBRARY)};
const [options, then] = process.argv.slice(2);
configure({ serviceName: 'shop', sampler: ({ name }) => name !== 'unsampled', ...JSON.parse(options) });
for (let i = 0; i < 300; i++) {
  const root = Span.root(i % 3 === 0 ? 'unsampled' : 'GET /' + (i % 5));
  root.run(() => LocalSpan.start('parse').end());
  root.end();
}
const slow = Span.root('slow');
setTimeout(() => {
  slow.setStatus('error', 'too late');
  slow.end();
  globalThis.open = Span.root('waits');
  // To a pipe it is written when the call returns.
  console.log('ready');
  if (then === 'block') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  else setInterval(() => {}, 1000);
}, 60);
`;

/** Starts such processes out of `dir`; they end with the test. */
export const shopProcesses = (dir: string) => {
  const program = join(dir, 'shop.mjs');
  writeFileSync(program, SOURCE);
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  const running = async (options: object, then = 'wait') => {
    const child = spawn(process.execPath, ['--inspect-port=0', program, JSON.stringify(options), then], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    children.push(child);
    await once(child.stdout, 'data');
    return { child, pid: String(child.pid) };
  };
  return { running };
};
