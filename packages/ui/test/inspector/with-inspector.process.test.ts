// Work through the inspector of a process is not disturbed by work that ended just before, leaves the inspector closed, and does nothing in a process or
// on a host that was not asked for.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { findInspector, listeningPorts } from '../../src/inspector/find-inspector.js';
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

/** A program in a process of its own, until the test is over; it says when it is ready. */
const started = async (program: string, ...options: readonly string[]) => {
  const other = spawn(process.execPath, [...options, '-e', program], {
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => {
    other.kill('SIGKILL');
  });
  await once(other.stdout, 'data');
  return { pid: other.pid as number, output: other.stdout, port: listeningPorts(other.pid as number)[0] };
};

test.skipIf(process.platform !== 'linux')('what answers leads to no other host or port', async () => {
  for (const [answered, path] of [
    ['ws://192.0.2.1:9/inspected', '/inspected'],
    ['ws:@192.0.2.1:9/inspected?a#b', '/inspected'],
    ['other:@192.0.2.1/', '/@192.0.2.1/'],
    ['other:9/x', '/9/x'],
  ]) {
    const answer = JSON.stringify(JSON.stringify([{ webSocketDebuggerUrl: answered }]));
    const { pid, port } = await started(
      `require('http').createServer((_, response) => response.end(${answer})).listen(0, '127.0.0.1', () => console.log('ready'))`,
    );
    expect(await findInspector(pid)).toEqual({ address: `ws://127.0.0.1:${port}${path}`, isOpened: false });
  }
});

test.skipIf(process.platform !== 'linux')('a process that was not asked for is left as it is', async () => {
  // SIGUSR2 asks how often the state that callers leave in a process was changed; it is looked at, for another caller may have it closed just now.
  const { pid, output, port } = await started(
    `let touched = 0;
    Object.defineProperty(globalThis, Symbol.for('spanline.inspector.closing'), { get: () => undefined, set: () => touched++ });
    process.on('SIGUSR2', () => console.log(touched));
    setInterval(() => {}, 1000);
    console.log('ready');`,
    '--inspect=127.0.0.1:0',
  );
  let isDone = false;
  const work = async (): Promise<void> => {
    isDone = true;
  };
  await expect(withInspector(process.pid, { port }, work)).rejects.toThrow(`is of process ${pid}; name another --port`);
  expect(isDone).toBe(false);
  process.kill(pid, 'SIGUSR2');
  expect(String((await once(output, 'data'))[0])).toBe('0\n');
  expect((await findInspector(pid)).isOpened).toBe(false);
});

const NAMESPACE = ['--user', '--map-root-user', '--pid', '--fork', '--kill-child'];

test.skipIf(spawnSync('unshare', [...NAMESPACE, 'true']).status !== 0)(
  'a process with an id of its own, as in a container, is known by it',
  async () => {
    const unshare = spawn('unshare', [...NAMESPACE, process.execPath, '--inspect-port=0', '-e', PROGRAM], {
      env: { ...process.env, NODE_OPTIONS: '' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onTestFinished(() => {
      unshare.kill('SIGKILL');
    });
    await once(unshare.stdout, 'data');
    const inside = Number(readFileSync(`/proc/${unshare.pid}/task/${unshare.pid}/children`, 'utf8'));
    expect(await withInspector(inside, {}, (evaluate) => evaluate('process.pid'))).toBe(1);
    expect((await findInspector(inside)).isOpened).toBe(true);
  },
);
