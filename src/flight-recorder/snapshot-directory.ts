// Where triggers put their files: each named after the moment, the process and the trigger, so that names in order are files in order of time.
// Only what has such a name is ever deleted: the directory may hold files of others.
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { nodeThreads } from '../base/calls/node-modules.js';
import { timers } from '../base/calls/timers.js';
import type { SnapshotReason } from './snapshot-types.js';

const NAME = String.raw`\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z-\d+(?:\.\d+)?-[a-z-]+\.flight`;
const FILE = new RegExp(`^${NAME}$`);
// What is left of a file whose writer was killed: of whole-file.ts, and of heap_limit.cc.
const LEFTOVER = new RegExp(String.raw`^(?:\.${NAME}\.\d+-[0-9a-f]+\.tmp|${NAME}\.partial)$`);
/** A file that is being written is written to more often. */
const LEFT_AFTER_MS = 60_000;

/** The process, and of a worker the thread as well. */
const writer = (): string => {
  const { isMainThread, threadId } = nodeThreads();
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
