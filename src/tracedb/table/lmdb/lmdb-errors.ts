// What LMDB and the file system say, as the errors of this wing.
import { TraceDbError, type TraceDbErrorCode } from '../../tracedb-error.js';

interface Rule {
  readonly pattern: RegExp;
  readonly code: TraceDbErrorCode;
  readonly remedy: string;
}

const RULES: readonly Rule[] = [
  {
    pattern: /No space left|ENOSPC|MDB_MAP_FULL|mapsize|Disk quota|EDQUOT|File too large|EFBIG/i,
    code: 'ERR_SPANLINE_STORE_FULL',
    remedy: 'free space on its disk and try again; nothing of this call was written',
  },
  {
    pattern: /Permission denied|EACCES|EPERM|Read-only file system|EROFS/i,
    code: 'ERR_SPANLINE_STORE_UNAVAILABLE',
    remedy: 'give this user the right to write to the directory',
  },
  {
    pattern: /ENOTDIR|EEXIST|Not a directory/i,
    code: 'ERR_SPANLINE_INVALID_INPUT',
    remedy: 'name a directory, not a file',
  },
  {
    pattern: /MDB_INVALID|MDB_CORRUPTED|MDB_PAGE_NOTFOUND|MDB_VERSION_MISMATCH|not an LMDB file/i,
    code: 'ERR_SPANLINE_STORE_CORRUPT',
    remedy: 'it is not a store of this package or is damaged; restore a copy',
  },
  {
    pattern: /MDB_PANIC/i,
    code: 'ERR_SPANLINE_STORE_UNAVAILABLE',
    remedy: 'its disk failed in the middle of a commit; close it and open it again',
  },
  {
    pattern: /MDB_READERS_FULL/i,
    code: 'ERR_SPANLINE_STORE_UNAVAILABLE',
    remedy: 'too many processes read it; end some',
  },
];

/** The error of a store whose disk has no room. */
export const diskFull = (location: string, cause?: unknown): TraceDbError =>
  lmdbError(new Error('No space left on device', { cause }), location);

/** `cause` as a TraceDbError that names the store. */
export const lmdbError = (cause: unknown, location: string): TraceDbError => {
  if (cause instanceof TraceDbError) return cause;
  const text =
    cause instanceof Error ? `${cause.message} ${(cause as NodeJS.ErrnoException).code ?? ''}` : String(cause);
  const rule = RULES.find(({ pattern }) => pattern.test(text));
  return new TraceDbError(
    rule?.code ?? 'ERR_SPANLINE_STORE_UNAVAILABLE',
    `the store ${location} failed: ${text.trim()}; ${rule?.remedy ?? 'see the cause'}`,
    { cause },
  );
};
