// A process that maintains an archive in a bucket and nothing else: it has no spool, and answers no query. It must refuse a store that makes no
// conditional writes before it changes anything.

import { WorkThread } from '../work-thread.js';
import { BucketMaintainer, type PassOptions } from './bucket-maintenance.js';
import type { MaintainOptions, MaintainStats } from './bucket-options.js';
import { type ObjectStoreOptions, openObjectStore, type StoreStats } from './object-store.js';

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

export const openMaintainerOf = (
  location: string,
  options: MaintainOptions,
  s3?: ObjectStoreOptions,
): OpenMaintainer => {
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
