// Where each thing of a Gold store is in the table. A row key must never change its form: tables outlive the programs that
// write them.
//
// A key is `<shard>:ts:<type>:<tile key>:<subkey>`. The shard is two digits, the CRC-32 of the subkey modulo 32, so that work
// spreads over the table; rows of which there is one a tile or one a table have none. The tile field is 0000000000 for
// what belongs to no tile.
//
//   type  what                                sharded  tile  subkey            columns
//   o     ordered param set of a tile         no       yes   -                 O:OPS the set, O:H its hash
//   t     trace, its digests in one tile      yes      yes   encoded params    T:<offset, %03d> digest id, varint
//   p     options of a trace                  yes      yes   encoded params    P:B as JSON
//   d     digest -> id                        yes      no    first 3 digits    D:<other digits> id, decimal
//   r     id -> digest, 256 ids a row         yes      no    id / 256          D:<id % 256, %03d> the digest
//   i     counter of digest ids               no       no    -                 I:idc, int64
//   c     what the table was made with        no       no    -                 I:tileSize, I:digestDigits, decimal
//   e     expectations of a test              yes      no    name of the test  E:<digest> now, H:<digest> its past, JSON
//   g     ignore rule                         no       no    id of the rule    G:R, JSON; G:V its revision, decimal
//   x     what a digest is, as text           yes      no    the digest        P:X, UTF-8
//   m     what is known of a commit           no       no    its number, %010d P:C, JSON
import { crc32 } from 'node:zlib';
import type { TableSchema } from '../table/wide-column-table.js';
import { tileKey, tileOfKey } from '../tile.js';

export const OPS_FAMILY = 'O';
export const OPS_COLUMN = 'OPS';
export const HASH_COLUMN = 'H';
export const TRACE_FAMILY = 'T';
export const OPTIONS_FAMILY = 'P';
export const OPTIONS_COLUMN = 'B';
/** In the family of options: stores of before have no other for it. */
export const TEXT_COLUMN = 'X';
export const COMMIT_COLUMN = 'C';
export const DIGEST_FAMILY = 'D';
export const INSTANCE_FAMILY = 'I';
export const COUNTER_COLUMN = 'idc';
export const EXPECTATION_FAMILY = 'E';
export const HISTORY_FAMILY = 'H';
export const IGNORE_FAMILY = 'G';
export const IGNORE_COLUMN = 'R';
export const IGNORE_REVISION_COLUMN = 'V';

/**
 * The column families of a Gold store; open its table with them.
 *
 * @example
 * ```ts
 * import { GOLD_SCHEMA, openTable } from '@spanline/tracedb';
 *
 * const table = await openTable('./gold-empty', GOLD_SCHEMA);
 * console.assert(table.engine === 'lmdb');
 * await table.close();
 * ```
 */
export const GOLD_SCHEMA: TableSchema = Object.freeze({
  families: Object.freeze([
    OPS_FAMILY,
    TRACE_FAMILY,
    OPTIONS_FAMILY,
    DIGEST_FAMILY,
    INSTANCE_FAMILY,
    EXPECTATION_FAMILY,
    HISTORY_FAMILY,
    IGNORE_FAMILY,
  ]),
});

const SHARDS = 32;
const NO_TILE = '0000000000';
const IDS_PER_ROW = 256;
/** Digits of a digest that name its row; the others name its column. */
export const PREFIX_DIGITS = 3;

type GoldType = 'o' | 't' | 'p' | 'd' | 'r' | 'i' | 'c' | 'e' | 'g' | 'x' | 'm';

/** All shards, as they start a key. */
export const GOLD_SHARDS: readonly string[] = Array.from({ length: SHARDS }, (_, shard) =>
  String(shard).padStart(2, '0'),
);

const shardOf = (subkey: string): string => GOLD_SHARDS[crc32(subkey) % SHARDS];

const rowKey = (shard: string, type: GoldType, tile: string, subkey: string): string =>
  `${shard}:ts:${type}:${tile}:${subkey}`;

const sharded = (type: GoldType, tile: string, subkey: string): string => rowKey(shardOf(subkey), type, tile, subkey);

export const opsRowKey = (tile: number): string => rowKey('', 'o', tileKey(tile), '');
/** The rows of all param sets, newest tile first. */
export const OPS_ROWS_PREFIX = ':ts:o:';
/** Behind the last of them. */
export const OPS_ROWS_END = ':ts:o;';

/** The tile whose param set is in row `key`. */
export const tileOfOpsRow = (key: string): number => tileOfKey(key.slice(OPS_ROWS_PREFIX.length, -1));

export const traceRowKey = (tile: number, encoded: string): string => sharded('t', tileKey(tile), encoded);
export const optionsRowKey = (tile: number, encoded: string): string => sharded('p', tileKey(tile), encoded);

/** The start of the keys of a tile's traces or options in one shard; what follows is the encoded params. */
export const tilePrefix = (shard: string, type: 't' | 'p', tile: number): string =>
  rowKey(shard, type, tileKey(tile), '');

/** The column of a commit in a trace row. */
export const offsetColumn = (offset: number): string => String(offset).padStart(3, '0');

/** Where the id of a digest is. */
export const digestCell = (digest: string): { readonly key: string; readonly column: string } => ({
  key: sharded('d', NO_TILE, digest.slice(0, PREFIX_DIGITS)),
  column: digest.slice(PREFIX_DIGITS),
});
/** The start of the keys of the digest map in one shard; what follows is the first digits of the digests. */
export const digestMapPrefix = (shard: string): string => rowKey(shard, 'd', NO_TILE, '');

/** Where the digest of an id is. */
export const idCell = (id: number): { readonly key: string; readonly column: string } => ({
  key: sharded('r', NO_TILE, String(Math.floor(id / IDS_PER_ROW)).padStart(10, '0')),
  column: String(id % IDS_PER_ROW).padStart(3, '0'),
});
/** The id that `column` of the row of `id` stands for. */
export const idOfColumn = (id: number, column: string): number => id - (id % IDS_PER_ROW) + Number(column);

export const COUNTER_ROW = rowKey('', 'i', NO_TILE, '');
export const SETTINGS_ROW = rowKey('', 'c', NO_TILE, '');

export const expectationsRowKey = (test: string): string => sharded('e', NO_TILE, test);
/** The start of the keys of expectations in one shard; what follows is the test. */
export const expectationsPrefix = (shard: string): string => rowKey(shard, 'e', NO_TILE, '');

export const ignoreRowKey = (id: string): string => rowKey('', 'g', NO_TILE, id);
export const IGNORE_ROWS_PREFIX = ignoreRowKey('');

export const textRowKey = (digest: string): string => sharded('x', NO_TILE, digest);

export const commitRowKey = (commit: number): string => rowKey('', 'm', NO_TILE, String(commit).padStart(10, '0'));
