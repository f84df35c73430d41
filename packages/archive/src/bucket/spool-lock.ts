// The one owner of a spool, as a file in it with a heartbeat. Two processes must never upload out of one spool for longer than the moment in which one
// takes the other for dead, and the spool of another machine must never be taken over: a network may hide that its owner lives. Who was stopped for so long
// that another took it for dead must notice it before it writes on.

import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import {
  attempt,
  isAlive,
  makeDirectory,
  runSync,
  sleep,
  timers,
  unlessGone,
  writeWhole,
} from 'spanline/internal/base';
import { THIS_OWNER } from '../directory.js';
import { bucketError } from './bucket-error.js';

/** The file. */
export const LOCK_FILE = 'spool.lock';

/** An owner that gave no sign of life for so long is gone. */
const SILENCE_MS = 60_000;
/** Between two signs of life. */
const BEAT_MS = 5000;
/** Between two looks at an owner of which nobody knows whether it lives, or at a spool that was lost. */
const LOOK_MS = 500;
/** How long after a sign of life the spool is this process's for sure: others wait longer, and think before they act. */
const SURE_MS = 20_000;

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

/** Gives a file another name; false where it is gone. */
export const moved = (from: string, to: string): boolean =>
  unlessGone(() => {
    renameSync(from, to);
    return true;
  }) ?? false;

const readText = (path: string): string | undefined => unlessGone(() => readFileSync(path, 'utf8'));

const parseOwner = (text: string): SpoolOwner | undefined =>
  attempt(() => {
    const { host, place, pid, instance } = JSON.parse(text) as SpoolOwner;
    const isOwner = [host, place, instance].every((one) => typeof one === 'string') && Number.isInteger(pid);
    return isOwner ? { host, place, pid, instance } : undefined;
  });

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

/** The file has another text, in one step. */
const replace = (path: string, text: string): void =>
  runSync(writeWhole(path, [Buffer.from(text)], { isDurable: false }));

/** Takes away the file of one that is gone, whose text is `text`. */
const takeAway = (path: string, text: string): void => {
  const stale = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  if (!moved(path, stale)) return;
  // Another was quicker, and this is its own. Where a third one has it by now the second finds out at its next beat.
  if (readText(stale) !== text) attempt(() => linkSync(stale, path));
  rmSync(stale, { force: true });
};

/** Silent: it gives no sign of life, but its process is there, stopped perhaps. */
type State = 'gone' | 'silent' | 'alive' | 'unknown';

const stateOf = (directory: string, { place, pid, instance }: SpoolOwner, silentMs: number): State => {
  const isThisProcess = place === US.place && pid === US.pid;
  if (isThisProcess && instance === US.instance) return ours.has(directory) ? 'alive' : 'gone';
  if (silentMs >= SILENCE_MS) return place === US.place && isAlive(pid) ? 'silent' : 'gone';
  // Another copy of this module, in another thread perhaps, or one whose number means nothing here.
  if (isThisProcess || place !== US.place) return 'unknown';
  return isAlive(pid) ? 'alive' : 'gone';
};

const inUse = (directory: string, { host, pid }: SpoolOwner): Error =>
  bucketError(
    'SPOOL',
    `the spool ${directory} is in use by process ${pid} of ${host}: give each process a spool of its own`,
  );

/** How a spool is taken. */
export interface TakeOptions {
  /**
   * Whether to wait, a minute at most, for a sign of life of an owner of this machine's name that cannot be asked, such as one in a container that was
   * there before. Default true.
   */
  readonly waits?: boolean;
  /** Whether one that gives no sign of life keeps the spool as long as its process is there. Default false. */
  readonly sparesSilent?: boolean;
}

/** The spool of this process as long as `release` is not called. */
export class SpoolLock {
  readonly #directory: string;
  readonly #text: string;
  readonly #path: string;
  readonly #beat: NodeJS.Timeout;
  /** The file of one that was silent, from whom it was taken. */
  readonly #silent: string | undefined;
  #isLost = false;
  /** When the file was seen to be ours. */
  #seenMs = timers.monotonicMs();
  #seenWallMs = timers.wallMs();
  #lookedMs = Number.NEGATIVE_INFINITY;
  /** Times that another took it meanwhile. */
  losses = 0;
  /** Called when it is this process's again. */
  onAgain = (): void => {};

