// What a Perf store was made with. Tile size and shards are part of every key, so the store itself says them, and one that is
// opened with others must not open.
import { CallDeadline } from '../params/call-deadline.js';
import type { CallOptions, WideColumnTable } from '../table/wide-column-table.js';
import { checkTileSize } from '../tile.js';
import { TraceDbError } from '../tracedb-error.js';
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

const invalid = (message: string): TraceDbError => new TraceDbError('ERR_SPANLINE_INVALID_INPUT', message);

const check = ({ tileSize, shards }: PerfConfig): void => {
  checkTileSize(tileSize);
  if (!Number.isInteger(shards) || shards < 1 || shards > MAX_SHARDS) {
    throw invalid(`a tile has 1 to ${MAX_SHARDS} shards, not ${shards}`);
  }
};

const parse = (bytes: Uint8Array, location: string): PerfConfig => {
  try {
    const { version, tileSize, shards } = JSON.parse(Buffer.from(bytes).toString()) as PerfConfig & { version: number };
    if (version === FORMAT_VERSION) {
      check({ tileSize, shards });
      return { tileSize, shards };
    }
  } catch {
    // Falls through to the error that names the row.
  }
  throw new TraceDbError(
    'ERR_SPANLINE_STORE_CORRUPT',
    `row ${CONFIG_KEY} of ${location} is not that of a Perf store of format ${FORMAT_VERSION}; open it with the version that made it`,
  );
};

/** The config of the store in `table`; a new one gets what is `wanted`, else the defaults. */
export const openPerfConfig = async (
  table: WideColumnTable,
  wanted: Partial<PerfConfig>,
  options?: CallOptions,
): Promise<PerfConfig> => {
  const deadline = new CallDeadline(`opening the Perf store ${table.location}`, options);
  const read = async (): Promise<PerfConfig | undefined> => {
    const filter = { families: [FAMILIES.commit], qualifiers: [COLUMN] };
    const row = await table.readRow(CONFIG_KEY, { ...deadline.next(), ...filter });
    return row?.cells[0] === undefined ? undefined : parse(row.cells[0].value, table.location);
  };
  let config = await read();
  if (config === undefined) {
    const made = {
      tileSize: wanted.tileSize ?? DEFAULT_PERF_CONFIG.tileSize,
      shards: wanted.shards ?? DEFAULT_PERF_CONFIG.shards,
    };
    check(made);
    const cell = { family: FAMILIES.commit, qualifier: COLUMN };
    const value = Buffer.from(JSON.stringify({ version: FORMAT_VERSION, ...made }));
    const otherwise = [{ type: 'set' as const, ...cell, value, timestampMs: Date.now() }];
    // Two processes may open a new store at once: the second takes what the first has written.
    const isTaken = await table.checkAndMutateRow(CONFIG_KEY, cell, { otherwise }, deadline.next());
    config = isTaken ? ((await read()) as PerfConfig) : made;
  }
  for (const name of ['tileSize', 'shards'] as const) {
    if (wanted[name] === undefined || wanted[name] === config[name]) continue;
    throw invalid(`${table.location} was made with ${name} ${config[name]}, not ${wanted[name]}; leave ${name} out`);
  }
  return config;
};
