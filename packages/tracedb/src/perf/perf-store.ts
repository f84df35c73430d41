// The Perf store: values of traces by commit, in tiles. It must hold nothing of the data but bounded caches, so that any number of
// processes can have one over the same table.
import { timers, wholeNumber } from 'spanline/internal/base';
import { childSpan, failSpan, inSpan, under } from '../node-span.js';
import { CallDeadline } from '../params/call-deadline.js';
import { type DecodeIds, idDecoder, OpsRows, type OpsRowsStats } from '../params/ops-rows.js';
import type { OrderedParamSet } from '../params/ordered-param-set.js';
import type { ParamSet } from '../params/param-set.js';
import { type CleaningRule, checkParams, type Params } from '../params/param-text.js';
import { openSettings } from '../params/store-settings.js';
import { type Plan, type PlannedValue, planQuery } from '../query/plan.js';
import { makeQuery, parseQuery, type Query } from '../query/query.js';
import { readSlotsOf, runPlan } from '../query/run-query.js';
import type { CallOptions, TableSchema, TableStats, WideColumnTable } from '../table/wide-column-table.js';
import { offsetOf, tileOf, tileOfKey } from '../tile.js';
import { invalidInput, storeCorrupt } from '../tracedb-error.js';
import { CommitLog } from './commit-log.js';
import {
  FAMILIES,
  indexPrefix,
  PARAM_SET_PREFIX,
  PERF_CONFIG,
  type PerfConfig,
  paramSetKey,
  sourceKey,
  tileLayout,
  traceKey,
} from './keys.js';
import {
  type NamedId,
  type PerfSeries,
  type PerfTrace,
  type QuerySeriesOptions,
  readTraces,
  readTracesOf,
  seriesOf,
} from './series-reader.js';
import { type CommitPoints, type Point, TraceWriter, type WriteResult } from './trace-writer.js';

/** The families a table needs to hold a Perf store. */
export const PERF_SCHEMA: TableSchema = { families: Object.values(FAMILIES) };

/** How a Perf store is opened. */
export interface PerfStoreOptions extends Partial<PerfConfig>, CallOptions {
  /** Which characters params may have. Default: what the store was made with, and for a new one `[A-Za-z0-9._-]`. */
  readonly rule?: CleaningRule;
  /** Traces remembered as indexed, so that their index rows are not written again. Default 200,000; one takes about 200 bytes. */
  readonly cachedTraces?: number;
}

/** What a Perf store did in this process. */
export interface PerfStats {
  readonly table: TableStats;
  readonly ops: OpsRowsStats;
  readonly writer: ReturnType<TraceWriter['stats']>;
  readonly queries: { readonly open: number; readonly waiting: number; readonly waited: number };
}

/** A query as text or parsed. */
export type QueryLike = string | Query;

const toQuery = (query: QueryLike): Query => (typeof query === 'string' ? parseQuery(query) : makeQuery(query.parts));

/**
 * Values of traces by commit, queried by their params.
 *
 * Open one over a table with the families of `PERF_SCHEMA`, on LMDB or Bigtable; any number of processes may. The table is yours:
 * close it when done. Methods reject with a `TraceDbError`. Design: Skia Perf's trace database on Bigtable.
 *
 * @example
 * ```ts
 * import { openTable, PERF_SCHEMA, PerfStore } from '@spanline/tracedb';
 *
 * const table = await openTable('./perf', PERF_SCHEMA);
 * const perf = await PerfStore.open(table);
 * const points = [{ params: { test: 'draw', arch: 'x86' }, value: 12.5 }];
 * await perf.writeTraces(300, points, { source: 'run-1.json', timestampMs: Date.now() });
 * for await (const traces of perf.query(1, 'arch=x86')) console.assert(traces[0].values[44] === 12.5);
 * await table.close();
 * ```
 */
export class PerfStore {
  /** The commits that columns stand for. */
  readonly commits: CommitLog;
  readonly #opsRows: OpsRows;
  readonly #writer: TraceWriter;

