// Work through the inspector of a process is not disturbed by work that ended just before, and leaves the inspector closed.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { findInspector } from '../../src/inspector/find-inspector.js';
import { withInspector } from '../../src/inspector/with-inspector.js';

const PROGRAM = "setInterval(() => {}, 1000); console.log('ready');";

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

// Each test opens the inspector at its end, to see whether it was closed; the next one begins with a closed one, whichever that is.
afterEach(async () => {
  await withInspector(pid, {}, (evaluate) => evaluate("process.getBuiltinModule('inspector').close()")).catch(() => {});
});

test('the inspector is closed when the work is over, by the process that has it', async () => {
  expect(await withInspector(pid, {}, (evaluate) => evaluate('1 + 1'))).toBe(2);
  // Opened anew: it was closed.
  expect((await findInspector(pid)).isOpened).toBe(true);
  // Found open: left so.
  expect(await withInspector(pid, {}, (evaluate) => evaluate('1 + 1'))).toBe(2);
  expect((await findInspector(pid)).isOpened).toBe(false);
});

test('who comes before the inspector is closed again works on, and closes it', async () => {
  let isOver: (() => void) | undefined;
  const over = new Promise<void>((resolve) => {
    isOver = resolve;
  });
  const first = withInspector(pid, {}, (evaluate) => evaluate('1 + 1').finally(isOver));
  await over;
  // Found open, or just closed: in either case its work takes longer than the first one's inspector stays open.
  const slow = await withInspector(pid, {}, (evaluate) =>
    evaluate("new Promise((resolve) => setTimeout(resolve, 400, 'done'))"),
  );
  expect([await first, slow]).toEqual([2, 'done']);
  expect((await findInspector(pid)).isOpened).toBe(true);
});

test('who came while another worked does not leave while that one has the inspector closed', async () => {
  let finish: ((value: unknown) => void) | undefined;
  let begun: (() => void) | undefined;
  const [finishing, beginning] = [
    new Promise((resolve) => {
      finish = resolve;
    }),
    new Promise<void>((resolve) => {
      begun = resolve;
    }),
  ];
  const first = withInspector(pid, {}, async () => {
    begun?.();
    await finishing;
  });
  await beginning;
  const closing = "globalThis[Symbol.for('spanline.inspector.closing')]";
  const second = withInspector(pid, {}, (evaluate) => {
    const seen = evaluate(
      `new Promise((resolve) => { const timer = setInterval(() => { if (${closing}) resolve(clearInterval(timer)); }, 1); })`,
    );
    finish?.(undefined);
    // It may be closed before the answer comes.
    return seen.catch(() => undefined);
  });
  await second;
  expect((await findInspector(pid)).isOpened).toBe(true);
  await first;
});
