// Tiles as readers get them: traces, each with one digest a commit, put together from the cells of several stored tiles, in which one trace has
// different encoded ids; here it has its one name. Stored tiles are 32 shards, some at a time, one batch of rows of each in memory. What is read must
// be whole: a trace that cannot be decoded or a digest that cannot be found is an error, never a trace left out.

import { getOrMake } from 'spanline/internal/base';
import type { CallDeadline } from '../params/call-deadline.js';
import { idDecoder } from '../params/ops-rows.js';
import { ParamSet } from '../params/param-set.js';
import { type Params, structuredKeyOf } from '../params/param-text.js';
import type { Row } from '../table/wide-column-table.js';
import { tileOf } from '../tile.js';
import { storeCorrupt } from '../tracedb-error.js';
import { decodeOptions, type GoldParts } from './gold-entry.js';
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
import { readShards } from './merge-streams.js';
import { decodeVarint, MISSING_DIGEST, MISSING_ID } from './values.js';

/** One trace in the commits of a tile. */
export interface GoldTrace {
  /** `,key=value,...,` of its params, sorted by key. */
  readonly id: string;
  readonly params: Params;
  /** The latest options put with it in the newest of the stored tiles that were read; empty when there are none. */
  readonly options: Params;
  /** One a commit of the tile, '' where it has none. */
  readonly digests: readonly string[];
}

/** Traces that have a digest in at least one of the commits, sorted by id. */
export interface GoldTile {
  /** Commit numbers, ascending. */
  readonly commits: readonly number[];
  readonly traces: readonly GoldTrace[];
  /** Keys and values of the params and options of these traces. */
  readonly paramSet: ParamSet;
  /** True when it is certain that no commit before the first one here has a digest. */
  readonly isFromStart: boolean;
}

/** Some cells of one trace: `digests[i]` is that at `commits[i]`, in no order; none is missing. */
export interface TraceFragment {
  readonly id: string;
  readonly params: Params;
  readonly commits: readonly number[];
  readonly digests: readonly string[];
}

/** What queries and ignore rules look at: params and options of a trace; a param wins over an option of the same key. */
export const searchedParams = ({ params, options }: GoldTrace): Params => ({ ...options, ...params });

const NO_OPTIONS: Params = Object.freeze({});

/** Gathers what was read and makes the tile of it. Stored tiles must come newest first. */
class GoldTileBuilder {
  readonly #traces = new Map<string, { params: Params; commits: number[]; digests: string[] }>();
  readonly #options = new Map<string, Params>();
  readonly #commits = new Set<number>();

  /** Commits of which at least one trace has a digest, ascending. */
  get commits(): number[] {
    return [...this.#commits].sort((a, b) => a - b);
  }

  /** How many of them. */
  get commitCount(): number {
    return this.#commits.size;
  }

  add({ id, params, commits, digests }: TraceFragment): void {
    const trace = getOrMake(this.#traces, id, () => ({ params, commits: [], digests: [] }));
    for (const [i, commit] of commits.entries()) {
      trace.commits.push(commit);
      trace.digests.push(digests[i]);
      this.#commits.add(commit);
    }
  }

  /** Those of a newer tile stay. */
  addOptions(id: string, options: Params): void {
    if (!this.#options.has(id)) this.#options.set(id, options);
  }

  /** The tile of these commits, ascending; what was added of others is left out. */
  build(commits: readonly number[], isFromStart: boolean): GoldTile {
    const places = new Map(commits.map((commit, i) => [commit, i]));
    const traces: GoldTrace[] = [];
    const paramSet = new ParamSet();
    for (const [id, cells] of this.#traces) {
      // Gone from here at once: the cells and the trace made of them should not all be in memory together.
      this.#traces.delete(id);
      const digests = new Array<string>(commits.length).fill(MISSING_DIGEST);
      let isEmpty = true;
      for (const [i, commit] of cells.commits.entries()) {
        const place = places.get(commit);
        if (place === undefined) continue;
        digests[place] = cells.digests[i];
        isEmpty = false;
      }
      if (isEmpty) continue;
      const trace = { id, params: cells.params, options: this.#options.get(id) ?? NO_OPTIONS, digests };
      paramSet.add(searchedParams(trace));
      traces.push(trace);
    }
    traces.sort((a, b) => (a.id < b.id ? -1 : 1));
    return { commits, traces, paramSet, isFromStart };
  }
}

/** A filter of Bigtable has at most 20 KB; beyond this many columns all are read and the others dropped here. */
const MAX_COLUMNS_FILTERED = 1024;

/** Commits from `first` to `last`, both included. */
interface CommitRange {
  readonly first: number;
  readonly last: number;
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

  /**
   * The last `nCommits` commits up to `last` or, without it, the newest one with data; whether or not a trace has a digest there or, when it `isDense`,
   * of those at which at least one has.
   */
  async readTile(
    nCommits: number,
    isDense: boolean,
    last: number | undefined,
    deadline: CallDeadline,
  ): Promise<TileRead> {
    const builder = new GoldTileBuilder();
    const firstOf = (commit: number): number => Math.max(0, commit - nCommits + 1);
    let end = last;
    let tilesRead = 0;
    let isEnough = false;
    for await (const tile of this.tiles(deadline, last)) {
      const first = isDense || end === undefined ? 0 : firstOf(end);
      if (tile < tileOf(first, this.#parts.tileSize)) break;
      await this.#addTile(builder, tile, { first, last: end ?? Number.MAX_SAFE_INTEGER }, deadline);
      tilesRead++;
      end ??= builder.commits.at(-1);
      isEnough = isDense && builder.commitCount >= nCommits;
      if (isEnough) break;
    }
    if (isDense) return { tile: builder.build(builder.commits.slice(-nCommits), !isEnough), tilesRead };
    if (end === undefined) return { tile: builder.build([], last === undefined), tilesRead };
    const first = firstOf(end);
    const commits = Array.from({ length: end - first + 1 }, (_, i) => first + i);
    return { tile: builder.build(commits, first === 0), tilesRead };
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
        builder.addOptions(
          names[i].id,
          getOrMake(known, text, () => decodeOptions(text, `row ${key}`)),
        );
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
