// What a Gold table was made with. A tile size that differs from that of the data would put every digest under another commit, so
// the table itself says it, and a store that expects another must not open.
import type { CallDeadline } from '../params/call-deadline.js';
import { invalid } from '../params/param-text.js';
import type { Mutation, WideColumnTable } from '../table/wide-column-table.js';
import { MAX_TILE_SIZE, MIN_TILE_SIZE } from '../tile.js';
import { TraceDbError } from '../tracedb-error.js';
import { DEFAULT_DIGEST_DIGITS, MAX_DIGEST_DIGITS, MIN_DIGEST_DIGITS } from './digest.js';
import { INSTANCE_FAMILY, SETTINGS_ROW } from './gold-keys.js';

/** What cannot change once a table has data. */
export interface GoldSettings {
  /** Commits of a tile, 1 to 8192. */
  readonly tileSize: number;
  /** Hex digits of a digest, 8 to 128. */
  readonly digestDigits: number;
}

const SETTINGS: readonly { readonly name: keyof GoldSettings; readonly min: number; readonly max: number }[] = [
  { name: 'tileSize', min: MIN_TILE_SIZE, max: MAX_TILE_SIZE },
  { name: 'digestDigits', min: MIN_DIGEST_DIGITS, max: MAX_DIGEST_DIGITS },
];
const DEFAULTS: GoldSettings = { tileSize: 256, digestDigits: DEFAULT_DIGEST_DIGITS };

const read = async (table: WideColumnTable, deadline: CallDeadline): Promise<GoldSettings | undefined> => {
  const row = await table.readRow(SETTINGS_ROW, { ...deadline.next(), families: [INSTANCE_FAMILY] });
  if (row === undefined) return undefined;
  const texts = new Map(row.cells.map(({ qualifier, value }) => [qualifier, Buffer.from(value).toString('latin1')]));
  const numberOf = (name: string): number => {
    const text = texts.get(name) ?? '';
    if (/^\d{1,9}$/.test(text)) return Number(text);
    throw new TraceDbError(
      'ERR_SPANLINE_STORE_CORRUPT',
      `row ${SETTINGS_ROW} of ${table.location} has no ${name}; restore it from a backup`,
    );
  };
  return { tileSize: numberOf('tileSize'), digestDigits: numberOf('digestDigits') };
};

/** The settings of the table; a new table gets those `wanted`, with 256 and 32 for the ones left out. */
export const openSettings = async (
  table: WideColumnTable,
  wanted: Partial<GoldSettings>,
  deadline: CallDeadline,
): Promise<GoldSettings> => {
  for (const { name, min, max } of SETTINGS) {
    const value = wanted[name];
    if (value === undefined || (Number.isInteger(value) && value >= min && value <= max)) continue;
    throw invalid(`${name} must be a whole number from ${min} to ${max}, not ${String(value)}`);
  }
  let settings = await read(table, deadline);
  if (settings === undefined) {
    const made = {
      tileSize: wanted.tileSize ?? DEFAULTS.tileSize,
      digestDigits: wanted.digestDigits ?? DEFAULTS.digestDigits,
    };
    const mutations = SETTINGS.map(
      ({ name }): Mutation => ({
        type: 'set',
        family: INSTANCE_FAMILY,
        qualifier: name,
        value: Buffer.from(String(made[name]), 'latin1'),
        timestampMs: Date.now(),
      }),
    );
    const predicate = { family: INSTANCE_FAMILY, qualifier: 'tileSize' };
    const isTaken = await table.checkAndMutateRow(SETTINGS_ROW, predicate, { otherwise: mutations }, deadline.next());
    settings = isTaken ? await read(table, deadline) : made;
  }
  for (const { name } of SETTINGS) {
    if (wanted[name] === undefined || wanted[name] === settings?.[name]) continue;
    throw invalid(
      `${table.location} was made with ${name} ${settings?.[name]}, not ${wanted[name]}; leave ${name} out`,
    );
  }
  return settings as GoldSettings;
};
