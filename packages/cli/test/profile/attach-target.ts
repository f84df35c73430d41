// A program that runs until it is killed, to attach to, and what is seen of its inspector from outside.
import { type ChildProcess, spawn } from 'node:child_process';
import { on } from 'node:events';
import { afterEach } from 'vitest';

/** Starts `program` with arguments of Node: it works until the test is over. */
export const startsOf = (program: string) => {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });
  return async (args: readonly string[] = []) => {
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
    child.stdout.setEncoding('utf8');
    const saysThat = async (word: string): Promise<void> => {
      for await (const [text] of on(child.stdout, 'data')) if ((text as string).includes(word)) return;
    };
    /** Resolve when a profile of it has begun, and when it has worked long enough under that for shares to be compared. */
    const [begun, profiled, worked] = ['begun', 'profiled', 'worked'].map(saysThat);
    await begun;
    return { pid: String(child.pid), child, said, profiled, worked };
  };
};

/** The addresses where the inspector has been so far, the last one last. */
export const addresses = ({ stderr }: { readonly stderr: string }): string[] =>
  [...stderr.matchAll(/listening on ws:\/\/([\d.:]+)\//g)].map(([, address]) => `http://${address}/json/list`);

export const isOpen = (address: string): Promise<boolean> =>
  fetch(address).then(
    ({ ok }) => ok,
    () => false,
  );
