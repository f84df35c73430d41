// Snapshots of the running process, when the program asks for one. What writes them by itself is in triggers.ts.

import { flightRecorder } from './install.js';
import { writeSnapshotFile } from './snapshot-file.js';
import { FlightError, type Snapshot, type SnapshotReason } from './snapshot-types.js';

const taken = (text: string) => {
  const recorder = flightRecorder();
  if (recorder !== undefined) return recorder.snapshot({ kind: 'call', text, traceId: '' } satisfies SnapshotReason);
  throw new FlightError(
    'ERR_SPANLINE_FLIGHT_OFF',
    'No flight recorder runs in this process. Switch it on: configure({ flightRecorder: {} }), or SPANLINE_FLIGHT_RECORDER=60s,64MiB with spanline/register.',
  );
};

/**
 * What the flight recorder holds now: a consistent cut, which stays as it is while spans go on. Takes a millisecond; its spans are read when they
 * are asked for.
 *
 * Throws `ERR_SPANLINE_FLIGHT_OFF` where no recorder runs.
 *
 * @param text Why, for people; it is in the snapshot.
 *
 * @example
 * ```ts
 * configure({ flightRecorder: {} });
 * const { spanCount, bufferedMs } = snapshot('before the deployment');
 * ```
 */
export const snapshot = (text = ''): Snapshot => taken(text);

/**
 * Take a snapshot and write it to a file, block by block between turns of the event loop. {@link readSnapshotFile} and `spanline snapshot` read
 * it.
 *
 * Rejects with `ERR_SPANLINE_FLIGHT_OFF` where no recorder runs, with `ERR_SPANLINE_FLIGHT_FILE` where the file cannot be written; then nothing
 * of it stays.
 *
 * @example
 * ```ts
 * configure({ flightRecorder: {} });
 * await saveSnapshot('last.flight', 'before the deployment');
 * ```
 */
export const saveSnapshot = async (path: string, text = ''): Promise<Snapshot> => {
  const now = taken(text);
  await writeSnapshotFile(now, path);
  return now;
};
