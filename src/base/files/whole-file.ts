// A file that appears whole or not at all: written beside its place under a temporary name, synced, renamed, and its name synced. Readers see
// the old file or the new one. What fails must leave the old file as it was, and nothing beside it; what takes its place must be open to nobody else.
import type { Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SpanlineError } from '../errors.js';
import { type FsStep, type FsSteps, syncDirectory } from './fs-steps.js';

export interface WholeFileOptions {
  /** Make the directory when it is missing. Default false. */
  readonly makesDirectory?: boolean;
  /**
   * Write straight to a pipe or a device, which nothing may take the place of: a pipe would get nothing, and `/dev/null` be gone. Default
   * false: it is refused.
   */
  readonly takesSpecial?: boolean;
  /** Sync before the rename. Default true; false for a file that is written anew every second. */
  readonly isDurable?: boolean;
  /** Mode of a new file; one that is replaced keeps its own. Default: that of the process. */
  readonly mode?: number;
}

/** Whether an error, or what caused it, is that there is no such file. */
export const isGone = (error: unknown): boolean => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return true;
  }
  return false;
};

/** What `work` gives; undefined where the file that it is about is gone. */
export const unlessGone = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch (error) {
    return undefinedIfGone(error);
  }
};

/** The same of a promise, in its `catch`: other errors are thrown on. */
export const undefinedIfGone = (error: unknown): undefined => {
  if (!isGone(error)) throw error;
};

interface Place {
  readonly path: string;
  /** Of the file that is there. */
  readonly stats?: Stats;
}

const lookUp = function* (path: string): FsSteps<Place | undefined> {
  let stats: Stats;
  try {
    stats = yield ['stat', path];
  } catch (error) {
    if (isGone(error)) return { path };
    throw error;
  }
  return stats.isFile() ? { path: yield ['realpath', path], stats } : undefined;
};

/** Where a file of this name lies: links are followed, so that `/dev/stdout` is never replaced. Undefined for anything but a regular file. */
export const placeOf = function* (path: string): FsSteps<string | undefined> {
  return (yield* lookUp(path))?.path;
};

/** Mode of a file that only its owner may read. */
export const PRIVATE_MODE = 0o600;

/** Whether the system allowed it: not every process may give a file away, and not every file system has owners and modes. */
const isAllowed = function* (step: FsStep): FsSteps<boolean> {
  try {
    yield step;
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return false;
  }
};

/**
 * Open a file that was made with {@link PRIVATE_MODE} to those who had the one that it takes the place of, and give it to its owner. What the
 * system refuses leaves it closed: a group that cannot be kept is one of the others. Node sees no access control list: it is lost, and its mask is
 * taken for the rights of the group.
 */
export const takeRights = function* (descriptor: number, { uid, gid, mode }: Stats): FsSteps<void> {
  const own: Stats = yield ['fstat', descriptor];
  const keepsGroup = own.gid === gid || (yield* isAllowed(['fchown', descriptor, -1, gid]));
  const rights = keepsGroup ? mode & 0o777 : (mode & 0o707) | ((mode & 0o007) << 3);
  if ((own.mode & 0o777) !== rights) yield* isAllowed(['fchmod', descriptor, rights]);
  if (own.uid !== uid) yield* isAllowed(['fchown', descriptor, uid, -1]);
};

/** Open with `flags`, and make the directory first when it is missing. */
export const openMakingDirectory = function* (path: string, flags: string, mode?: number): FsSteps<number> {
  try {
    return yield ['open', path, flags, mode];
  } catch (error) {
    if (!isGone(error)) throw error;
  }
  yield ['makeDirectory', dirname(path)];
  return yield ['open', path, flags, mode];
};

export const writeAll = function* (descriptor: number, bytes: Uint8Array): FsSteps<void> {
  for (let at = 0; at < bytes.length; ) at += yield ['write', descriptor, bytes, at, bytes.length - at];
};

const temporaryName = (place: string): string =>
  join(
    dirname(place),
    `.${basename(place)}.${process.pid}-${process.getBuiltinModule('node:crypto').randomBytes(4).toString('hex')}.tmp`,
  );

/** A file while it is written. */
export class WholeFile {
  #descriptor: number | undefined;
  readonly #place: Place | undefined;
  readonly #temporary: string;
  readonly #isDurable: boolean;

  private constructor(descriptor: number, place: Place | undefined, temporary: string, isDurable: boolean) {
    this.#descriptor = descriptor;
    this.#place = place;
    this.#temporary = temporary;
    this.#isDurable = isDurable;
  }

  static *open(path: string, options: WholeFileOptions = {}): FsSteps<WholeFile> {
    const { makesDirectory = false, takesSpecial = false, isDurable = true } = options;
    const place = yield* lookUp(path);
    if (place === undefined && !takesSpecial) throw new SpanlineError('ERR_SPANLINE_FILE', 'it is not a regular file');
    const temporary = place === undefined ? path : temporaryName(place.path);
    const flags = place === undefined ? 'w' : 'wx';
    const mode = place?.stats === undefined ? options.mode : PRIVATE_MODE;
    const descriptor: number = makesDirectory
      ? yield* openMakingDirectory(temporary, flags, mode)
      : yield ['open', temporary, flags, mode];
    return new WholeFile(descriptor, place, temporary, isDurable);
  }

  /** Neither finished nor given up. */
  get isOpen(): boolean {
    return this.#descriptor !== undefined;
  }

  /** Append. A failure gives the file up. */
  *write(bytes: Uint8Array): FsSteps<void> {
    try {
      yield* writeAll(this.#descriptor as number, bytes);
    } catch (error) {
      yield* this.abort();
      throw error;
    }
  }

  /** Everything is written: make it visible, for good. A failure gives the file up. */
  *finish(): FsSteps<void> {
    const place = this.#place;
    try {
      // Of what is there now: it may have been closed to others, or made, while this was written.
      const { stats = place?.stats } = place === undefined ? {} : ((yield* lookUp(place.path)) ?? {});
      if (stats !== undefined) yield* takeRights(this.#descriptor as number, stats);
      if (place !== undefined && this.#isDurable) yield ['fsync', this.#descriptor as number];
      yield* this.#close();
      if (place !== undefined) yield ['rename', this.#temporary, place.path];
    } catch (error) {
      yield* this.#giveUp();
      throw error;
    }
    if (place !== undefined && this.#isDurable) yield* syncDirectory(dirname(place.path));
  }

  /** Forget everything; harmless after `finish`. */
  *abort(): FsSteps<void> {
    if (this.isOpen) yield* this.#giveUp();
  }

  *#giveUp(): FsSteps<void> {
    try {
      yield* this.#close();
    } catch {
      // The bytes are not wanted any more.
    }
    if (this.#place === undefined) return;
    try {
      yield ['unlink', this.#temporary];
    } catch {
      // The failure that led here is the one to report; nobody reads a file of this name.
    }
  }

  *#close(): FsSteps<void> {
    const descriptor = this.#descriptor;
    // Whatever closing returns, the descriptor is gone afterwards.
    this.#descriptor = undefined;
    if (descriptor !== undefined) yield ['close', descriptor];
  }
}

/** Write a whole file of these parts. */
export const writeWhole = function* (
  path: string,
  parts: Iterable<Uint8Array>,
  options?: WholeFileOptions,
): FsSteps<void> {
  const file = yield* WholeFile.open(path, options);
  try {
    for (const part of parts) yield* file.write(part);
    yield* file.finish();
  } finally {
    yield* file.abort();
  }
};
