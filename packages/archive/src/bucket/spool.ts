// The spool of a process that writes to a bucket: an ordinary directory of write-ahead files and segments, and beside each segment that was tried to be
// put the hours under which it was, as empty files. A segment must stay until its upload is confirmed and its write-ahead file is gone; what was tried
// must be written down before it is tried. What dead processes of this machine left in spools beside is taken over, file by file.

import { existsSync, readdirSync, readFileSync, renameSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { attempt, makeDirectory } from 'spanline/internal/base';
import { parseSegmentName } from '../directory.js';
import { removeFiles } from '../make-segments.js';
import { type TimelineName, timelinesIn } from '../timeline/timeline-files.js';
import { BucketError, bucketError } from './bucket-error.js';
import { LOCK_FILE, moved, SpoolLock, type TakeOptions } from './spool-lock.js';

const TRIED = /^tried-(\d{4}-\d{2}-\d{2}T\d{2})-(seg-.*)$/;
const WAL = /^wal-.*-([0-9a-f]{12})\.log$/;
const MEMBER = /^process-\d{1,3}$/;

const isSegment = (name: string): boolean => parseSegmentName(name) !== undefined;

/** Spools beside each other at most. */
const MAX_MEMBERS = 256;

/** A segment that waits for its upload. */
export interface SpooledSegment {
  readonly name: string;
  readonly bytes: number;
  /** When it was written, Unix milliseconds of this machine. */
  readonly sinceMs: number;
  /** Hours under which it was put, perhaps, the earliest first. */
  readonly tried: readonly string[];
}

/** What was taken over. */
export interface Adopted {
  readonly files: number;
  /** Why spools could not be looked at. */
  readonly failures: readonly unknown[];
}

/** Spans that wait in a spool. */
export interface UnsentFiles {
  readonly directory: string;
  /** Segments and write-ahead files. */
  readonly files: number;
  readonly bytes: number;
}

/** A segment must come behind the hours under which it was tried, and before its write-ahead file: that would become a segment again. */
const placeOf = (name: string): number => (TRIED.test(name) ? 0 : WAL.test(name) ? 2 : 1);
const inOrder = (a: string, b: string): number => placeOf(a) - placeOf(b);

const failed = (directory: string, cause: unknown): Error =>
  bucketError('SPOOL', `the spool ${directory} cannot be used: ${(cause as Error).message}`, { cause });

/** Take a spool, making it. Rejects with a `BucketError`, for whatever reason. */
const takeIn = async (directory: string, options?: TakeOptions): Promise<SpoolLock> => {
  try {
    makeDirectory(directory);
    return await SpoolLock.take(directory, options);
  } catch (cause) {
    throw cause instanceof BucketError ? cause : failed(directory, cause);
  }
};

/** Whether a spool is another's: one that cannot be used is no better when it is tried beside. */
const isAnothers = (error: unknown): error is BucketError => error instanceof BucketError && error.cause === undefined;

/** The spool that this process has. */
export class Spool {
  /** Where others lie beside it; undefined where it is alone. */
  readonly #home: string | undefined;

  private constructor(
    readonly directory: string,
    readonly lock: SpoolLock,
    home: string | undefined,
  ) {
    this.#home = home;
  }

  /** Take the spool in `directory`, making it. */
  static async open(directory: string): Promise<Spool> {
    return new Spool(directory, await takeIn(directory), undefined);
  }

  /** Take the first spool in `home` that nobody has. */
  static async openOneOf(home: string): Promise<Spool> {
    let reason = '';
    for (let number = 0; number < MAX_MEMBERS; number++) {
      const directory = join(home, `process-${number}`);
      try {
        return new Spool(directory, await takeIn(directory, { waits: false, sparesSilent: true }), home);
      } catch (error) {
        if (!isAnothers(error)) throw error;
        reason = error.message;
      }
    }
    throw bucketError('SPOOL', `all ${MAX_MEMBERS} spools in ${home} are in use; of the last: ${reason}`);
  }

  /** Segments of which no write-ahead file is left, the oldest first; `replaces` says which those are. */
  segments(): SpooledSegment[] {
    const tried = new Map<string, string[]>();
    const names: string[] = [];
    for (const name of readdirSync(this.directory).sort()) {
      const [, hour, segment] = TRIED.exec(name) ?? [];
      if (segment !== undefined) tried.set(segment, [...(tried.get(segment) ?? []), hour]);
      else if (isSegment(name)) names.push(name);
    }
    const segments = names.flatMap((name): SpooledSegment[] => {
      const stats = statSync(join(this.directory, name), { throwIfNoEntry: false });
      if (stats === undefined) return [];
      return [{ name, bytes: stats.size, sinceMs: stats.mtimeMs, tried: tried.get(name) ?? [] }];
    });
    return segments.sort((a, b) => a.sinceMs - b.sinceMs || (a.name < b.name ? -1 : 1));
  }

  /** Identities of the write-ahead files that are there. */
  walIds(): ReadonlySet<string> {
    return new Set(readdirSync(this.directory).flatMap((name) => WAL.exec(name)?.[1] ?? []));
  }

  /** Bytes of all files. */
  bytes(): number {
    let bytes = 0;
    for (const name of readdirSync(this.directory))
      bytes += statSync(join(this.directory, name), { throwIfNoEntry: false })?.size ?? 0;
    return bytes;
  }

  /** Throws when another has taken it: this process was stopped. */
  checkOurs(): void {
    if (!this.lock.check()) throw bucketError('SPOOL', this.lock.lostTo);
  }

  /** What is not in the bucket yet. */
  unsent(): UnsentFiles {
    let [files, bytes] = [0, 0];
    for (const name of readdirSync(this.directory)) {
      if (!isSegment(name) && !WAL.test(name)) continue;
      files++;
      bytes += statSync(join(this.directory, name), { throwIfNoEntry: false })?.size ?? 0;
    }
    return { directory: this.directory, files, bytes };
  }

  read(name: string): Buffer {
    return readFileSync(join(this.directory, name));
  }

  /** Write down that a segment is about to be put under an hour. */
  willTry(segment: string, hour: string): void {
    writeFileSync(join(this.directory, `tried-${hour}-${segment}`), '');
  }

  /** A segment is in the bucket. */
  remove({ name, tried }: SpooledSegment): void {
    removeFiles(this.directory, [name, ...tried.map((hour) => `tried-${hour}-${name}`)]);
  }

  /** A segment can never be put any more; its file stays, under the name that is given. */
  putAside({ name, tried }: SpooledSegment): string {
    const aside = `late-${name}`;
    renameSync(join(this.directory, name), join(this.directory, aside));
    removeFiles(
      this.directory,
      tried.map((hour) => `tried-${hour}-${name}`),
    );
    return aside;
  }

  /** Files of timelines. */
  timelines(): TimelineName[] {
    return timelinesIn(this.directory).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  removeFiles(names: readonly string[]): void {
    removeFiles(this.directory, names);
  }

  /** Take over what processes that are gone have left in spools beside this one; a spool that cannot be looked at keeps no other from it. */
  async adopt(): Promise<Adopted> {
    if (this.#home === undefined) return { files: 0, failures: [] };
    let files = 0;
    const failures: unknown[] = [];
    for (const member of readdirSync(this.#home)) {
      const directory = join(this.#home, member);
      if (!MEMBER.test(member) || directory === this.directory) continue;
      try {
        files += await this.#adoptFrom(directory);
      } catch (error) {
        if (!isAnothers(error)) failures.push(error instanceof BucketError ? error : failed(directory, error));
      }
    }
    return { files, failures };
  }

  async #adoptFrom(directory: string): Promise<number> {
    if (!existsSync(directory)) return 0;
    const lock = await takeIn(directory, { waits: false });
    let files = 0;
    let isGivenBack = true;
    try {
      for (const name of readdirSync(directory).sort(inOrder)) {
        if (name === LOCK_FILE || name.endsWith('.tmp')) continue;
        // One that was stopped goes on, and may have put it.
        files += moved(join(directory, name), join(this.directory, name)) ? 1 : 0;
      }
    } finally {
      isGivenBack = lock.giveBack();
    }
    // Another process may take it just now.
    if (!isGivenBack) attempt(() => rmdirSync(directory));
    return files;
  }

  close(): void {
    this.lock.release();
  }
}