  private constructor(directory: string, text: string, silent: string | undefined) {
    this.#directory = directory;
    this.#text = text;
    this.#silent = silent;
    this.#path = join(directory, LOCK_FILE);
    ours.add(directory);
    this.#beat = timers.setInterval(() => void this.#look(), BEAT_MS).unref();
  }

  /** Take the spool. Rejects with ERR_SPANLINE_BUCKET_SPOOL when it is another's. */
  static async take(directory: string, { waits = true, sparesSilent = false }: TakeOptions = {}): Promise<SpoolLock> {
    const path = join(directory, LOCK_FILE);
    const text = `${JSON.stringify(US)}\n`;
    let silent: string | undefined;
    let seen: number | undefined;
    let seenAtMs = 0;
    for (;;) {
      if (create(path, text)) return new SpoolLock(directory, text, silent);
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
      if (state === 'gone' || (state === 'silent' && !sparesSilent)) {
        silent = state === 'silent' ? found : undefined;
        takeAway(path, found);
      } else if (state !== 'unknown' || !waits || (seen !== undefined && seen !== sign)) throw inUse(directory, owner);
      else {
        if (seen === undefined) seenAtMs = timers.monotonicMs();
        seen = sign;
        await sleep(LOOK_MS);
      }
    }
  }

  /**
   * Whether it is this process's. The file is asked when this process may have been silent for as long as others wait; where nobody has the spool any
   * more it is taken again.
   */
  check(): boolean {
    const nowMs = timers.monotonicMs();
    if (this.#isLost) return nowMs - this.#lookedMs < LOOK_MS ? false : this.#look();
    // The one clock stands while a machine sleeps, the other may be put back.
    const silentMs = Math.max(nowMs - this.#seenMs, timers.wallMs() - this.#seenWallMs);
    return silentMs < SURE_MS || this.#look();
  }

  /** Who has it, in words. */
  get lostTo(): string {
    const { pid, host } = attempt(() => parseOwner(readText(this.#path) ?? '')) ?? {};
    const other = pid === undefined ? 'another process' : `process ${pid} of ${host}`;
    return `the spool ${this.#directory} was taken over by ${other} when this process gave no sign of life for ${SILENCE_MS / 1000} s: what was in it gets into the bucket from there, and nothing more is taken here until it is free`;
  }

  release(): void {
    if (this.#end()) rmSync(this.#path, { force: true });
  }

  /** Leave it to the one that was silent when it was taken; false when there was none, and nobody has it now. */
  giveBack(): boolean {
    if (this.#silent === undefined) {
      this.release();
      return false;
    }
    // Its owner sees that it was another's.
    if (this.#end()) replace(this.#path, ` ${this.#silent.trim()}\n`);
    return true;
  }

  /** No further signs of life; whether it was this process's until now. */
  #end(): boolean {
    timers.clearInterval(this.#beat);
    ours.delete(this.#directory);
    return readText(this.#path) === this.#text;
  }

  /** Look at the file, and give a sign of life where it is ours. */
  #look(): boolean {
    this.#lookedMs = timers.monotonicMs();
    try {
      const wasTaken = readText(this.#path) !== this.#text;
      if (wasTaken && !this.#isLost) this.losses++;
      this.#isLost = wasTaken;
      if (wasTaken) this.#isLost = !this.#takeAgain();
      if (!this.#isLost) this.#sign();
      if (wasTaken && !this.#isLost) this.onAgain();
    } catch {
      // The disk fails; the next look tries again.
    }
    return !this.#isLost;
  }

  /** Take it, where it was given back, or nobody has it any more. */
  #takeAgain(): boolean {
    const found = readText(this.#path);
    if (found?.trim() === this.#text.trim()) {
      replace(this.#path, this.#text);
      return true;
    }
    if (found !== undefined) {
      if (!this.#isGone(found)) return false;
      takeAway(this.#path, found);
    }
    makeDirectory(this.#directory);
    return create(this.#path, this.#text);
  }

  /** Whether the one that has taken it is gone for sure: after both were stopped its silence says nothing. */
  #isGone(found: string): boolean {
    const owner = parseOwner(found);
    return owner?.host === US.host && owner.place === US.place && stateOf(this.#directory, owner, 0) === 'gone';
  }

  #sign(): void {
    const nowMs = timers.wallMs();
    utimesSync(this.#path, nowMs / 1000, nowMs / 1000);
    this.#seenMs = timers.monotonicMs();
    this.#seenWallMs = nowMs;
  }
}
