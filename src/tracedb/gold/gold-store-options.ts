// What the calls of a Gold store take along, and what it counts. Types only.
import type { CleaningRule } from '../params/cleaning.js';
import type { OpsRowsStats } from '../params/ops-rows.js';
import type { CallOptions } from '../table/wide-column-table.js';
import type { DigestIdsStats } from './digest-ids.js';
import type { GoldSettings } from './gold-settings.js';
import type { Time } from './values.js';

/** How a Gold store is opened. */
export interface GoldStoreOptions extends Partial<GoldSettings>, CallOptions {
  /** Which characters params may have. Default: what the store was made with, and for a new one `[A-Za-z0-9._-]`. */
  readonly rule?: CleaningRule;
  /** Digest ids reserved at once, 1 to 1,000,000. Default 100. */
  readonly idBatch?: number;
  /** Digests kept in memory, 2 to 100,000,000. Default 200,000; one takes about 150 bytes. */
  readonly cachedDigests?: number;
  /** Shards read at once, 1 to 32. Default 8. */
  readonly shardReads?: number;
}

/** How entries are put. */
export interface PutOptions extends CallOptions {
  /** Time by which the options of traces count, so that those of the latest commit stay. Default: the time of the call. */
  readonly optionsTime?: Time;
}

/** How a tile is read. */
export interface TileOptions extends CallOptions {
  /** Number of the last commit. Default: the newest one at which a trace has a digest. */
  readonly last?: number;
}

/** What a Gold store did in this process. */
export interface GoldStats {
  readonly puts: number;
  readonly entries: number;
  readonly tracesWritten: number;
  readonly tilesRead: number;
  readonly digests: DigestIdsStats;
  readonly ops: OpsRowsStats;
}
