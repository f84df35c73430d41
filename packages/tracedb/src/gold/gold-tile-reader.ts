// Reads stored tiles: 32 shards, some at a time, one batch of rows of each in memory. What it gives must be whole: a trace it
// cannot decode or a digest it cannot find is an error, never a trace left out.
import type { CallDeadline } from '../params/call-deadline.js';
import { idDecoder, type OpsRows } from '../params/ops-rows.js';
import type { Params } from '../params/param-text.js';
import { structuredKeyOf } from '../params/structured-key.js';
import type { Row, WideColumnTable } from '../table/wide-column-table.js';
import { tileOf } from '../tile.js';
import { storeCorrupt } from '../tracedb-error.js';
import type { DigestIds } from './digest-ids.js';
import { decodeOptions } from './gold-entry.js';
import {
  GOLD_SHARDS,
  OPS_FAMILY,
  OPS_ROWS_END,
  OPS_ROWS_PREFIX,
  OPTIONS_COLUMN,
  OPTIONS_FAMILY,
  offsetColumn,
  opsRowKey,
  TRACE_FAMILY,
  tileOfOpsRow,
  tilePrefix,
} from './gold-keys.js';
import { type GoldTile, GoldTileBuilder, type TraceFragment } from './gold-tile.js';
import { readShards } from './merge-streams.js';
import { decodeVarint, MISSING_ID } from './values.js';

/** A filter of Bigtable has at most 20 KB; beyond this many columns all are read and the others dropped here. */
const MAX_COLUMNS_FILTERED = 1024;

/** Commits from `first` to `last`, both included. */
interface CommitRange {
  readonly first: number;
  readonly last: number;
}

/** What the parts of a store work with. */
export interface GoldParts {
  readonly table: WideColumnTable;
  readonly tileSize: number;
  readonly opsRows: OpsRows;
  readonly digestIds: DigestIds;
  /** Shards read at a time. */
  readonly shardReads: number;
}

/** A tile, and the number of stored ones it was made of. */
interface TileRead {
  readonly tile: GoldTile;
  readonly tilesRead: number;
}

/** Reads the stored tiles, and makes tiles of any length of them. It must read no tile it does not need, and no tile twice. */
export class GoldTileReader {
  readonly #parts: GoldParts;

  constructor(parts: GoldParts) {
    this.#parts = parts;
  }

