// Reads traces and series. Traces of a tile by id, or by the stream of ids of a query, a batch at a time while the next ids are found. A series has
// another id in each tile, so over all tiles the names come first, from ids alone, and then the values of a few series at a time: of all series no
// more than names and ids may be held.
import type { Span } from 'spanline';
import { getOrMake } from 'spanline/internal/base';
import { failSpan } from '../node-span.js';
import { CallDeadline } from '../params/call-deadline.js';
import type { DecodeIds } from '../params/ops-rows.js';
import { type Params, structuredKeyOf } from '../params/param-text.js';
import type { CallOptions, ReadOptions, WideColumnTable } from '../table/wide-column-table.js';
import { offsetOf, tileOf } from '../tile.js';
import { tableLimit } from '../tracedb-error.js';
import type { Commit, CommitLog, CommitRange } from './commit-log.js';
import { FAMILIES, type PerfConfig, traceKey, valuesOf } from './keys.js';

/** A trace in one tile. */
export interface PerfTrace {
  /** Its encoded id, which holds in this tile only. */
  readonly id: string;
  readonly params: Params;
  /** One value a commit of the tile; NaN where there is none. */
  readonly values: Float32Array;
}

/** The values of the traces with these ids that the tile has; of only some columns, where these are named. */
const readValues = async (
  table: WideColumnTable,
  { tileSize, shards }: PerfConfig,
  tile: number,
  ids: readonly string[],
  options: ReadOptions,
): Promise<ReadonlyMap<string, Float32Array>> => {
  const idOfKey = new Map(ids.map((id) => [traceKey(tile, id, shards), id]));
  const found = new Map<string, Float32Array>();
  const read = table.readRows({ keys: [...idOfKey.keys()] }, { ...options, families: [FAMILIES.value] });
  for await (const rows of read) {
    for (const { key, cells } of rows) {
      found.set(idOfKey.get(key) as string, valuesOf(key, cells, tileSize));
    }
  }
  return found;
};

/** The traces with these ids that the tile has, in the order of `ids`. `span`, which is that of this work, ends with it: to wait for it takes more promises. */
export const readTraces = async (
  table: WideColumnTable,
  config: PerfConfig,
  tile: number,
  ids: readonly string[],
  decode: DecodeIds,
  options: CallOptions,
  span?: Span,
): Promise<PerfTrace[]> => {
  try {
    const found = await readValues(table, config, tile, ids, options);
    const present = ids.filter((id) => found.has(id));
    const params = await decode(present);
    span?.describe(['ids', ids.length, 'traces', present.length]);
    return present.map((id, i) => ({ id, params: params[i] as Params, values: found.get(id) as Float32Array }));
  } catch (error) {
    failSpan(span, error);
    throw error;
  } finally {
    span?.end();
  }
};

/** The traces behind a stream of ids. The ids of the next batch are found while the traces of this one are read. */
export async function* readTracesOf(
  idBatches: AsyncIterator<readonly string[]>,
  read: (ids: readonly string[]) => Promise<PerfTrace[]>,
): AsyncGenerator<readonly PerfTrace[], undefined, void> {
  try {
    let pending = idBatches.next();
    for (;;) {
      const { done, value: ids } = await pending;
      if (done) return;
      pending = idBatches.next();
      // Its failure is met at the top of the loop; until then it must not count as unhandled.
      pending.catch(() => {});
      const traces = await read(ids);
      if (traces.length > 0) yield traces;
    }
  } finally {
    await idBatches.return?.();
  }
}

/** Which histories are read. */
export interface QuerySeriesOptions extends CommitRange, CallOptions {
  /** Most series. Default 1,000,000; more is an error. A name takes some 200 bytes, and an id some 50 for each tile. */
  readonly maxSeries?: number;
}

/** The history of one series. */
export interface PerfSeries {
  /** Structured key. */
  readonly key: string;
  readonly params: Params;
  /** The commits that have a value, ascending by number. */
  readonly commits: readonly Commit[];
  /** One a commit. */
  readonly values: readonly number[];
}

/** A trace of a tile, without its values. */
export interface NamedId {
  readonly id: string;
  readonly params: Params;
}

/** The store that is read. */
interface SeriesSource {
  readonly table: WideColumnTable;
  readonly config: PerfConfig;
  readonly commits: CommitLog;
  tiles(options: CallOptions): Promise<readonly number[]>;
}

/** The traces of a tile that the query selects. */
type IdsOf = (tile: number, deadline: CallDeadline) => AsyncIterable<readonly NamedId[]>;

