// The form of a Perf store in its table, in one place: the keys of its rows, the cell with the settings it was made with, and the cells of a trace's
// values. Shapes here are the format: changing one makes existing stores unreadable. A missing value is an absent cell, NaN in memory, never a zero.
//
//   <shard>:<tilekey>:<id>            a trace's values        V:<offset> float32, S:<offset> md5 of the source
//   @<tilekey>                        a tile's param set      D:OPS, D:H
//   j<tilekey>:<key>:<value>:<id>     an index entry          I:E, empty
//   &<md5 hex>                        a source                H:S the full name
//   c<number>                         a commit by number      C:J json        (ten digits)
//   h<hash>                           a commit by hash        C:J the same
//   f<md5 hex>                        an ingested file        C:P entries written
//   r<number>                         judgements of a commit  C:<sha256 of the series' key> json
//   !perf                             what the store is       C:J json; C:N the next commit's number, C:L those added last, json
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { cleaningRule, DEFAULT_RULE } from '../params/param-text.js';
import { checkSettings, type SettingsRow } from '../params/store-settings.js';
import type { TileLayout } from '../query/run-query.js';
import { setCell } from '../table/cells.js';
import type { Cell, Mutation } from '../table/wide-column-table.js';
import { MAX_TILE_SIZE, MIN_TILE_SIZE, tileKey } from '../tile.js';
import { storeCorrupt } from '../tracedb-error.js';

/** Column families of a Perf store. */
export const FAMILIES = { value: 'V', source: 'S', params: 'D', index: 'I', name: 'H', commit: 'C' } as const;

/** Row of a tile's ordered param set. */
export const paramSetKey = (tile: number): string => `@${tileKey(tile)}`;
export const PARAM_SET_PREFIX = '@';

/** Row of what the store is. */
export const CONFIG_KEY = '!perf';
export const COMMIT_PREFIX = 'c';

const COMMIT_DIGITS = 10;

/** Row of a commit by its number. */
export const commitKey = (number: number): string => COMMIT_PREFIX + String(number).padStart(COMMIT_DIGITS, '0');

/** Row of a commit by its hash. */
export const commitHashKey = (hash: string): string => `h${hash}`;

/** Row of what people said of the changes at a commit. */
export const triageKey = (number: number): string => `r${String(number).padStart(COMMIT_DIGITS, '0')}`;

/** Row of an ingested file, by the digest of what it says. */
export const ingestKey = (digest: string): string => `f${digest}`;

/** Digest of a source's name: 16 bytes in cells, hex in its row. */
export const sourceDigest = (name: string): Buffer => createHash('md5').update(name).digest();

/** Row of a source. */
export const sourceKey = (digest: Uint8Array): string => `&${Buffer.from(digest).toString('hex')}`;

/** The shard of a trace. */
export const shardOf = (id: string, shards: number): number => crc32(id) % shards;

/** What the rows of a shard of a tile begin with. */
const tracePrefix = (tile: number, shard: number): string => `${shard}:${tileKey(tile)}:`;

/** Row of a trace in a tile. */
export const traceKey = (tile: number, id: string, shards: number): string =>
  tracePrefix(tile, shardOf(id, shards)) + id;

/** What all index rows of a tile begin with. */
export const indexPrefix = (tile: number): string => `j${tileKey(tile)}:`;

/** The index rows of a trace, one for each of its params. */
export const indexKeys = (tile: number, id: string): readonly string[] => {
  const prefix = indexPrefix(tile);
  const rest = `:${id}`;
  const keys: string[] = [];
  for (let at = 1; at < id.length; ) {
    const equals = id.indexOf('=', at);
    const end = id.indexOf(',', equals);
    // An id in a foreign row must not keep this going for ever.
    if (equals < 0 || end < 0) break;
    keys.push(`${prefix + id.slice(at, equals)}:${id.slice(equals + 1, end)}${rest}`);
    at = end + 1;
  }
  return keys;
};

/** Where a tile keeps its ids, for the query engine. */
export const tileLayout = (tile: number, shards: number): TileLayout => {
  const index = indexPrefix(tile);
  return {
    indexPrefix: (keyIndex, valueIndex) => `${index}${keyIndex}:${valueIndex}:`,
    tracePrefixes: Array.from({ length: shards }, (_, shard) => tracePrefix(tile, shard)),
  };
};

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

const VALUE_BYTES = 4;

/** The cells of one value; `qualifier` is the offset of its commit in the tile. */
export const valueMutations = (
  qualifier: string,
  value: number,
  digest: Uint8Array,
  timestampMs: number,
): Mutation[] => {
  const bytes = Buffer.allocUnsafe(VALUE_BYTES);
  bytes.writeFloatLE(value);
  return [
    setCell(FAMILIES.value, qualifier, bytes, timestampMs),
    setCell(FAMILIES.source, qualifier, digest, timestampMs),
  ];
};

/** The values of a row, NaN where it has none. */
export const valuesOf = (key: string, cells: readonly Cell[], tileSize: number): Float32Array => {
  const values = new Float32Array(tileSize).fill(Number.NaN);
  for (const { qualifier, value } of cells) {
    const offset = Number(qualifier);
    if (!(offset >= 0 && offset < tileSize) || value.length !== VALUE_BYTES) {
      throw storeCorrupt(`row ${key} has no value of a tile of ${tileSize} in column ${qualifier}`);
    }
    const bits =
      (value[0] as number) | ((value[1] as number) << 8) | ((value[2] as number) << 16) | ((value[3] as number) << 24);
    BITS[0] = bits;
    values[offset] = FLOATS[0] as number;
  }
  return values;
};

// Four bytes as a float without a DataView for every cell.
const BITS = new Int32Array(1);
const FLOATS = new Float32Array(BITS.buffer);
