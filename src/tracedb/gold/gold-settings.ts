// What a Gold table was made with. A tile size that differs from that of the data would put every digest under another commit, so
// the table itself says it, and a store that expects another must not open.
import { wholeNumber } from '../../base/options/checks.js';
import type { CallDeadline } from '../params/call-deadline.js';
import { type CleaningRule, cleaningRule, DEFAULT_RULE } from '../params/cleaning.js';
import { changeRowIfSame, setCell } from '../table/cells.js';
import type { WideColumnTable } from '../table/wide-column-table.js';
import { MAX_TILE_SIZE, MIN_TILE_SIZE } from '../tile.js';
import { invalidInput, storeCorrupt } from '../tracedb-error.js';
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

/** The inside of the character class of the store's rule; absent where it is the default. */
const ALLOWED_COLUMN = 'allowed';

/** What the table itself says. */
interface StoredSettings {
  readonly settings: GoldSettings;
  /** How params are cleaned where nobody says otherwise. */
  readonly rule: CleaningRule;
}

const read = async (table: WideColumnTable, deadline: CallDeadline): Promise<StoredSettings | undefined> => {
  const row = await table.readRow(SETTINGS_ROW, { ...deadline.next(), families: [INSTANCE_FAMILY] });
  if (row === undefined) return undefined;
  const texts = new Map(row.cells.map(({ qualifier, value }) => [qualifier, Buffer.from(value).toString()]));
  const numberOf = (name: string): number => {
    const text = texts.get(name) ?? '';
    if (/^\d{1,9}$/.test(text)) return Number(text);
    throw storeCorrupt(`row ${SETTINGS_ROW} of ${table.location} has no ${name}; restore it from a backup`);
  };
  const allowed = texts.get(ALLOWED_COLUMN);
  return {
    settings: { tileSize: numberOf('tileSize'), digestDigits: numberOf('digestDigits') },
    rule: allowed === undefined ? DEFAULT_RULE : cleaningRule(allowed),
  };
};

/** The settings of the table; a new table gets those `wanted`, with 256 and 32 for the ones left out, and `rule` as its own. */
export const openSettings = async (
  table: WideColumnTable,
  { rule = DEFAULT_RULE, ...wanted }: Partial<GoldSettings> & { readonly rule?: CleaningRule },
  deadline: CallDeadline,
): Promise<StoredSettings> => {
  for (const { name, min, max } of SETTINGS) {
    const value = wanted[name];
    if (value !== undefined) wholeNumber(name, value, [min, max], invalidInput);
  }
  let stored = await read(table, deadline);
  if (stored === undefined) {
    const made = {
      tileSize: wanted.tileSize ?? DEFAULTS.tileSize,
      digestDigits: wanted.digestDigits ?? DEFAULTS.digestDigits,
    };
    const mutations = SETTINGS.map(({ name }) => setCell(INSTANCE_FAMILY, name, String(made[name])));
    if (rule.allowed !== DEFAULT_RULE.allowed) mutations.push(setCell(INSTANCE_FAMILY, ALLOWED_COLUMN, rule.allowed));
    const absent = { family: INSTANCE_FAMILY, qualifier: 'tileSize', value: undefined };
    const isMine = await changeRowIfSame(table, SETTINGS_ROW, absent, mutations, deadline.next());
    stored = isMine ? { settings: made, rule } : ((await read(table, deadline)) as StoredSettings);
  }
  for (const { name } of SETTINGS) {
    if (wanted[name] === undefined || wanted[name] === stored.settings[name]) continue;
    throw invalidInput(
      `${table.location} was made with ${name} ${stored.settings[name]}, not ${wanted[name]}; leave ${name} out`,
    );
  }
  return stored;
};