  private constructor(
    readonly table: WideColumnTable,
    /** What the store was made with. */
    readonly config: PerfConfig,
    /** How its params are cleaned: in files that are ingested, and in queries. */
    readonly rule: CleaningRule,
    cachedTraces: number,
  ) {
    this.commits = new CommitLog(table);
    this.#opsRows = new OpsRows(table, (tile) => ({
      key: paramSetKey(tile),
      family: FAMILIES.params,
      opsColumn: 'OPS',
      hashColumn: 'H',
    }));
    this.#writer = new TraceWriter(table, config, this.#opsRows, rule, cachedTraces);
  }

  /** Open the store in `table`, making it when the table is new; tile size and shards of an existing one are kept. */
  static async open(table: WideColumnTable, options: PerfStoreOptions = {}): Promise<PerfStore> {
    const { rule, cachedTraces = 200_000, tileSize, shards, ...call } = options;
    wholeNumber('cachedTraces', cachedTraces, [2], invalidInput);
    const deadline = new CallDeadline(`opening the Perf store ${table.location}`, call);
    const stored = await openSettings(table, PERF_CONFIG, { tileSize, shards }, rule, deadline);
    return new PerfStore(table, stored.settings, rule ?? stored.rule, cachedTraces);
  }

  /** The tile a commit falls in. */
  tileOf(commit: number): number {
    return tileOf(commit, this.config.tileSize);
  }

  /** The column of a commit in its tile. */
  offsetOf(commit: number): number {
    return offsetOf(commit, this.config.tileSize);
  }

  /** Write the points of one commit. */
  writeTraces(
    commit: number,
    points: readonly Point[],
    { source, timestampMs, ...options }: { readonly source: string; readonly timestampMs: number } & CallOptions,
  ): Promise<WriteResult> {
    return this.write([{ commit, source, timestampMs, points }], options);
  }

  /** Write the points of several commits at once: much cheaper than one by one, since every write waits for the disk. */
  write(commits: readonly CommitPoints[], options?: CallOptions): Promise<WriteResult> {
    return inSpan(
      'perf.write',
      () => this.#writer.write(commits, options),
      (span, result) => span.addProperties({ ...result }),
    );
  }

  /**
   * The traces of a tile with these params, taken as they stand; unknown ones are left out. Rejects with
   * `ERR_SPANLINE_INVALID_INPUT` for params that no trace can have.
   */
  async readTraces(tile: number, params: readonly Params[], options: CallOptions = {}): Promise<PerfTrace[]> {
    if (!Array.isArray(params)) throw invalidInput('readTraces takes a list of params, each an object of texts');
    const deadline = new CallDeadline('reading traces', options);
    const ops = await this.#opsRows.at(tile).read(deadline.next());
    const ids: string[] = [];
    for (const one of params) {
      const id = this.#idOf(ops, one);
      if (id !== undefined) ids.push(id);
    }
    return readTraces(this.table, this.config, tile, ids, this.#decoder(tile, ops, deadline), deadline.next());
  }

  /** The traces of a tile that a query selects, ascending by id, in batches; the empty query selects all. */
  async *query(
    tile: number,
    query: QueryLike,
    options: CallOptions = {},
  ): AsyncGenerator<readonly PerfTrace[], undefined, void> {
    const deadline = new CallDeadline(`querying tile ${tile}`, options);
    const { plan, ops } = await this.#plan(tile, query, deadline);
    const ids = this.#run(tile, plan, deadline);
    const decode = this.#decoder(tile, ops, deadline);
    yield* readTracesOf(ids, (batch) => {
      const call = deadline.next();
      const span = childSpan('perf.read-traces');
      return under(span, () => readTraces(this.table, this.config, tile, batch, decode, call, span));
    });
  }

  /** The encoded ids of the traces of a tile that a query selects, ascending, in batches. The empty query is an error. */
  async *queryIds(
    tile: number,
    query: QueryLike,
    options: CallOptions = {},
  ): AsyncGenerator<readonly string[], undefined, void> {
    const deadline = new CallDeadline(`querying tile ${tile}`, options);
    const parsed = toQuery(query);
    if (parsed.parts.length === 0) {
      throw invalidInput('an empty query selects every trace, which has no use for ids; name at least one key');
    }
    const { plan } = await this.#plan(tile, parsed, deadline);
    yield* this.#run(tile, plan, deadline);
  }

  /**
   * The histories of the series a query selects over all tiles, sorted by structured key, in batches; the empty query selects all.
   * `from`, `to` and `last` say which commits. Only names are held of all series, values of one batch.
   */
  querySeries(
    query: QueryLike,
    options: QuerySeriesOptions = {},
  ): AsyncGenerator<readonly PerfSeries[], undefined, void> {
    return seriesOf(this, (tile, deadline) => this.#decodedIds(tile, query, deadline), options);
  }

  /** How many traces of a tile a query selects; all of them without one. */
  async count(tile: number, query: QueryLike = '', options: CallOptions = {}): Promise<number> {
    const deadline = new CallDeadline(`counting in tile ${tile}`, options);
    const { plan } = await this.#plan(tile, query, deadline);
    return total(this.#run(tile, plan, deadline));
  }

  /** The tiles that have traces, the newest first. */
  async tiles(options?: CallOptions & { readonly limit?: number }): Promise<number[]> {
    const tiles: number[] = [];
    for await (const keys of this.table.readKeys({ prefix: PARAM_SET_PREFIX }, options)) {
      for (const key of keys) tiles.push(tileOfKey(key.slice(PARAM_SET_PREFIX.length)));
    }
    return tiles;
  }

  /** The newest tile that has traces; undefined in an empty store. */
  async latestTile(options?: CallOptions): Promise<number | undefined> {
    return (await this.tiles({ ...options, limit: 1 }))[0];
  }

  /** All keys and values of a tile's traces. */
  async paramSet(tile: number, options?: CallOptions): Promise<ParamSet> {
    return (await this.orderedParamSet(tile, options)).toParamSet();
  }

  /** The ordered param set of a tile, which encodes and decodes the ids of its traces. */
  orderedParamSet(tile: number, options?: CallOptions): Promise<OrderedParamSet> {
    return this.#opsRows.at(tile).read(options);
  }

  /** How a query would be run on a tile. */
  async planOf(tile: number, query: QueryLike, options: CallOptions = {}): Promise<Plan> {
    return (await this.#plan(tile, query, new CallDeadline('planning', options))).plan;
  }

  /** The number of index rows of a tile. */
  async countIndices(tile: number, options?: CallOptions): Promise<number> {
    return total(this.table.readKeys({ prefix: indexPrefix(tile) }, options));
  }

  /** The traces that the index of a tile has for one value (as it stands, or as cleaning writes it), in batches; none for an unknown one. */
  async *indexedTraces(
    tile: number,
    key: string,
    value: string,
    options: CallOptions = {},
  ): AsyncGenerator<readonly Pick<PerfTrace, 'id' | 'params'>[], undefined, void> {
    const deadline = new CallDeadline(`reading the index of tile ${tile}`, options);
    const only = makeQuery([{ key, kind: 'one-of', values: [value] }]);
    const { plan, ops } = await this.#plan(tile, only, deadline);
    const place = plan.kind === 'select' ? plan.conditions[0] : undefined;
    if (place === undefined) return;
    const valueIndex = (place.values[0] as PlannedValue).valueIndex;
    const prefix = tileLayout(tile, this.config.shards).indexPrefix(place.keyIndex, valueIndex);
    const decode = this.#decoder(tile, ops, deadline);
    for await (const keys of this.table.readKeys({ prefix }, deadline.next())) {
      yield await namedBy(
        decode,
        keys.map((row) => row.slice(prefix.length)),
      );
    }
  }

  /** Write the index rows of all traces of a tile anew: needed after a crash between traces and index. Returns the rows written. */
  async writeIndices(
    tile: number,
    { onProgress, ...options }: CallOptions & { readonly onProgress?: (rows: number) => void } = {},
  ): Promise<number> {
    const deadline = new CallDeadline(`writing the index of tile ${tile}`, options);
    return this.#writer.writeIndex(
      tile,
      this.#run(tile, { kind: 'all' }, deadline),
      timers.wallMs(),
      deadline,
      onProgress,
    );
  }

  /** Where the value of a trace at a commit came from; undefined when it has none there. */
  async source(commit: number, params: Params, options: CallOptions = {}): Promise<string | undefined> {
    const deadline = new CallDeadline('reading a source', options);
    const tile = this.tileOf(commit);
    const ops = await this.#opsRows.at(tile).read(deadline.next());
    const id = this.#idOf(ops, params);
    if (id === undefined) return undefined;
    const key = traceKey(tile, id, this.config.shards);
    const qualifiers = [String(this.offsetOf(commit))];
    const row = await this.table.readRow(key, { ...deadline.next(), families: [FAMILIES.source], qualifiers });
    const digest = row?.cells[0]?.value;
    if (digest === undefined) return undefined;
    const named = await this.table.readRow(sourceKey(digest), { ...deadline.next(), families: [FAMILIES.name] });
    if (named?.cells[0] !== undefined) return Buffer.from(named.cells[0].value).toString();
    throw storeCorrupt(
      `row ${sourceKey(digest)}, the source of a value of commit ${commit}, is missing in ${this.table.location}`,
    );
  }

  stats(): PerfStats {
    return {
      table: this.table.stats(),
      ops: this.#opsRows.stats(),
      writer: this.#writer.stats(),
      queries: readSlotsOf(this.table).stats(),
    };
  }

  /** Ids and params of the traces of a tile that a query selects. */
  async *#decodedIds(tile: number, query: QueryLike, deadline: CallDeadline): AsyncGenerator<readonly NamedId[]> {
    const { plan, ops } = await this.#plan(tile, query, deadline);
    const decode = this.#decoder(tile, ops, deadline);
    for await (const ids of this.#run(tile, plan, deadline)) yield await namedBy(decode, ids);
  }

  /** The ids of the traces of a tile that a plan selects. */
  #run(tile: number, plan: Plan, deadline: CallDeadline): AsyncGenerator<readonly string[], undefined, void> {
    return runPlan(this.table, plan, tileLayout(tile, this.config.shards), { ...deadline.next(), tile });
  }

  /** The id of a trace; undefined when the tile has none with these params, although it could. */
  #idOf(ops: OrderedParamSet, params: Params): string | undefined {
    const id = ops.idOf(params);
    // What the tile knows was checked when it was written, by whatever rule.
    if (id === undefined) checkParams(params, this.rule);
    return id;
  }

  #decoder(tile: number, ops: OrderedParamSet, deadline: CallDeadline): DecodeIds {
    return idDecoder(this.#opsRows.at(tile), ops, deadline);
  }

  #plan(tile: number, query: QueryLike, deadline: CallDeadline): Promise<{ plan: Plan; ops: OrderedParamSet }> {
    const span = childSpan('query.plan');
    // It ends its span itself: to follow its promise takes another one.
    return under(span, async () => {
      try {
        const ops = await this.#opsRows.at(tile).read(deadline.next());
        const plan = await planQuery(toQuery(query), ops, { ...deadline.next(), rule: this.rule });
        span?.describe(plan.kind === 'empty' ? ['kind', plan.kind, 'reason', plan.unmet] : ['kind', plan.kind]);
        return { ops, plan };
      } catch (error) {
        failSpan(span, error);
        throw error;
      } finally {
        span?.end();
      }
    });
  }
}

const namedBy = async (decode: DecodeIds, ids: readonly string[]): Promise<NamedId[]> => {
  const params = await decode(ids);
  return ids.map((id, i) => ({ id, params: params[i] as Params }));
};

const total = async (batches: AsyncIterable<readonly unknown[]>): Promise<number> => {
  let count = 0;
  for await (const { length } of batches) count += length;
  return count;
};
