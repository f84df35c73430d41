// Appends whole lines to a file and begins a new file when the old one is full. What could not be written as a whole is
// taken back: a reader never meets half a line. The file is opened anew for each line, so that it may be moved away.
//
// Turns an error of the file system into one that names the path and says what to do.
//
// What the file reporter needs of a format.

import type { Stats } from 'node:fs';
import type { FsSteps } from '../../base/files/fs-steps.js';
import { isGone, openMakingDirectory, PRIVATE_MODE, takeRights, writeAll } from '../../base/files/whole-file.js';
import { type ReportBatch, ReportError } from '../../collector/reporter.js';

const REMEDIES: Readonly<Record<string, string>> = {
  ENOSPC: 'free space on the disk, or set maxBytes',
  EDQUOT: 'free space within the quota, or set maxBytes',
  EACCES: 'give this process the right to write there, or choose another path',
  EPERM: 'give this process the right to write there, or choose another path',
  EROFS: 'choose a path on a file system that can be written',
  EISDIR: 'path must name a file, not a directory',
  ENOTDIR: 'a part of the path is not a directory',
  EMFILE: 'the process has too many files open',
  ENFILE: 'the system has too many files open',
};

/** No waiting makes these go away. */
const FINAL = new Set(['EISDIR', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG']);

export const toFileError = (path: string, error: unknown): unknown => {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof ReportError || code === undefined) return error;
  const remedy = REMEDIES[code] === undefined ? '.' : `; ${REMEDIES[code]}.`;
  const said = `${path} could not be written: ${message}${remedy}`;
  return new ReportError('ERR_SPANLINE_FILE', said, { retryable: !FINAL.has(code), cause: error });
};

/** One way of keeping traces in a file. A batch that failed comes again as the same object. */
export interface FileFormat {
  report(batch: ReportBatch, signal: AbortSignal): Promise<void>;
  reportSync(batch: ReportBatch): void;
  stats(): Readonly<Record<string, number>>;
}

/** When to begin a new file. */
export interface Rotation {
  /** Bytes of one file; a longer line gets a file of its own. */
  readonly maxBytes: number;
  /** Full files kept beside the current one, as `path.1` (the newest) to `path.N`. */
  readonly keepFiles: number;
}

const NEW_LINE = 0x0a;

/** `path.1` becomes `path.2` and so on; gives how many full files were lost for it. */
const rotate = function* (path: string, keepFiles: number): FsSteps<number> {
  let lost = 0;
  for (let i = keepFiles; i >= 0; i--) {
    const from = i === 0 ? path : `${path}.${i}`;
    try {
      if (i < keepFiles) yield ['rename', from, `${path}.${i + 1}`];
      else {
        yield ['unlink', from];
        lost++;
      }
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
  return lost;
};

/** A crash of the machine may have left half a line. It is ended, so that the next one is whole. */
const endsInMidLine = function* (fd: number, size: number): FsSteps<boolean> {
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  yield ['read', fd, last, 0, 1, size - 1];
  return last[0] !== NEW_LINE;
};

const appendTo = function* (fd: number, size: number, line: Buffer): FsSteps<void> {
  try {
    if (yield* endsInMidLine(fd, size)) yield* writeAll(fd, Buffer.of(NEW_LINE));
    yield* writeAll(fd, line);
  } catch (error) {
    try {
      yield ['ftruncate', fd, size];
    } catch {
      // The first error is the one to report; the next line begins on a line of its own.
    }
    throw error;
  }
};

/** `line` ends with a line break. Gives how many full files were removed to make room. */
export const appendLine = function* (path: string, line: Buffer, rotation: Rotation): FsSteps<number> {
  let lost = 0;
  let fd = yield* openMakingDirectory(path, 'a+');
  try {
    let stats: Stats = yield ['fstat', fd];
    if (!stats.isFile()) {
      const said = `${path} is not a regular file; choose another path.`;
      throw new ReportError('ERR_SPANLINE_FILE', said, { retryable: false });
    }
    if (stats.size > 0 && stats.size + line.length > rotation.maxBytes) {
      lost = yield* rotate(path, rotation.keepFiles);
      const fresh = yield* openMakingDirectory(path, 'a+', PRIVATE_MODE);
      yield ['close', fd];
      fd = fresh;
      yield* takeRights(fd, stats);
      stats = yield ['fstat', fd];
    }
    yield* appendTo(fd, stats.size, line);
  } finally {
    yield ['close', fd];
  }
  return lost;
};
