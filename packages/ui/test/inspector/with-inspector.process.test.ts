// Work through the inspector of a process is not disturbed by work that ended just before, and leaves the inspector closed.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findInspector } from '../../src/inspector/find-inspector.js';
import { withInspector } from '../../src/inspector/with-inspector.js';

/** Says again and again whether its inspector is open. */
const PROGRAM = `
  const { url } = require('node:inspector');
  setInterval(() => console.log(url() === undefined ? 'closed' : 'open'), 50);
  console.log('ready');
`;

let child: ChildProcess;
let pid: number;
beforeAll(async () => {
  child = spawn(process.execPath, ['--inspect-port=0', '-e', PROGRAM], {
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  pid = child.pid as number;
  await once(child.stdout as NodeJS.ReadableStream, 'data');
});
afterAll(() => child.kill('SIGKILL'));

test('who comes before the inspector is closed again works on, and closes it', async () => {
  let last = '';
  child.stdout?.on('data', (data: Buffer) => {
    last = String(data).trimEnd().split('\n').at(-1) ?? '';
  });
  expect(await withInspector(pid, {}, (evaluate) => evaluate('1 + 1'))).toBe(2);
  // Found open, or just closed: in either case its work takes longer than the first one's inspector stays open.
  const slow = await withInspector(pid, {}, (evaluate) =>
    evaluate("new Promise((resolve) => setTimeout(resolve, 400, 'done'))"),
  );
  expect(slow).toBe('done');
  await expect.poll(() => last).toBe('closed');
  // Opened anew: it was closed.
  const { isOpened } = await findInspector(pid);
  expect(isOpened).toBe(true);
});
