// A process that writes to an archive and says what is acknowledged; it is killed, never asked to end.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';

export interface WriterProcess {
  /** Traces below this number are acknowledged; -1 before the first word. */
  readonly acknowledged: number;
  readonly stderr: string;
  /** Resolves when at least so many are. */
  until(count: number): Promise<void>;
  /** kill -9; resolves when it is gone and everything it said was heard. */
  kill(): Promise<void>;
}

export const startWriter = (program: string, args: readonly string[]): WriterProcess => {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  let acknowledged = -1;
  let rest = '';
  let stderr = '';
  let heard = (): void => {};
  child.stdout.on('data', (chunk: Buffer) => {
    rest += chunk.toString();
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) acknowledged = Number(line.split(' ')[1]);
    heard();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  return {
    get acknowledged() {
      return acknowledged;
    },
    get stderr() {
      return stderr;
    },
    async until(count) {
      while (acknowledged < count) {
        const word = new Promise<void>((resolve) => {
          heard = resolve;
        });
        const ended = await Promise.race([word.then(() => false), closed.then(() => true)]);
        if (ended && acknowledged < count) throw new Error(`the writer ended at ${acknowledged}: ${stderr}`);
      }
    },
    async kill() {
      child.kill('SIGKILL');
      await closed;
    },
  };
};
