// Files of snapshots: the one that `spanline snapshot PID` has a process write, and the snapshot of a file or a directory, for commands. Errors name
// the file and end with the code they should.

import { resolve } from 'node:path';
import { takeSnapshot } from '@spanline/ui/internal/inspector';
import { readSnapshotFile, recoverSnapshot, type Snapshot } from 'spanline/flight-recorder';
import { formatDuration } from 'spanline/internal/formats';
import { interruptible, unreadable } from '../exit-code.js';
import { requireWritable } from '../files.js';
import { glyphsOf } from '../glyphs.js';
import { note, Progress, printAnswer } from '../output.js';
import { formatBytes } from '../terminal.js';

const named = async (path: string, work: Promise<Snapshot>): Promise<Snapshot> => {
  try {
    return await work;
  } catch (error) {
    throw (error as NodeJS.ErrnoException).syscall === undefined ? error : unreadable(path, error);
  }
};

/** What `spanline snapshot PID`, a trigger or `saveSnapshot` has written. */
export const snapshotIn = (file: string): Promise<Snapshot> => named(file, readSnapshotFile(file));

/** What a process that is gone has left. */
export const snapshotLeftIn = (directory: string, pid: number | undefined): Promise<Snapshot> =>
  named(directory, recoverSnapshot(directory, { pid }));

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
    const { spanCount, bufferedMs, bytes } = taken;
    const contents = `${spanCount} spans of the last ${formatDuration(bufferedMs * NS_PER_MS, glyphsOf())}, ${formatBytes(bytes)}`;
    if (json) printAnswer(json, { file, pid, ...taken }, '');
    else note(`${contents}, in ${file}; see: spanline snapshot show ${file}`);
  });
};
