// A snapshot that is looked at: an archive of its own in a temporary directory, so that everything that asks an archive can ask it. The directory
// goes when it is closed.
import { rm } from 'node:fs/promises';
import { Archive } from '@spanline/archive';
import { HttpError, keepSnapshot } from '@spanline/archive/internal';
import { readSnapshotFile, type Snapshot } from 'spanline/flight-recorder';
import type { SnapshotFacts } from '../api/snapshots/answers.js';

export interface OpenedSnapshot {
  readonly archive: Archive;
  readonly facts: SnapshotFacts;
  close(): Promise<void>;
}

const read = async (path: string): Promise<Snapshot> => {
  try {
    return await readSnapshotFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new HttpError(404, `${path} cannot be read: ${(error as Error).message}`);
  }
};

/** Reads the file into an archive in `directory`, which is made. Rejects as `readSnapshotFile` and `keepSnapshot` do. */
export const openSnapshot = async (id: string, path: string, directory: string): Promise<OpenedSnapshot> => {
  const snapshot = await read(path);
  const archive = await Archive.open(directory, { maintain: false });
  const close = async (): Promise<void> => {
    await archive.close();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const { traceCount, spanCount, refused } = await keepSnapshot(archive, snapshot);
    const { reason, resource, takenUnixUs, heldMs, tornRows, timelineFromUs } = snapshot;
    const pid = resource.attributes['process.pid'];
    return {
      archive,
      close,
      facts: {
        id,
        service: resource.serviceName,
        ...(typeof pid === 'number' ? { pid } : {}),
        reason: [reason.kind, reason.text].filter((text) => text !== '').join(': '),
        takenUs: Math.round(takenUnixUs),
        ...{ heldMs, spanCount, traceCount, tornRows, refused },
        hasLane: timelineFromUs !== undefined,
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
};
