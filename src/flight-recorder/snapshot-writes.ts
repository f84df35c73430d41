// Snapshots that are being written in slices while the process goes on. If it ends first they are written at once, from the same cut: what was
// asked for is there, however soon after that an application ends.
import { type FsSteps, giveUpSync, runAsync } from '../base/files/fs-steps.js';
import type { BlockSnapshot } from './block-snapshot.js';
import { snapshotSteps, writeSnapshotFileSync } from './snapshot-file.js';

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