  /** Tiles that exist, newest first, from that of commit `last` on. */
  async *tiles(deadline: CallDeadline, last?: number): AsyncGenerator<number, void, undefined> {
    const start = last === undefined ? OPS_ROWS_PREFIX : opsRowKey(tileOf(last, this.#parts.tileSize));
    const options = { ...deadline.next(), families: [OPS_FAMILY] };
    for await (const keys of this.#parts.table.readKeys({ start, end: OPS_ROWS_END }, options)) {
      for (const key of keys) yield tileOfOpsRow(key);
    }
  }

  /** The last `nCommits` commits up to `last` or, without it, the newest one with data; whether or not a trace has a digest there. */
  async readTile(nCommits: number, last: number | undefined, deadline: CallDeadline): Promise<TileRead> {
    const builder = new GoldTileBuilder();
    let end = last;
    let tilesRead = 0;
    const firstOf = (commit: number): number => Math.max(0, commit - nCommits + 1);
    for await (const tile of this.tiles(deadline, last)) {
      const range = { first: end === undefined ? 0 : firstOf(end), last: end ?? Number.MAX_SAFE_INTEGER };
      if (tile < tileOf(range.first, this.#parts.tileSize)) break;
      await this.#addTile(builder, tile, range, deadline);
      tilesRead++;
      end ??= builder.commits.at(-1);
    }
    if (end === undefined) return { tile: builder.build([], last === undefined), tilesRead };
    const first = firstOf(end);
    const commits = Array.from({ length: end - first + 1 }, (_, i) => first + i);
    return { tile: builder.build(commits, first === 0), tilesRead };
  }

  /** As `readTile`, of those commits at which at least one trace has a digest. */
  async readDenseTile(nCommits: number, last: number | undefined, deadline: CallDeadline): Promise<TileRead> {
    const builder = new GoldTileBuilder();
    const range = { first: 0, last: last ?? Number.MAX_SAFE_INTEGER };
    let tilesRead = 0;
    let isEnough = false;
    for await (const tile of this.tiles(deadline, last)) {
      await this.#addTile(builder, tile, range, deadline);
      tilesRead++;
      isEnough = builder.commitCount >= nCommits;
      if (isEnough) break;
    }
    return { tile: builder.build(builder.commits.slice(-nCommits), !isEnough), tilesRead };
  }

  /** The cells of `tile` at the commits of `range`, a batch of traces at a time, in no order. */
  async *traces(
    tile: number,
    range: CommitRange,
    deadline: CallDeadline,
  ): AsyncGenerator<readonly TraceFragment[], void, undefined> {
    const { tileSize, digestIds } = this.#parts;
    const begin = tile * tileSize;
    const first = Math.max(range.first, begin);
    const last = Math.min(range.last, begin + tileSize - 1);
    const namesOf = await this.#namer(tile, deadline);
    const rows = this.#rows('t', tile, TRACE_FAMILY, columnsOf(first - begin, last - begin, tileSize), deadline);
    for await (const batch of rows) {
      const ids = new Set<number>();
      const traces = batch.map(({ key, encoded, cells }) => {
        const commits: number[] = [];
        const cellIds: number[] = [];
        for (const { qualifier, value } of cells) {
          const commit = begin + offsetOf(qualifier, tileSize, key);
          const id = decodeVarint(value, () => `column ${qualifier} of row ${key}`);
          if (id === MISSING_ID || commit < first || commit > last) continue;
          commits.push(commit);
          cellIds.push(id);
          ids.add(id);
        }
        return { encoded, commits, cellIds };
      });
      const digests = await digestIds.digestsOf(ids, deadline);
      const filled = traces.filter(({ commits }) => commits.length > 0);
      const names = await namesOf(filled.map(({ encoded }) => encoded));
      yield filled.map(({ commits, cellIds }, i) => ({
        ...names[i],
        commits,
        // Found, or digestsOf had thrown.
        digests: cellIds.map((id) => digests.get(id) as string),
      }));
    }
  }

  async #addTile(builder: GoldTileBuilder, tile: number, range: CommitRange, deadline: CallDeadline): Promise<void> {
    for await (const fragments of this.traces(tile, range, deadline)) {
      for (const fragment of fragments) builder.add(fragment);
    }
    // Thousands of traces have the same few options.
    const known = new Map<string, Params>();
    const namesOf = await this.#namer(tile, deadline);
    for await (const batch of this.#rows('p', tile, OPTIONS_FAMILY, [OPTIONS_COLUMN], deadline)) {
      const names = await namesOf(batch.map(({ encoded }) => encoded));
      for (const [i, { key, cells }] of batch.entries()) {
        const text = Buffer.from(cells[0].value).toString('utf8');
        const options = known.get(text) ?? decodeOptions(text, `row ${key}`);
        known.set(text, options);
        builder.addOptions(names[i].id, options);
      }
    }
  }

  async *#rows(
    type: 't' | 'p',
    tile: number,
    family: string,
    qualifiers: readonly string[] | undefined,
    deadline: CallDeadline,
  ): AsyncGenerator<readonly (Row & { readonly encoded: string })[], void, undefined> {
    const { table, shardReads } = this.#parts;
    const prefixLength = tilePrefix(GOLD_SHARDS[0], type, tile).length;
    const read = { families: [family], qualifiers };
    for await (const rows of readShards(table, (shard) => tilePrefix(shard, type, tile), read, shardReads, deadline)) {
      yield rows.map(({ key, cells }) => ({ key, cells, encoded: key.slice(prefixLength) }));
    }
  }

  /** Names the traces of `tile` by their encoded ids, in their order. */
  async #namer(
    tile: number,
    deadline: CallDeadline,
  ): Promise<(encoded: readonly string[]) => Promise<{ readonly id: string; readonly params: Params }[]>> {
    const row = this.#parts.opsRows.at(tile);
    const decode = idDecoder(row, await row.read(deadline.next()), deadline);
    return async (encoded) => (await decode(encoded)).map((params) => ({ id: structuredKeyOf(params), params }));
  }
}

const columnsOf = (first: number, last: number, tileSize: number): readonly string[] | undefined => {
  const count = last - first + 1;
  if (count >= tileSize || count > MAX_COLUMNS_FILTERED) return undefined;
  return Array.from({ length: count }, (_, i) => offsetColumn(first + i));
};

const offsetOf = (column: string, tileSize: number, key: string): number => {
  const offset = /^\d{3,4}$/.test(column) ? Number(column) : tileSize;
  if (offset < tileSize) return offset;
  throw storeCorrupt(
    `column ${JSON.stringify(column)} of row ${key} is not an offset in a tile of ${tileSize} commits; delete the cell`,
  );
};
