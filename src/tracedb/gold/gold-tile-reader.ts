// Reads stored tiles: 32 shards, some at a time, one batch of rows of each in memory. What it gives must be whole: a trace it
// cannot decode or a digest it cannot find is an error, never a trace left out.
import type { CallDeadline } from '../params/call-deadline.js';
import type { OpsRow } from '../params/ops-row.js';
import type { OpsRows } from '../params/ops-rows.js';
import type { OrderedParamSet } from '../params/ordered-param-set.js';
import type { Params } from '../params/params.js';
import type { Row, WideColumnTable } from '../table/wide-column-table.js';
import { TraceDbError } from '../tracedb-error.js';
import { MISSING_ID } from './digest.js';
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
import { type TraceFragment, traceIdOf } from './gold-tile.js';
import { mergeStreams } from './merge-streams.js';
import { decodeVarint } from './varint.js';

/** A filter of Bigtable has at most 20 KB; beyond this many columns all are read and the others dropped here. */
const MAX_COLUMNS_FILTERED = 1024;

/** Commits from `first` to `last`, both included. */
export interface CommitRange {
  readonly first: number;
  readonly last: number;
}

/** What a reader works with. */
export interface GoldTileReaderParts {
  readonly table: WideColumnTable;
  readonly tileSize: number;
  readonly opsRows: OpsRows;
  readonly digestIds: DigestIds;
  /** Shards read at a time. */
  readonly shardReads: number;
}

/** Streams the traces and options of one stored tile. */
export class GoldTileReader {
  readonly #parts: GoldTileReaderParts;

  constructor(parts: GoldTileReaderParts) {
    this.#parts = parts;
  }

  /** Tiles that exist, newest first, from `newest` on. */
  async *tiles(deadline: CallDeadline, newest?: number): AsyncGenerator<number, void, undefined> {
    const start = newest === undefined ? OPS_ROWS_PREFIX : opsRowKey(newest);
    const options = { ...deadline.next(), families: [OPS_FAMILY] };
    for await (const keys of this.#parts.table.readKeys({ start, end: OPS_ROWS_END }, options)) {
      for (const key of keys) yield tileOfOpsRow(key);
    }
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
    const decode = await this.#decoder(tile, deadline);
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
      const names = await decode(filled.map(({ encoded }) => encoded));
      yield filled.map(({ commits, cellIds }, i) => ({
        ...names[i],
        commits,
        // Found, or digestsOf had thrown.
        digests: cellIds.map((id) => digests.get(id) as string),
      }));
    }
  }

  /** Options of the traces of `tile`, a batch at a time. */
  async *options(
    tile: number,
    deadline: CallDeadline,
  ): AsyncGenerator<readonly { readonly id: string; readonly options: Params }[], void, undefined> {
    // Thousands of traces have the same few options.
    const known = new Map<string, Params>();
    const decode = await this.#decoder(tile, deadline);
    for await (const batch of this.#rows('p', tile, OPTIONS_FAMILY, [OPTIONS_COLUMN], deadline)) {
      const names = await decode(batch.map(({ encoded }) => encoded));
      yield batch.map(({ key, cells }, i) => {
        const text = Buffer.from(cells[0].value).toString('utf8');
        let options = known.get(text);
        if (options === undefined) {
          options = decodeOptions(text, `row ${key}`);
          known.set(text, options);
        }
        return { id: names[i].id, options };
      });
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
    const streams = GOLD_SHARDS.map((shard) => {
      const prefix = tilePrefix(shard, type, tile);
      return async function* (signal: AbortSignal) {
        const options = { ...deadline.next(), signal, families: [family], qualifiers };
        for await (const rows of table.readRows({ prefix }, options)) {
          yield rows.map(({ key, cells }) => ({ key, cells, encoded: key.slice(prefix.length) }));
        }
      };
    });
    yield* mergeStreams(streams, shardReads, deadline.signal);
  }

  /** Gives names to encoded traces. One put after the param set was read may use a param that was added since. */
  async #decoder(
    tile: number,
    deadline: CallDeadline,
  ): Promise<(encoded: readonly string[]) => Promise<{ readonly id: string; readonly params: Params }[]>> {
    const row: OpsRow = this.#parts.opsRows.at(tile);
    let ops = await row.read(deadline.next());
    return async (encoded) => {
      try {
        return namesOf(encoded, ops);
      } catch (error) {
        if (!(error instanceof TraceDbError)) throw error;
        ops = await row.read(deadline.next());
        return namesOf(encoded, ops);
      }
    };
  }
}

const namesOf = (encoded: readonly string[], ops: OrderedParamSet): { id: string; params: Params }[] =>
  encoded.map((text) => {
    const params = ops.decode(text);
    return { id: traceIdOf(params), params };
  });

const columnsOf = (first: number, last: number, tileSize: number): readonly string[] | undefined => {
  const count = last - first + 1;
  if (count >= tileSize || count > MAX_COLUMNS_FILTERED) return undefined;
  return Array.from({ length: count }, (_, i) => offsetColumn(first + i));
};

const offsetOf = (column: string, tileSize: number, key: string): number => {
  const offset = /^\d{3,4}$/.test(column) ? Number(column) : tileSize;
  if (offset < tileSize) return offset;
  throw new TraceDbError(
    'ERR_SPANLINE_STORE_CORRUPT',
    `column ${JSON.stringify(column)} of row ${key} is no offset in a tile of ${tileSize} commits; delete the cell`,
  );
};