/** The commits of one tile that are wanted, by column. */
interface TileColumns {
  readonly tile: number;
  readonly commits: readonly (Commit | undefined)[];
  /** The columns, where they are so few that the others need not be read; else undefined. */
  readonly qualifiers: readonly string[] | undefined;
}

interface NamedSeries {
  readonly params: Params;
  /** Its id in each tile that has it, by place in the list of tiles. */
  readonly ids: Map<number, string>;
}

// Values of one batch, and series of one read: enough that a read costs nothing beside its values.
const BATCH_VALUES = 500_000;
const BATCH_SERIES = 512;
/** Columns are named to the store when they are fewer than this share of a tile. */
const FEW_COLUMNS = 1 / 4;

const columnsOf = (commits: readonly Commit[], tiles: ReadonlySet<number>, tileSize: number): TileColumns[] => {
  const byTile = new Map<number, (Commit | undefined)[]>();
  for (const commit of commits) {
    const tile = tileOf(commit.number, tileSize);
    if (!tiles.has(tile)) continue;
    const columns = getOrMake(byTile, tile, () => new Array<undefined>(tileSize).fill(undefined));
    columns[offsetOf(commit.number, tileSize)] = commit;
  }
  return [...byTile].map(([tile, columns]) => {
    const offsets = [...columns.keys()].filter((offset) => columns[offset] !== undefined);
    const isFew = offsets.length < tileSize * FEW_COLUMNS;
    return { tile, commits: columns, qualifiers: isFew ? offsets.map(String) : undefined };
  });
};

const namesOf = async (
  idsOf: IdsOf,
  tiles: readonly TileColumns[],
  maxSeries: number,
  deadline: CallDeadline,
): Promise<[key: string, series: NamedSeries][]> => {
  const found = new Map<string, NamedSeries>();
  for (const [place, { tile }] of tiles.entries()) {
    for await (const batch of idsOf(tile, deadline)) {
      for (const { id, params } of batch) {
        const key = structuredKeyOf(params);
        getOrMake(found, key, () => ({ params, ids: new Map() })).ids.set(place, id);
      }
      if (found.size <= maxSeries) continue;
      throw tableLimit(`the query selects more than ${maxSeries} series; name more keys, or raise maxSeries`);
    }
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1));
};

const historiesOf = async (
  { table, config }: SeriesSource,
  tiles: readonly TileColumns[],
  some: readonly (readonly [key: string, series: NamedSeries])[],
  deadline: CallDeadline,
): Promise<PerfSeries[]> => {
  const histories = some.map(([key, { params }]) => ({
    key,
    params,
    commits: [] as Commit[],
    values: [] as number[],
  }));
  for (const [place, { tile, commits, qualifiers }] of tiles.entries()) {
    const ids = some.map(([, series]) => series.ids.get(place));
    const wanted = ids.filter((id) => id !== undefined);
    if (wanted.length === 0) continue;
    const found = await readValues(table, config, tile, wanted, { ...deadline.next(), qualifiers });
    for (let i = 0; i < ids.length; i++) {
      const values = found.get(ids[i] as string);
      if (values === undefined) continue;
      const history = histories[i] as (typeof histories)[number];
      for (let offset = 0; offset < values.length; offset++) {
        const value = values[offset] as number;
        const commit = commits[offset];
        if (Number.isNaN(value) || commit === undefined) continue;
        history.commits.push(commit);
        history.values.push(value);
      }
    }
  }
  return histories.filter(({ values }) => values.length > 0);
};

/** The series of a source that have a value in the range, sorted by key, in batches. */
export async function* seriesOf(
  source: SeriesSource,
  idsOf: IdsOf,
  { maxSeries = 1_000_000, signal, deadlineMs, ...range }: QuerySeriesOptions,
): AsyncGenerator<readonly PerfSeries[], undefined, void> {
  const deadline = new CallDeadline('reading series', { signal, deadlineMs });
  const commits = await source.commits.list(range, deadline.next());
  const tiles = columnsOf(commits, new Set(await source.tiles(deadline.next())), source.config.tileSize);
  const names = await namesOf(idsOf, tiles, maxSeries, deadline);
  const size = Math.min(BATCH_SERIES, Math.max(1, Math.floor(BATCH_VALUES / Math.max(1, commits.length))));
  for (let at = 0; at < names.length; at += size) {
    const histories = await historiesOf(source, tiles, names.slice(at, at + size), deadline);
    if (histories.length > 0) yield histories;
  }
}
