// Why a write failed. lmdb keeps the reason of a failed commit in a promise of its own, which must be handled even when nobody wants
// it; and a disk that fills up in the middle of a write shows as an input/output error, so the disk is asked.
import { TraceDbError } from '../../tracedb-error.js';
import { isDiskFull } from './free-space.js';
import { diskFull, lmdbError } from './lmdb-errors.js';

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
