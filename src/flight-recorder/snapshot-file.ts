// Snapshots as files, as they lie in memory: nothing is encoded in the service. Whole or not at all; at a crash at once, else block by block, so
// that the event loop never stands still. One that is being written when the process ends is written at once, from the same cut. Files of triggers
// are named after the moment, the process and the trigger, so that names in order are files in order of time. Only what has such a name is ever
// deleted: the directory may hold files of others.

import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { timers } from '../base/calls/timers.js';
import { type FsSteps, giveUpSync, runAsync, runSync } from '../base/files/fs-steps.js';
import { PRIVATE_MODE, type WholeFileOptions, writeWhole } from '../base/files/whole-file.js';
import type { ClockAnchor } from '../clock/index.js';
import type { Resource } from '../collector/reporter.js';
import type { BlockSnapshot } from './block-snapshot.js';
import { blockParts, jsonRecord } from './flight-records.js';
import { FlightError, type SnapshotReason } from './snapshot-types.js';
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

const parts = function* ({ parts: { blocks, open, cancelled, ...rest } }: BlockSnapshot): Iterable<Uint8Array> {
  const head = { ...rest, kind: 'snapshot', cancelled: [...cancelled], blocks: blocks.length } satisfies SnapshotHead;
  yield jsonRecord(head);
  for (const block of [...blocks, ...open]) yield* blockParts(block);
};

/** The error for a file that cannot be written. */
export const notWritten = (path: string, cause: unknown): FlightError =>
  new FlightError(
    'ERR_SPANLINE_FLIGHT_FILE',
    `The snapshot cannot be written to ${path}: ${(cause as Error).message}. Name a file in a directory that may be written to.`,
    { cause },
  );

/** Its file is private, as what it is taken from: it holds the properties of all spans. */
export const SNAPSHOT_FILE: WholeFileOptions = { makesDirectory: true, mode: PRIVATE_MODE };

/** The calls that write it; they throw `ERR_SPANLINE_FLIGHT_FILE`, and nothing of the file stays. */
const snapshotSteps = function* (snapshot: BlockSnapshot, path: string): FsSteps<void> {
  try {
    yield* writeWhole(path, parts(snapshot), { ...SNAPSHOT_FILE, isDurable: false });
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

const NAME = String.raw`\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z-\d+(?:\.\d+)?-[a-z-]+\.flight`;
const FILE = new RegExp(`^${NAME}$`);
// What is left of a file whose writer was killed: of whole-file.ts, and of heap_limit.cc.
const LEFTOVER = new RegExp(String.raw`^(?:\.${NAME}\.\d+-[0-9a-f]+\.tmp|${NAME}\.partial)$`);
/** A file that is being written is written to more often. */
const LEFT_AFTER_MS = 60_000;

/** The process, and of a worker the thread as well. */
const writer = (): string => {
  const { isMainThread, threadId } = process.getBuiltinModule('node:worker_threads');
  return isMainThread ? String(process.pid) : `${process.pid}.${threadId}`;
};

export class SnapshotDirectory {
  readonly path: string;
  readonly #maxFiles: number;
  #lastMs = 0;

  constructor(path: string, maxFiles: number) {
    this.path = path;
    this.#maxFiles = maxFiles;
  }

  /** What follows the moment in the name of a file. */
  static nameEnd(kind: SnapshotReason['kind']): string {
    return `-${writer()}-${kind}.flight`;
  }

  /** A path that no other file of this thread has. */
  pathFor(kind: SnapshotReason['kind']): string {
    this.#lastMs = Math.max(timers.wallMs(), this.#lastMs + 1);
    const moment = new Date(this.#lastMs).toISOString().replaceAll(':', '-');
    return join(this.path, moment + SnapshotDirectory.nameEnd(kind));
  }

  /** Delete the oldest files beyond the number that is kept, and what writers that were killed have left. Never throws. */
  removeOld(): void {
    try {
      const names = readdirSync(this.path).sort();
      const files = names.filter((name) => FILE.test(name));
      for (const name of files.slice(0, Math.max(0, files.length - this.#maxFiles))) this.#remove(name);
      for (const name of names) if (LEFTOVER.test(name) && this.#isLeft(name)) this.#remove(name);
    } catch {
      // The directory was taken away on purpose, with what was in it.
    }
  }

  #isLeft(name: string): boolean {
    const { mtimeMs } = statSync(join(this.path, name), { throwIfNoEntry: false }) ?? { mtimeMs: timers.wallMs() };
    return timers.wallMs() - mtimeMs > LEFT_AFTER_MS;
  }

  #remove(name: string): void {
    try {
      rmSync(join(this.path, name), { force: true });
    } catch {
      // The next look deletes it, or somebody with the right to.
    }
  }
}
