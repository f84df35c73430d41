// The rows that hold the ordered param sets of tiles, their optimistic update by several processes, and ids of traces turned back into params by them
// while others write. An index once handed out must never change its meaning: every write is conditional on the hash of the set it was derived from,
// and its cells are newer than those it replaces whatever the writers' clocks say. Few rows are remembered: a set can have megabytes, and most writes
// go to the newest tile. A trace written after the param set was read may use a param added since: then the set is read anew, once a batch, and no
// trace is left out whose id cannot be read.
import { finiteNumber, timers, wholeNumber } from 'spanline/internal/base';
import { inSpan } from '../node-span.js';
import { changeRowIfSame, setCell } from '../table/cells.js';
import type { CallOptions, Cell, WideColumnTable } from '../table/wide-column-table.js';
import { invalidInput, storeCorrupt, TraceDbError } from '../tracedb-error.js';
import { CallDeadline, DEFAULT_RETRY_BOUNDS, type RetryBounds, retryConflicts } from './call-deadline.js';
import { OrderedParamSet } from './ordered-param-set.js';
import type { Params } from './param-text.js';

/** Where an ordered param set is kept, and how long an update tries. */
export interface OpsRowOptions extends Partial<RetryBounds> {
  /** Key of the row. */
  readonly key: string;
  readonly family: string;
  /** Column of the serialised set. */
  readonly opsColumn: string;
  /** Column of its hash, hex text; conditional writes look at this cell. */
  readonly hashColumn: string;
  /** The writer's clock, Unix milliseconds. Default `Date.now`. */
  readonly timestampMs?: () => number;
}

/** What an `OpsRow` did. */
export interface OpsRowStats {
  /** Calls of `update` that were answered from memory: nothing was missing. */
  readonly hits: number;
  /** Reads of the row. */
  readonly reads: number;
  /** Conditional writes that were accepted. */
  readonly updates: number;
  /** Conditional writes that were refused because another process had written. */
  readonly conflicts: number;
  /** Attempts after a conflict. */
  readonly retries: number;
  /** Updates given up: the bound on attempts was reached. */
  readonly gaveUp: number;
}

interface State {
  readonly ops: OrderedParamSet;
  /** Hash in the row; undefined: the row has no set yet. */
  readonly hash: string | undefined;
  /** The latest timestamp of its cells, -1 when there is none. */
  readonly timestampMs: number;
}

const ABSENT: State = { ops: OrderedParamSet.empty, hash: undefined, timestampMs: -1 };

/**
 * The ordered param set of one tile in the table; it remembers the last one it saw, and nothing else.
 *
 * Several processes may update the same row: each reads, appends what it lacks, and writes on the condition that nobody wrote
 * in between. Rows must not be deleted while writers are alive.
 *
 * @example
 * ```ts
 * import { OpsRow, openTable } from '@spanline/tracedb';
 *
 * const table = await openTable('./param-set', { families: ['D'] });
 * const row = new OpsRow(table, { key: '@2147483647', family: 'D', opsColumn: 'OPS', hashColumn: 'H' });
 * const ops = await row.update([{ test: 'draw', cpu: 'x86' }]);
 * console.assert(ops.encode({ test: 'draw', cpu: 'x86' }) === ',0=0,1=0,');
 * await table.close();
 * ```
 */
export class OpsRow {
  readonly #table: WideColumnTable;
  readonly #options: OpsRowOptions;
  readonly #clock: () => number;
  readonly #bounds: RetryBounds;
  #state: State | undefined;
  // Updates of this object go one after another: the second one finds most of what it wants in memory.
  #last: Promise<unknown> = Promise.resolve();
  readonly #counts = { hits: 0, reads: 0, updates: 0, conflicts: 0, retries: 0, gaveUp: 0 };

  constructor(table: WideColumnTable, options: OpsRowOptions) {
    const { timestampMs = timers.wallMs, maxAttempts, backoffMs } = { ...DEFAULT_RETRY_BOUNDS, ...options };
    wholeNumber('maxAttempts', maxAttempts, [1], invalidInput);
    finiteNumber('backoffMs', backoffMs, [0], invalidInput);
    this.#table = table;
    this.#options = options;
    this.#clock = timestampMs;
    this.#bounds = { maxAttempts, backoffMs };
  }

  /** The set as this object last saw it; undefined before the first `read` or `update`. */
  get cached(): OrderedParamSet | undefined {
    return this.#state?.ops;
  }

