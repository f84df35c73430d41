// What a Perf store was made with. Tile size and shards are part of every key, so the store itself says them, and one that is
// opened with others must not open.
import { wholeNumber } from '../../base/options/checks.js';
import { CallDeadline } from '../params/call-deadline.js';
import { type CleaningRule, cleaningRule, DEFAULT_RULE } from '../params/cleaning.js';
import { changeRowIfSame, setCell } from '../table/cells.js';
import type { CallOptions, WideColumnTable } from '../table/wide-column-table.js';
import { checkTileSize } from '../tile.js';
import { invalidInput, storeCorrupt } from '../tracedb-error.js';
import { CONFIG_KEY, FAMILIES } from './keys.js';

/** What cannot change once a store has data. */
export interface PerfConfig {
  /** Commits of a tile, 1 to 8192. */
  readonly tileSize: number;
  /** Shards of a tile's traces, 1 to 64. */
  readonly shards: number;
}

export const DEFAULT_PERF_CONFIG: PerfConfig = { tileSize: 256, shards: 8 };

const FORMAT_VERSION = 1;
// A walk over all traces of a tile opens a stream for each, and a query at most so many.
const MAX_SHARDS = 64;
const COLUMN = 'J';

const check = ({ tileSize, shards }: PerfConfig): void => {
  checkTileSize(tileSize);
  wholeNumber('shards', shards, [1, MAX_SHARDS], invalidInput);
};

/** What the store's own row says. */
interface StoredConfig {
  readonly config: PerfConfig;
  /** How params are cleaned where nobody says otherwise. */
  readonly rule: CleaningRule;
}

const parse = (bytes: Uint8Array, location: string): StoredConfig => {
  try {
    const { version, tileSize, shards, allowed } = JSON.parse(Buffer.from(bytes).toString()) as PerfConfig & {
      readonly version: number;
      readonly allowed?: string;
    };
    if (version === FORMAT_VERSION) {
      check({ tileSize, shards });
      return { config: { tileSize, shards }, rule: allowed === undefined ? DEFAULT_RULE : cleaningRule(allowed) };
    }
  } catch {
    // Falls through to the error that names the row.
  }
  throw storeCorrupt(
    `row ${CONFIG_KEY} of ${location} is not that of a Perf store of format ${FORMAT_VERSION}; open it with the version that made it`,
  );
};

/** The config of the store in `table`; a new one gets what is `wanted`, else the defaults. An existing one keeps its rule. */
export const openPerfConfig = async (
  table: WideColumnTable,
  { rule, ...wanted }: Partial<PerfConfig> & { readonly rule?: CleaningRule },
  options?: CallOptions,
): Promise<StoredConfig> => {
  const deadline = new CallDeadline(`opening the Perf store ${table.location}`, options);
  const read = async (): Promise<StoredConfig | undefined> => {
    const filter = { families: [FAMILIES.commit], qualifiers: [COLUMN] };
    const row = await table.readRow(CONFIG_KEY, { ...deadline.next(), ...filter });
    return row?.cells[0] === undefined ? undefined : parse(row.cells[0].value, table.location);
  };
  let stored = await read();
  if (stored === undefined) {
    const made = {
      tileSize: wanted.tileSize ?? DEFAULT_PERF_CONFIG.tileSize,
      shards: wanted.shards ?? DEFAULT_PERF_CONFIG.shards,
    };
    check(made);
    const absent = { family: FAMILIES.commit, qualifier: COLUMN, value: undefined };
    const ownRule = rule === undefined || rule.allowed === DEFAULT_RULE.allowed ? {} : { allowed: rule.allowed };
    const text = JSON.stringify({ version: FORMAT_VERSION, ...made, ...ownRule });
    const mutations = [setCell(FAMILIES.commit, COLUMN, text)];
    // Two processes may open a new store at once: the second takes what the first has written.
    const isMine = await changeRowIfSame(table, CONFIG_KEY, absent, mutations, deadline.next());
    stored = isMine ? { config: made, rule: rule ?? DEFAULT_RULE } : ((await read()) as StoredConfig);
  }
  const { config } = stored;
  for (const name of ['tileSize', 'shards'] as const) {
    if (wanted[name] === undefined || wanted[name] === config[name]) continue;
    throw invalidInput(
      `${table.location} was made with ${name} ${config[name]}, not ${wanted[name]}; leave ${name} out`,
    );
  }
  return stored;
};
