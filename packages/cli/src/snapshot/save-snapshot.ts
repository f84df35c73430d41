// A snapshot of a process that runs, in a file: what `spanline snapshot PID` does.
import { resolve } from 'node:path';
import { formatBytes, formatDuration, glyphsOf } from 'spanline/internal/formats';
import { takeSnapshot } from 'spanline/internal/inspector';
import { interruptible } from '../interrupt.js';
import { note, printAnswer } from '../output.js';
import { Progress } from '../progress.js';
import { requireWritable } from '../require-writable.js';

export interface TakeCommandOptions {
  readonly out?: string;
  readonly timeout: number;
  readonly port?: number;
  readonly json?: boolean;
}

const NS_PER_MS = 1e6;

/** Prints what is in it. */
export const saveSnapshot = (pid: number, { out, timeout, port, json }: TakeCommandOptions): Promise<void> => {
  const file = out ?? `snapshot-${pid}.flight`;
  return interruptible(async (signal) => {
    requireWritable(file);
    const progress = new Progress();
    progress.show(`waiting for process ${pid}`);
    const taken = await takeSnapshot(pid, resolve(file), { port, timeoutSeconds: timeout, signal }).finally(() =>
      progress.clear(),
    );
    const { spanCount, heldMs, bytes } = taken;
    const held = `${spanCount} spans of the last ${formatDuration(heldMs * NS_PER_MS, glyphsOf())}, ${formatBytes(bytes)}`;
    if (json) printAnswer(json, { file, pid, ...taken }, '');
    else note(`${held}, in ${file}; see: spanline snapshot show ${file}`);
  });
};
