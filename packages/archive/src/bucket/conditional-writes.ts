// Asks a store whether it makes conditional writes, on which all changes of a catalogue stand. A store that passes over a condition must be found out before
// anything is changed: two maintainers would lose what the other one did.
import { newId } from '../directory.js';
import { BucketError, bucketError } from './bucket-error.js';
import type { ObjectStore } from './object-store.js';

/** Objects below here are of such questions, and mean nothing. */
export const PROBE_PREFIX = 'probe/';

/** Statuses of stores that know no conditions. */
const NOT_IMPLEMENTED = /the store answered (?:400|405|501)/;

const fault = async (store: ObjectStore, key: string, signal?: AbortSignal): Promise<string | undefined> => {
  try {
    const first = await store.put(key, Buffer.from('1'), { ifAbsent: true, signal });
    if (first === undefined) return 'it says that a new object was there before';
    if (first.etag === '') return 'it gives no versions';
    if ((await store.put(key, Buffer.from('2'), { ifAbsent: true, signal })) !== undefined)
      return 'it replaces an object that must not be there (If-None-Match)';
    if (
      (await store.put(key, Buffer.from('3'), { ifMatch: '"0123456789abcdef0123456789abcdef"', signal })) !== undefined
    )
      return 'it replaces another version than the one that is meant (If-Match)';
    const second = await store.put(key, Buffer.from('4'), { ifMatch: first.etag, signal });
    return second === undefined ? 'it does not replace the version that is meant (If-Match)' : undefined;
  } catch (error) {
    if (error instanceof BucketError && NOT_IMPLEMENTED.test(error.message)) return error.message;
    throw error;
  }
};

/** Throws unless the store makes conditional writes. */
export const needConditionalWrites = async (store: ObjectStore, signal?: AbortSignal): Promise<void> => {
  const key = `${PROBE_PREFIX}${newId()}`;
  const found = await fault(store, key, signal);
  await store.delete([key], { signal });
  if (found === undefined) return;
  throw bucketError(
    'NOT_CONDITIONAL',
    `the store of ${store.name} makes no conditional writes: ${found}. An archive there can be read, but not be maintained, and not be written where conditions are refused: use one that does, such as S3, MinIO, Ceph or R2 in a version of today`,
  );
};