  /** The set as the table has it now; empty when the tile has none. One read, parsed only when the hash changed. */
  async read(options?: CallOptions): Promise<OrderedParamSet> {
    return (await this.#read(options)).ops;
  }

  /**
   * A set that has every key and value of `params`, written to the table when it lacked some. Answered from memory when
   * nothing is missing, so the usual write of known traces costs no read here.
   *
   * Rejects with `ERR_SPANLINE_CONFLICT` when others kept changing the row for `maxAttempts` attempts.
   */
  async update(params: Iterable<Params>, options?: CallOptions): Promise<OrderedParamSet> {
    // A retry looks at them again, which a generator does not allow.
    const wanted = Array.isArray(params) ? (params as readonly Params[]) : [...params];
    const known = this.#state?.ops;
    if (known?.hasAll(wanted) === true) {
      this.#counts.hits++;
      return known;
    }
    const deadline = new CallDeadline(`updating the param set in row ${this.#options.key}`, options);
    const figures = { row: this.#options.key, attempts: 0, added: 0 };
    return inSpan(
      'ops.update',
      () => {
        const mine = this.#last.then(() => this.#update(wanted, deadline, figures));
        this.#last = mine.catch(() => undefined);
        return mine;
      },
      (span) => span.addProperties(figures),
    );
  }

  stats(): OpsRowStats {
    return { ...this.#counts };
  }

  #update(
    wanted: readonly Params[],
    deadline: CallDeadline,
    figures: { attempts: number; added: number },
  ): Promise<OrderedParamSet> {
    const attempt = async (number: number): Promise<OrderedParamSet | undefined> => {
      if (number > 1) this.#counts.retries++;
      const state = (number === 1 ? this.#state : undefined) ?? (await this.#read(deadline.next()));
      const delta = state.ops.missing(wanted);
      if (delta.size === 0) return state.ops;
      const next = state.ops.with(delta);
      figures.attempts = number;
      figures.added = delta.size;
      if (await this.#write(state, next, deadline)) return next;
      this.#counts.conflicts++;
      if (number === this.#bounds.maxAttempts) this.#counts.gaveUp++;
      return undefined;
    };
    const what = `the param set in row ${this.#options.key} of ${this.#table.location}`;
    return retryConflicts(what, attempt, deadline, this.#bounds);
  }

  async #write(old: State, next: OrderedParamSet, deadline: CallDeadline): Promise<boolean> {
    const { key, family, opsColumn, hashColumn } = this.#options;
    // A cell older than the one it replaces would be accepted and never be read: the two halves of the fleet would then hand
    // out the same index for different values. So the row's own time goes forward whatever this process's clock says.
    const timestampMs = Math.max(Math.floor(this.#clock()), old.timestampMs + 1);
    const mutations = [
      setCell(family, opsColumn, next.serialise(), timestampMs),
      setCell(family, hashColumn, next.hash, timestampMs),
    ];
    const was = { family, qualifier: hashColumn, value: old.hash };
    const accepted = await changeRowIfSame(this.#table, key, was, mutations, deadline.next());
    if (accepted) {
      this.#counts.updates++;
      this.#state = { ops: next, hash: next.hash, timestampMs };
    }
    return accepted;
  }

  async #read(options?: CallOptions): Promise<State> {
    const { opsColumn, hashColumn } = this.#options;
    this.#counts.reads++;
    const known = this.#state;
    if (known?.hash !== undefined) {
      // Every query asks: while nobody added anything, the hash tells so, and the set is not sent again.
      const [cell] = await this.#readCells([hashColumn], options);
      if (cell !== undefined && Buffer.from(cell.value).toString('latin1') === known.hash) {
        this.#state = { ...known, timestampMs: Math.max(known.timestampMs, cell.timestampMs) };
        return this.#state;
      }
    }
    this.#state = this.#stateOf(await this.#readCells([opsColumn, hashColumn], options));
    return this.#state;
  }

  async #readCells(qualifiers: readonly string[], options?: CallOptions): Promise<readonly Cell[]> {
    const { key, family } = this.#options;
    const row = await this.#table.readRow(key, { ...options, families: [family], qualifiers });
    return row?.cells ?? [];
  }

  #stateOf(cells: readonly Cell[]): State {
    const { key, opsColumn, hashColumn } = this.#options;
    const opsCell = cells.find((cell) => cell.qualifier === opsColumn);
    const hashCell = cells.find((cell) => cell.qualifier === hashColumn);
    if (opsCell === undefined && hashCell === undefined) return ABSENT;
    if (opsCell === undefined || hashCell === undefined) {
      throw this.#corrupt(`row ${key} has no column ${opsCell === undefined ? opsColumn : hashColumn}`);
    }
    const hash = Buffer.from(hashCell.value).toString('latin1');
    const timestampMs = Math.max(opsCell.timestampMs, hashCell.timestampMs);
    const ops = OrderedParamSet.parse(opsCell.value);
    if (ops.hash !== hash) throw this.#corrupt(`the hash in row ${key} is not that of the param set beside it`);
    return { ops, hash, timestampMs };
  }

  #corrupt(what: string): TraceDbError {
    return storeCorrupt(`${what} in ${this.#table.location}; restore the row from a backup, or write its tile anew`);
  }
}

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
 * import { OpsRows, openTable } from '@spanline/tracedb';
 *
 * const table = await openTable('./param-sets', { families: ['D'] });
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
