// What a Perf store was made with, and the cell that says it.
import { cleaningRule, DEFAULT_RULE } from '../params/cleaning.js';
import { checkSettings, type SettingsRow } from '../params/store-settings.js';
import { setCell } from '../table/cells.js';
import { MAX_TILE_SIZE, MIN_TILE_SIZE } from '../tile.js';
import { storeCorrupt } from '../tracedb-error.js';
import { CONFIG_KEY, FAMILIES } from './keys.js';

/** What cannot change once a store has data. */
export interface PerfConfig {
  /** Commits of a tile, 1 to 8192. */
  readonly tileSize: number;
  /** Shards of a tile's traces, 1 to 64. */
  readonly shards: number;
}

const FORMAT_VERSION = 1;
const COLUMN = 'J';

/** The row of the config. */
export const PERF_CONFIG: SettingsRow<PerfConfig> = {
  key: CONFIG_KEY,
  family: FAMILIES.commit,
  column: COLUMN,
  filter: { qualifiers: [COLUMN] },
  // A walk over all traces of a tile opens a stream for each shard, and a query at most so many.
  bounds: { tileSize: [MIN_TILE_SIZE, MAX_TILE_SIZE], shards: [1, 64] },
  defaults: { tileSize: 256, shards: 8 },
  parse({ cells: [cell] }, location) {
    try {
      const { version, tileSize, shards, allowed } = JSON.parse(Buffer.from(cell?.value ?? []).toString());
      if (version === FORMAT_VERSION && tileSize !== undefined && shards !== undefined) {
        const settings = { tileSize, shards };
        checkSettings(PERF_CONFIG, settings);
        return { settings, rule: allowed === undefined ? DEFAULT_RULE : cleaningRule(allowed) };
      }
    } catch {
      // Falls through to the error that names the row.
    }
    throw storeCorrupt(
      `row ${CONFIG_KEY} of ${location} is not that of a Perf store of format ${FORMAT_VERSION}; open it with the version that made it`,
    );
  },
  cells({ settings, rule: { allowed } }) {
    const own = allowed === DEFAULT_RULE.allowed ? {} : { allowed };
    return [setCell(FAMILIES.commit, COLUMN, JSON.stringify({ version: FORMAT_VERSION, ...settings, ...own }))];
  },
};
