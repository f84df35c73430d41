// What the page shows: an archive of traces, stores of benchmarks and digests, profiles, snapshots. Each may be missing; its view then says how to get it.
// Nothing here opens or closes them: who starts the server does.

import type { Archive } from '@spanline/archive';
import type { GoldStore, PerfStore } from '@spanline/tracedb';
import type { SnapshotStore } from './snapshots/snapshot-store.js';

/** What a server of the page reads. */
export interface UiSources {
  readonly archive?: Archive;
  readonly perf?: PerfStore;
  /** A history file of `spanline bench run`, or a directory of them. */
  readonly history?: string;
  readonly gold?: GoldStore;
  /** Directory of profiles: `.pb.gz` as `spanline profile` writes them. */
  readonly profiles?: string;
  /** Snapshots, and where the page may have them taken. */
  readonly snapshots?: SnapshotStore;
}
