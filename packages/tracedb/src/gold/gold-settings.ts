// What a Gold store was made with, and the cells that say it.
import { cleaningRule, DEFAULT_RULE } from '../params/cleaning.js';
import type { SettingsRow } from '../params/store-settings.js';
import { setCell, textOf } from '../table/cells.js';
import { MAX_TILE_SIZE, MIN_TILE_SIZE } from '../tile.js';
import { storeCorrupt } from '../tracedb-error.js';
import { DEFAULT_DIGEST_DIGITS } from './digest.js';
import { INSTANCE_FAMILY, SETTINGS_ROW } from './gold-keys.js';

/** What cannot change once a table has data. */
export interface GoldSettings {
  /** Commits of a tile, 1 to 8192. */
  readonly tileSize: number;
  /** Hex digits of a digest, 8 to 128. */
  readonly digestDigits: number;
}

/** The inside of the character class of the store's rule; absent where it is the default. */
const ALLOWED_COLUMN = 'allowed';

/** The row of the settings. */
export const GOLD_SETTINGS: SettingsRow<GoldSettings> = {
  key: SETTINGS_ROW,
  family: INSTANCE_FAMILY,
  column: 'tileSize',
  // With fewer digits the ones that name a row would be all of a digest; no hash in use has more.
  bounds: { tileSize: [MIN_TILE_SIZE, MAX_TILE_SIZE], digestDigits: [8, 128] },
  defaults: { tileSize: 256, digestDigits: DEFAULT_DIGEST_DIGITS },
  parse({ cells }, location) {
    const numberOf = (name: string): number => {
      const text = textOf(cells, name) ?? '';
      if (/^\d{1,9}$/.test(text)) return Number(text);
      throw storeCorrupt(`row ${SETTINGS_ROW} of ${location} has no ${name}; restore it from a backup`);
    };
    const allowed = textOf(cells, ALLOWED_COLUMN);
    return {
      settings: { tileSize: numberOf('tileSize'), digestDigits: numberOf('digestDigits') },
      rule: allowed === undefined ? DEFAULT_RULE : cleaningRule(allowed),
    };
  },
  cells({ settings, rule: { allowed } }) {
    const cells = Object.entries(settings).map(([name, value]) => setCell(INSTANCE_FAMILY, name, String(value)));
    return allowed === DEFAULT_RULE.allowed ? cells : [...cells, setCell(INSTANCE_FAMILY, ALLOWED_COLUMN, allowed)];
  },
};
