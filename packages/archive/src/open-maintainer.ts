// A process that maintains an archive in a bucket and nothing else: it has no spool, and answers no query. What asks object stores is loaded when it is
// needed, and not before. It must refuse a store that makes no conditional writes before it changes anything.
import type { PassOptions } from './bucket/bucket-maintenance.js';
import type { MaintainOptions, MaintainStats } from './bucket/bucket-options.js';
import type { ObjectStoreOptions, StoreStats } from './bucket/object-store.js';
import { WorkThread } from './work-thread.js';

/** Maintains one archive until it is closed. */
export interface OpenMaintainer {
  /** The address of the archive. */
  readonly place: string;
  /** Do all that is to be done now; rejects with the first failure, when the rest is done. */
  pass(options?: PassOptions): Promise<void>;
  stats(): MaintainStats;
  traffic(): StoreStats;
  close(): Promise<void>;
}

/** Maintain the archive at `s3://bucket/prefix`. Nothing is asked before the first pass. */
export const openMaintainer = async (
  location: string,
  options: MaintainOptions = {},
  s3?: ObjectStoreOptions,
): Promise<OpenMaintainer> => {
  const { openObjectStore } = await import('./bucket/object-store.js');
  const { BucketMaintainer } = await import('./bucket/bucket-maintenance.js');
  const store = openObjectStore(location, s3);
  const worker = new WorkThread(true);
  const maintainer = new BucketMaintainer(store, { ...options, worker });
  return {
    place: store.name,
    pass: (pass) => maintainer.pass(pass),
    stats: () => maintainer.stats(),
    traffic: () => store.stats(),
    close: async () => {
      await maintainer.stop();
      await worker.close();
      store.close();
    },
  };
};
