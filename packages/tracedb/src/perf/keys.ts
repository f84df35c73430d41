// The keys of a Perf store's rows, in one place. Shapes here are the format: changing one makes existing stores unreadable.
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
import type { TileLayout } from '../query/build-nodes.js';
import { tileKey } from '../tile.js';

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
