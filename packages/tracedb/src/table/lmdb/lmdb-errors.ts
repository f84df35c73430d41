// What LMDB and the file system say, as the errors of this wing. lmdb keeps the reason of a failed commit in a promise of its own, which must
// be handled even when nobody wants it; and a disk that fills up in the middle of a write shows as an input/output error, so the disk is asked.
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TraceDbError, type TraceDbErrorCode } from '../../tracedb-error.js';

const RULES: readonly (readonly [pattern: RegExp, code: TraceDbErrorCode, remedy: string])[] = [
  [
    /No space left|ENOSPC|MDB_MAP_FULL|mapsize|Disk quota|EDQUOT|File too large|EFBIG/i,
    'ERR_SPANLINE_STORE_FULL',
    'free space on its disk and try again; nothing of this call was written',
  ],
  [
    /Permission denied|EACCES|EPERM|Read-only file system|EROFS/i,
    'ERR_SPANLINE_STORE_UNAVAILABLE',
    'give this user the right to write to the directory',
  ],
  [/ENOTDIR|EEXIST|Not a directory/i, 'ERR_SPANLINE_INVALID_INPUT', 'name a directory, not a file'],
  [
    /MDB_INVALID|MDB_CORRUPTED|MDB_PAGE_NOTFOUND|MDB_VERSION_MISMATCH|not an LMDB file/i,
    'ERR_SPANLINE_STORE_CORRUPT',
    'it is not a store of this package or is damaged; restore a copy',
  ],
  [
    /MDB_PANIC/i,
    'ERR_SPANLINE_STORE_UNAVAILABLE',
    'its disk failed in the middle of a commit; close it and open it again',
  ],
  [/MDB_READERS_FULL/i, 'ERR_SPANLINE_STORE_UNAVAILABLE', 'too many processes read it; end some'],
];

/** The error of a store whose disk has no room. */
export const diskFull = (location: string, cause?: unknown): TraceDbError =>
  lmdbError(new Error('No space left on device', { cause }), location);

/** `cause` as a TraceDbError that names the store. */
export const lmdbError = (cause: unknown, location: string): TraceDbError => {
  if (cause instanceof TraceDbError) return cause;
  const text =
    cause instanceof Error ? `${cause.message} ${(cause as NodeJS.ErrnoException).code ?? ''}` : String(cause);
  const rule = RULES.find(([pattern]) => pattern.test(text));
  const [, code, remedy] = rule ?? [undefined, 'ERR_SPANLINE_STORE_UNAVAILABLE' as const, 'see the cause'];
  return new TraceDbError(code, `the store ${location} failed: ${text.trim()}; ${remedy}`, { cause });
};

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

let probes = 0;

/** Whether a file of so many bytes finds no room in `directory`; false when that cannot be told. */
export const isDiskFull = async (directory: string, bytes: number): Promise<boolean> => {
  const probe = join(directory, `probe-${process.pid}-${++probes}.tmp`);
  try {
    await writeFile(probe, Buffer.alloc(bytes));
    return false;
  } catch (error) {
    return FULL.has((error as NodeJS.ErrnoException).code ?? '');
  } finally {
    await rm(probe, { force: true }).catch(() => {});
  }
};

const MIN_PROBE_BYTES = 1024 * 1024;
const MAX_PROBE_BYTES = 64 * 1024 * 1024;

const commitError = async (cause: unknown): Promise<unknown> => {
  const { commitError: promise } = cause as { readonly commitError?: unknown };
  return promise instanceof Promise ? promise.catch((error: unknown) => error) : cause;
};

/** What a write of so many bytes failed with, as a TraceDbError that names the store. */
export const writeError = async (failure: unknown, directory: string, bytes: number): Promise<TraceDbError> => {
  if (failure instanceof TraceDbError) return failure;
  const cause = await commitError(failure);
  if (/Input\/output error|EIO/.test(String(cause))) {
    // Pages, and the calls that lmdb made one transaction of, take more than the bytes of one call.
    const probeBytes = Math.min(MAX_PROBE_BYTES, Math.max(MIN_PROBE_BYTES, 4 * bytes));
    if (await isDiskFull(directory, probeBytes)) return diskFull(directory, cause);
  }
  return lmdbError(cause, directory);
};
