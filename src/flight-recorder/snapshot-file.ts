// Snapshots as files, as they lie in memory: nothing is encoded in the service. Whole or not at all; at a crash at once, else block by block,
// so that the event loop never stands still.
//
// Snapshots that are being written in slices while the process goes on. If it ends first they are written at once, from the same cut: what was
// asked for is there, however soon after that an application ends.
import { type FsSteps, giveUpSync, runAsync, runSync } from '../base/files/fs-steps.js';
import { writeWhole } from '../base/files/whole-file.js';
import type { ClockAnchor } from '../clock/index.js';
import type { Resource } from '../collector/reporter.js';
import type { BlockSnapshot, SnapshotParts } from './block-snapshot.js';
import { FlightError } from './flight-error.js';
import { blockParts, jsonRecord } from './flight-records.js';
import type { SnapshotReason } from './snapshot-types.js';
import type { TimelineRow } from './timeline/timeline-row.js';

/** Its content. */
export interface SnapshotHead {
  readonly kind: 'snapshot';
  readonly reason: SnapshotReason;
  readonly anchor: ClockAnchor;
  /** Ticks; 0 where it is not known: then it is the end of the last span. */
  readonly taken: number;
  readonly resource: Resource;
  readonly timeline: readonly TimelineRow[];
  readonly timelineFromUs?: number | undefined;
  readonly cancelled: readonly string[];
  readonly tornRows: number;
  /** Number of blocks of ended spans, which come first. */
  readonly blocks: number;
}

/** The first record of a file. */
export const headRecord = ({ cancelled, ...rest }: Omit<SnapshotParts, 'blocks' | 'open'>, blocks: number): Buffer =>
  jsonRecord({ ...rest, kind: 'snapshot', cancelled: [...cancelled], blocks } satisfies SnapshotHead);

const parts = function* ({ parts: { blocks, open, ...rest } }: BlockSnapshot): Iterable<Uint8Array> {
  yield headRecord(rest, blocks.length);
  for (const block of [...blocks, ...open]) yield* blockParts(block);
};

/** The error for a file that cannot be written. */
export const notWritten = (path: string, cause: unknown): FlightError =>
  new FlightError(
    'ERR_SPANLINE_FLIGHT_FILE',
    `The snapshot cannot be written to ${path}: ${(cause as Error).message}. Name a file in a directory that may be written to.`,
    { cause },
  );

/** The calls that write it; they throw `ERR_SPANLINE_FLIGHT_FILE`, and nothing of the file stays. */
export const snapshotSteps = function* (snapshot: BlockSnapshot, path: string): FsSteps<void> {
  try {
    yield* writeWhole(path, parts(snapshot), { makesDirectory: true, isDurable: false });
  } catch (cause) {
    throw notWritten(path, cause);
  }
};

/** Write it in slices. Rejects with `ERR_SPANLINE_FLIGHT_FILE`. */
export const writeSnapshotFile = (snapshot: BlockSnapshot, path: string): Promise<void> =>
  runAsync(snapshotSteps(snapshot, path));

/** The same at once, for a process that ends. Throws `ERR_SPANLINE_FLIGHT_FILE`. */
export const writeSnapshotFileSync = (snapshot: BlockSnapshot, path: string): void =>
  runSync(snapshotSteps(snapshot, path));

interface InFlight {
  readonly steps: FsSteps<void>;
  readonly snapshot: BlockSnapshot;
  readonly path: string;
}

export class SnapshotWrites {
  readonly #inFlight = new Set<InFlight>();
  readonly #atExit = (): void => {
    this.finish();
  };

  get isIdle(): boolean {
    return this.#inFlight.size === 0;
  }

  /** Write it in slices. Rejects with `ERR_SPANLINE_FLIGHT_FILE`. */
  async write(snapshot: BlockSnapshot, path: string): Promise<void> {
    const one = { steps: snapshotSteps(snapshot, path), snapshot, path };
    if (this.isIdle) process.on('exit', this.#atExit);
    this.#inFlight.add(one);
    try {
      await runAsync(one.steps);
    } finally {
      this.#inFlight.delete(one);
      if (this.isIdle) process.off('exit', this.#atExit);
    }
  }

  /** No turn of the event loop follows: write now what is in flight. Never throws. */
  finish(): void {
    for (const { steps, snapshot, path } of this.#inFlight) {
      try {
        writeSnapshotFileSync(snapshot, path);
      } catch {
        // Nobody is left to get the error.
      }
      // Behind it: a write that a thread still has in flight must not meet a descriptor that was given anew.
      giveUpSync(steps, new Error('the process ends'));
    }
    this.#inFlight.clear();
  }
}
