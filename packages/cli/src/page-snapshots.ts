// The snapshots that the page starts with, and where it has others written. A file that is no snapshot must be refused before the page is served.
import { stat } from 'node:fs/promises';
import { SnapshotShelf } from '@spanline/ui/internal';
import { CommandError, ExitCode } from './exit-code.js';
import { snapshotIn } from './snapshot/read-snapshot.js';

export interface SnapshotOptions {
  /** Files. */
  readonly snapshot: readonly string[];
  /** A directory. */
  readonly snapshots?: string;
}

/** The shelf of the page; whoever opens it closes it. */
export const openShelf = async ({ snapshot, snapshots }: SnapshotOptions): Promise<SnapshotShelf> => {
  for (const file of snapshot) await snapshotIn(file);
  const found = snapshots === undefined ? undefined : await stat(snapshots).catch(() => undefined);
  if (found !== undefined && !found.isDirectory())
    throw new CommandError('ERR_SPANLINE_NOT_FOUND', `${snapshots} is no directory`, ExitCode.store);
  return new SnapshotShelf({ directory: snapshots, files: snapshot });
};
