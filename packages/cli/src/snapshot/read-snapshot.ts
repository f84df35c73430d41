// The snapshot of a file or a directory, for commands: errors name the file and end with the code they should.
import { readSnapshotFile, recoverSnapshot, type Snapshot } from 'spanline/flight-recorder';
import { unreadable } from '../exit-code.js';

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
