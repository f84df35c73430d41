// The built command on a terminal, as a person starts it: util-linux' `script` gives it one.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { root } from './spanline.js';

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Run the command until `look` has seen the first that it printed; Ctrl-C ends it. */
export const runInTerminal = async (
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  look: (printed: string) => Promise<void>,
): Promise<void> => {
  const command = [process.execPath, join(root, 'packages/cli/dist/esm/main.js'), ...args].map(quoted).join(' ');
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  const [printed] = (await once(child.stdout, 'data')) as [Buffer];
  child.stdout.resume();
  try {
    await look(String(printed));
  } finally {
    // What Ctrl-C sends.
    child.stdin.write('\x03');
    await closed;
  }
};
