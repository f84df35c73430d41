// The param set rows of the tiles a process works on, so that each keeps its last value, and ids of traces turned back into params by them while
// others write. It must stay small: a set can have megabytes, and most writes go to the newest tile. A trace written after the param set was read may
// use a param added since: then the set is read anew, once a batch, and no trace is left out whose id cannot be read.
import type { WideColumnTable } from '../table/wide-column-table.js';
import { TraceDbError } from '../tracedb-error.js';
import type { CallDeadline } from './call-deadline.js';
import { OpsRow, type OpsRowOptions, type OpsRowStats } from './ops-row.js';
import type { OrderedParamSet } from './ordered-param-set.js';
import type { Params } from './param-text.js';

/** Totals over the rows of all tiles, and the numbers of rows cached and evicted. */
export interface OpsRowsStats extends OpsRowStats {
  readonly tiles: number;
  readonly evicted: number;
}

/**
 * One `OpsRow` per tile, at most `capacity` (16) of them: the tile used longest ago is forgotten.
 *
 * @example
 * ```ts
 * import { mkdtemp } from 'node:fs/promises';
 * import { tmpdir } from 'node:os';
 * import { join } from 'node:path';
 * import { OpsRows, openTable } from '@spanline/tracedb';
 *
 * const table = await openTable(await mkdtemp(join(tmpdir(), 'traces-')), { families: ['D'] });
 * const rows = new OpsRows(table, (tile) => ({ key: `@${tile}`, family: 'D', opsColumn: 'OPS', hashColumn: 'H' }));
 * await rows.at(7).update([{ test: 'draw' }]);
 * console.assert(rows.stats().updates === 1);
 * await table.close();
 * ```
 */
export class OpsRows {
  readonly #rows = new Map<number, OpsRow>();
  readonly #past = { hits: 0, reads: 0, updates: 0, conflicts: 0, retries: 0, gaveUp: 0 };
  #evicted = 0;

  readonly #table: WideColumnTable;
  readonly #optionsOf: (tile: number) => OpsRowOptions;
  readonly #capacity: number;

  /** `optionsOf` says where the set of a tile is kept. */
  constructor(table: WideColumnTable, optionsOf: (tile: number) => OpsRowOptions, capacity = 16) {
    this.#table = table;
    this.#optionsOf = optionsOf;
    this.#capacity = capacity;
  }

  /** The row of `tile`; it may have forgotten its value. */
  at(tile: number): OpsRow {
    const row = this.#rows.get(tile) ?? new OpsRow(this.#table, this.#optionsOf(tile));
    // Behind the others: the first of the map is the one used longest ago.
    this.#rows.delete(tile);
    this.#rows.set(tile, row);
    if (this.#rows.size > this.#capacity) this.#evict();
    return row;
  }

  /** The set of `tile` as it was last seen; undefined when it is not remembered. */
  cached(tile: number): OrderedParamSet | undefined {
    return this.#rows.get(tile)?.cached;
  }

  stats(): OpsRowsStats {
    const sum = { ...this.#past };
    for (const row of this.#rows.values()) addTo(sum, row.stats());
    return { ...sum, tiles: this.#rows.size, evicted: this.#evicted };
  }

  #evict(): void {
    const [[tile, row]] = this.#rows;
    addTo(this.#past, row.stats());
    this.#rows.delete(tile);
    this.#evicted++;
  }
}

const addTo = (sum: Record<keyof OpsRowStats, number>, stats: OpsRowStats): void => {
  for (const name of Object.keys(stats) as (keyof OpsRowStats)[]) sum[name] += stats[name];
};

/** The params of ids, in their order. */
export type DecodeIds = (ids: readonly string[]) => Promise<readonly Params[]>;

/** Decodes ids of the tile whose param set is in `row`; `known` is what was read of it last. */
export const idDecoder = (row: OpsRow, known: OrderedParamSet, deadline: CallDeadline): DecodeIds => {
  let ops = known;
  return async (ids) => {
    try {
      return ids.map((id) => ops.decode(id));
    } catch (error) {
      if (!(error instanceof TraceDbError)) throw error;
      ops = await row.read(deadline.next());
      return ids.map((id) => ops.decode(id));
    }
  };
};
