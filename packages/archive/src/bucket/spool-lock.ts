// The one owner of a spool, as a file in it with a heartbeat. Two processes must never upload out of one spool for longer than the moment in which one
// takes the other for dead, and the spool of another machine must never be taken over: a network may hide that its owner lives.

import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isAlive, sleep, timers } from 'spanline/internal/base';
import { THIS_OWNER } from '../directory.js';
import { bucketError } from './bucket-error.js';

/** The file. */
export const LOCK_FILE = 'spool.lock';

/** An owner that gave no sign of life for so long is gone. */
const SILENCE_MS = 60_000;
/** Between two signs of life. */
const BEAT_MS = 5000;
/** Between two looks at an owner of which nobody knows whether it lives. */
const LOOK_MS = 500;

/** Who has a spool. */
interface SpoolOwner {
  /** Name of the machine, or of the container. */
  readonly host: string;
  /** Where its number means something. */
  readonly place: string;
  readonly pid: number;
  readonly instance: string;
}

const US: SpoolOwner = { host: hostname(), place: THIS_OWNER.host, pid: THIS_OWNER.pid, instance: THIS_OWNER.instance };

/** Spools of this module. */
const ours = new Set<string>();

const readText = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

const parseOwner = (text: string): SpoolOwner | undefined => {
  try {
    const { host, place, pid, instance } = JSON.parse(text) as SpoolOwner;
    const isOwner = [host, place, instance].every((one) => typeof one === 'string') && Number.isInteger(pid);
    return isOwner ? { host, place, pid, instance } : undefined;
  } catch {
    return undefined;
  }
};

/** When the owner gave a sign of life, Unix milliseconds; undefined when the file is gone. */
const signOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.mtimeMs;

/** The file appears whole, or is somebody's. */
const create = (path: string, text: string): boolean => {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  writeFileSync(temporary, text, { flag: 'wx' });
  try {
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
};

/** Takes away the file of one that is gone, whose text is `text`. */
const takeAway = (path: string, text: string): void => {
  const stale = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    renameSync(path, stale);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  // Another was quicker, and this is its own.
  if (readText(stale) !== text) {
    try {
      linkSync(stale, path);
    } catch {
      // A third one has it now, and the second finds out at its next beat.
    }
  }
  rmSync(stale, { force: true });
};

type State = 'gone' | 'alive' | 'unknown';

const stateOf = (directory: string, { place, pid, instance }: SpoolOwner, silentMs: number): State => {
  const isThisProcess = place === US.place && pid === US.pid;
  if (isThisProcess && instance === US.instance) return ours.has(directory) ? 'alive' : 'gone';
  if (silentMs >= SILENCE_MS) return 'gone';
  // Another copy of this module, in another thread perhaps, or one whose number means nothing here.
  if (isThisProcess || place !== US.place) return 'unknown';
  return isAlive(pid) ? 'alive' : 'gone';
};

const inUse = (directory: string, { host, pid }: SpoolOwner): Error =>
  bucketError(
    'SPOOL',
    `the spool ${directory} is in use by process ${pid} of ${host}: give each process a spool of its own`,
  );

/** The spool of this process as long as `release` is not called. */
export class SpoolLock {
  readonly #directory: string;
  readonly #text: string;
  readonly #path: string;
  readonly #beat: NodeJS.Timeout;
  #isLost = false;

  private constructor(directory: string, text: string) {
    this.#directory = directory;
    this.#text = text;
    this.#path = join(directory, LOCK_FILE);
    ours.add(directory);
    this.#beat = timers.setInterval(() => this.#touch(), BEAT_MS).unref();
  }

  /**
   * Take the spool. Rejects with ERR_SPANLINE_BUCKET_SPOOL when it is another's. Of one of this machine's name that cannot be asked, such as in a
   * container that was there before, it waits for a sign of life, a minute at most; not at all with `waits` false.
   */
  static async take(directory: string, waits = true): Promise<SpoolLock> {
    const path = join(directory, LOCK_FILE);
    const text = `${JSON.stringify(US)}\n`;
    let seen: number | undefined;
    let seenAtMs = 0;
    for (;;) {
      if (create(path, text)) return new SpoolLock(directory, text);
      const found = readText(path);
      const sign = signOf(path);
      if (found === undefined || sign === undefined) continue;
      const owner = parseOwner(found);
      if (owner === undefined || owner.host !== US.host)
        throw bucketError(
          'SPOOL',
          `the spool ${directory} belongs to a process of ${owner?.host ?? 'another machine'}, which this machine cannot ask whether it lives: stop it there, or delete ${path} if it is gone for good`,
        );
      // Clocks may be wrong, and put back: what was watched without a sign for so long is silent too.
      const watchedMs = seen === sign ? timers.monotonicMs() - seenAtMs : 0;
      const state = stateOf(directory, owner, Math.max(watchedMs, timers.wallMs() - sign));
      if (state === 'gone') takeAway(path, found);
      else if (state === 'alive' || !waits || (seen !== undefined && seen !== sign)) throw inUse(directory, owner);
      else {
        if (seen === undefined) seenAtMs = timers.monotonicMs();
        seen = sign;
        await sleep(LOOK_MS);
      }
    }
  }

  /** Another took it: this one was silent for too long. */
  get isLost(): boolean {
    return this.#isLost;
  }

  release(): void {
    timers.clearInterval(this.#beat);
    ours.delete(this.#directory);
    if (!this.#isLost && readText(this.#path) === this.#text) rmSync(this.#path, { force: true });
  }

  #touch(): void {
    try {
      if (readText(this.#path) !== this.#text) {
        this.#isLost = true;
        return;
      }
      const now = timers.wallMs() / 1000;
      utimesSync(this.#path, now, now);
    } catch {
      // The disk fails; the next beat tries again.
    }
  }
}
