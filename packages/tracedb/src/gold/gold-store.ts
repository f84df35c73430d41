// The Gold store: digests of results by trace and commit, and the cells with the settings it was made with. It must hold nothing of the data but
// bounded caches, so that any number of processes can have one over the same table. Digests may be those of the shapes of traces: a name is a test of
// the store, which people triage like any other; the drawn tree is kept with the digest, so that they see what they triage, and how it differs from
// what they accepted.
import { timers, wholeNumber } from 'spanline/internal/base';
import type { KeptShape, ShapeStore } from 'spanline/testing';
import { inSpan } from '../node-span.js';
import { CallDeadline } from '../params/call-deadline.js';
import { OpsRows, type OpsRowsStats } from '../params/ops-rows.js';
import type { OrderedParamSet } from '../params/ordered-param-set.js';
import { type CleaningRule, cleaningRule, DEFAULT_RULE, forceValid } from '../params/param-text.js';
import { openSettings, type SettingsRow } from '../params/store-settings.js';
import type { CommitInfo } from '../perf/commit-log.js';
import { fitQuery } from '../query/known-query.js';
import type { Query } from '../query/query.js';
import { setCell, textOf } from '../table/cells.js';
import type { CallOptions, WideColumnTable } from '../table/wide-column-table.js';
import { checkCommit, MAX_TILE, MAX_TILE_SIZE, MIN_TILE_SIZE } from '../tile.js';
import { invalidInput, storeCorrupt } from '../tracedb-error.js';
import { type Blame, blameUntriaged, tracesByTest } from './blame.js';
import { DigestIds, type DigestIdsStats } from './digest-ids.js';
import { Expectations } from './expectations.js';
import {
  checkEntries,
  checkedInfo,
  type GoldEntry,
  type GoldParts,
  infoRow,
  readInfos,
  readTexts,
  writeEntries,
} from './gold-entry.js';
import {
  DIGEST_FAMILY,
  digestMapPrefix,
  GOLD_SHARDS,
  HASH_COLUMN,
  INSTANCE_FAMILY,
  OPS_COLUMN,
  OPS_FAMILY,
  opsRowKey,
  PREFIX_DIGITS,
  SETTINGS_ROW,
} from './gold-keys.js';
import { type GoldTile, GoldTileReader, type TraceFragment } from './gold-tile-reader.js';
import { IgnoreRules } from './ignore-rules.js';
import { readShards } from './merge-streams.js';
import { type DigestResults, type DigestSearch, searchDigests } from './search-digests.js';
import { DEFAULT_DIGEST_DIGITS, type Time, toMs } from './values.js';

/** Of the drawn tree, what the text of a digest may hold. */
const MAX_SHOWN = 60_000;
/** Where the cut goes through a character. */
const HALF_PAIR = /[\ud800-\udbff]$/;

/** What cannot change once a table has data. */
export interface GoldSettings {
  /** Commits of a tile, 1 to 8192. */
  readonly tileSize: number;
  /** Hex digits of a digest, 8 to 128. */
  readonly digestDigits: number;
}

/** The inside of the character class of the store's rule; absent where it is the default. */
const ALLOWED_COLUMN = 'allowed';

/** The row of the settings. */
const GOLD_SETTINGS: SettingsRow<GoldSettings> = {
  key: SETTINGS_ROW,
  family: INSTANCE_FAMILY,
  column: 'tileSize',
  // With fewer digits the ones that name a row would be all of a digest; no hash in use has more.
  bounds: { tileSize: [MIN_TILE_SIZE, MAX_TILE_SIZE], digestDigits: [8, 128] },
  defaults: { tileSize: 256, digestDigits: DEFAULT_DIGEST_DIGITS },
  parse({ cells }, location) {
    const numberOf = (name: string): number => {
      const text = textOf(cells, name) ?? '';
      if (/^\d{1,9}$/.test(text)) return Number(text);
      throw storeCorrupt(`row ${SETTINGS_ROW} of ${location} has no ${name}; restore it from a backup`);
    };
    const allowed = textOf(cells, ALLOWED_COLUMN);
    return {
      settings: { tileSize: numberOf('tileSize'), digestDigits: numberOf('digestDigits') },
      rule: allowed === undefined ? DEFAULT_RULE : cleaningRule(allowed),
    };
  },
  cells({ settings, rule: { allowed } }) {
    const cells = Object.entries(settings).map(([name, value]) => setCell(INSTANCE_FAMILY, name, String(value)));
    return allowed === DEFAULT_RULE.allowed ? cells : [...cells, setCell(INSTANCE_FAMILY, ALLOWED_COLUMN, allowed)];
  },
};

/** How a Gold store is opened. */
export interface GoldStoreOptions extends Partial<GoldSettings>, CallOptions {
  /** Which characters params may have. Default: what the store was made with, and for a new one `[A-Za-z0-9._-]`. */
  readonly rule?: CleaningRule;
  /** Digest ids reserved at once, 1 to 1,000,000. Default 100. */
  readonly idBatch?: number;
  /** Digests kept in memory, 2 to 100,000,000. Default 200,000; one takes about 150 bytes. */
  readonly cachedDigests?: number;
  /** Shards read at once, 1 to 32. Default 8. */
  readonly shardReads?: number;
}

/** How entries are put. */
export interface PutOptions extends CallOptions {
  /** Time by which the options of traces count, so that those of the latest commit stay. Default: the time of the call. */
  readonly optionsTime?: Time;
  /** Hash and time of the commit, for people to read beside its number. */
  readonly commitInfo?: CommitInfo;
}

/** How a tile is read. */
export interface TileOptions extends CallOptions {
  /** Number of the last commit. Default: the newest one at which a trace has a digest. */
  readonly last?: number;
}

/** What a Gold store did in this process. */
export interface GoldStats {
  readonly puts: number;
  readonly entries: number;
  readonly tracesWritten: number;
  readonly tilesRead: number;
  readonly digests: DigestIdsStats;
  readonly ops: OpsRowsStats;
}

/** Commits of one tile a reader may ask for. */
const MAX_TILE_COMMITS = 100_000;

/**
 * Digests of results (images, or anything that is equal or not) by trace and commit, with what people said of them.
 *
 * Open one over a table with the families of `GOLD_SCHEMA`, on LMDB or Bigtable; any number of processes may. The table is
 * yours: close it when done. Design: Skia Gold's trace store on Bigtable.
 *
 * @example
 * ```ts
 * import { GOLD_SCHEMA, GoldStore, openTable } from '@spanline/tracedb';
 *
 * const table = await openTable('./gold-digests', GOLD_SCHEMA);
 * const gold = await GoldStore.open(table);
 * const params = { name: 'circle', config: '8888' };
 * await gold.put(7, [{ params, digest: '0cc175b9c0f1b6a831c399e269772661' }], Date.now());
 * const tile = await gold.getTile(10);
 * console.assert(tile.commits.length === 8 && tile.traces[0].digests[7].startsWith('0cc1'));
 * await table.close();
 * ```
 */
export class GoldStore implements ShapeStore {
  /** What people said of digests. */
  readonly expectations: Expectations;
  /** Which traces are left out of searches. */
  readonly ignores: IgnoreRules;
  readonly #parts: GoldParts;
  readonly #reader: GoldTileReader;
  readonly #counts = { puts: 0, entries: 0, tracesWritten: 0, tilesRead: 0 };

  private constructor(
    /** The table it was opened over. */
    readonly table: WideColumnTable,
    /** What the table was made with. */
    readonly settings: GoldSettings,
    /** How its params are cleaned: by `spanline gold put`, and in queries. `put` takes only what needs no cleaning. */
    readonly rule: CleaningRule,
    { idBatch = 100, cachedDigests = 200_000, shardReads = 8 }: GoldStoreOptions,
  ) {
    const opsRows = new OpsRows(table, (tile) => ({
      key: opsRowKey(tile),
      family: OPS_FAMILY,
      opsColumn: OPS_COLUMN,
      hashColumn: HASH_COLUMN,
    }));
    wholeNumber('idBatch', idBatch, [1, 1_000_000], invalidInput);
    wholeNumber('cachedDigests', cachedDigests, [2, 100_000_000], invalidInput);
    const digestIds = new DigestIds(table, idBatch, cachedDigests);
    wholeNumber('shardReads', shardReads, [1, GOLD_SHARDS.length], invalidInput);
    this.#parts = { table, tileSize: settings.tileSize, opsRows, digestIds, shardReads };
    this.#reader = new GoldTileReader(this.#parts);
    this.expectations = new Expectations(table, settings.digestDigits);
    this.ignores = new IgnoreRules(table);
  }

  /**
   * The store in `table`. A new table is made with `tileSize` (256) and `digestDigits` (32, MD5), which stay; rejects with
   * `ERR_SPANLINE_INVALID_INPUT` when the table was made with others.
   */
  static async open(table: WideColumnTable, options: GoldStoreOptions = {}): Promise<GoldStore> {
    const { tileSize, digestDigits, rule } = options;
    const deadline = new CallDeadline(`opening the Gold store in ${table.location}`, options);
    const stored = await openSettings(table, GOLD_SETTINGS, { tileSize, digestDigits }, rule, deadline);
    return new GoldStore(table, stored.settings, rule ?? stored.rule, options);
  }

  /**
   * Put what traces gave at one commit; `commit` is its number, 0 for the first. `time` decides between two values of one cell: an
   * older one never replaces a newer one, an equal one does. Of several entries for one trace the last counts.
   *
   * Rejects with `ERR_SPANLINE_INVALID_INPUT` before anything is written when an entry is wrong. After any other error putting the
   * same again is right.
   */
  async put(commit: number, entries: readonly GoldEntry[], time: Time, options: PutOptions = {}): Promise<void> {
    checkCommit(commit);
    const digestMs = toMs('time', time);
    const optionsMs = options.optionsTime === undefined ? digestMs : toMs('optionsTime', options.optionsTime);
    const info = options.commitInfo && checkedInfo(options.commitInfo);
    checkEntries(entries, this.settings.digestDigits, this.rule);
    if (entries.length === 0) return;
    const deadline = new CallDeadline(`putting commit ${commit}`, options);
    if (info !== undefined) await this.table.mutateRows([infoRow(commit, info, digestMs)], deadline.next());
    const rows = await inSpan(
      'gold.put',
      () => writeEntries(this.#parts, commit, entries, { digestMs, optionsMs }, deadline),
      (span, written) => span.addProperties({ commit, entries: entries.length, rows: written }),
    );
    this.#counts.puts++;
    this.#counts.entries += entries.length;
    this.#counts.tracesWritten += rows;
  }

  /** Traces at the last `nCommits` commits, with or without data; fewer when there are not so many. At most 100,000. */
  getTile(nCommits: number, options: TileOptions = {}): Promise<GoldTile> {
    return this.#read('gold.tile', false, nCommits, options);
  }

  /** Traces at the last `nCommits` commits of those at which at least one trace has a digest. At most 100,000. */
  getDenseTile(nCommits: number, options: TileOptions = {}): Promise<GoldTile> {
    return this.#read('gold.dense-tile', true, nCommits, options);
  }

  /**
   * Digests of the last `nCommits` commits with data, by query, status and ignore rules as they are now; by default what people
   * must look at: untriaged, not ignored, and still there at the last result of a trace.
   */
  async search(nCommits: number, search: DigestSearch = {}, options: TileOptions = {}): Promise<DigestResults> {
    const tile = await this.getDenseTile(nCommits, options);
    const statusOf = await this.expectations.statuses(tracesByTest(tile, search.testKey).keys(), options);
    // A rule may name what none of these traces has; that is no reason to read it in another way.
    const adapt = (query: Query): Query => fitQuery(query, tile.paramSet, this.rule);
    const ignoreOf = await this.ignores.matcher(undefined, options, adapt);
    return searchDigests(tile, statusOf, ignoreOf, { rule: this.rule, ...search });
  }

  /** Which of the last `nCommits` commits with data may have brought each digest that is untriaged now; see `blameDigest`. */
  async blame(nCommits: number, testKey?: string, options: TileOptions = {}): Promise<readonly Blame[]> {
    const tile = await this.getDenseTile(nCommits, options);
    const statusOf = await this.expectations.statuses(tracesByTest(tile, testKey).keys(), options);
    return blameUntriaged(tile, statusOf, testKey);
  }

  /**
   * Puts the digest of a trace's shape, as `expectTraceShape` of `spanline/testing` asks. Undefined when people accepted it; else what to tell the
   * developer. With `accepts` it is said to be right in the name of whoever runs the test.
   */
  async checkShape(
    { name, digest, drawn, commit, commitInfo }: KeptShape,
    accepts: boolean,
  ): Promise<string | undefined> {
    const params = forceValid({ name, kind: 'trace-shape' }, this.rule);
    const test = params.name;
    const text = drawn.length <= MAX_SHOWN ? drawn : `${drawn.slice(0, MAX_SHOWN).replace(HALF_PAIR, '')}…`;
    await this.put(commit, [{ params, digest, text }], timers.wallMs(), { commitInfo });
    if (accepts) {
      await this.expectations.triage([{ test, digest, status: 'positive' }], { by: 'expectTraceShape' });
      return undefined;
    }
    const { status } = await this.expectations.get(test, digest);
    if (status === 'positive') return undefined;
    const remedy = `spanline gold triage --store ${JSON.stringify(this.table.location)} ${test} positive ${digest}`;
    return status === 'negative'
      ? `the trace ${name} has a shape that was said to be wrong (${digest}):\n\n${drawn}`
      : `the trace ${name} has a shape that nobody has triaged. If it is right: ${remedy}\n\n${drawn}`;
  }

  /** What digests are, as the entries said that brought them; those without a text are absent. */
  texts(digests: readonly string[], options: CallOptions = {}): Promise<ReadonlyMap<string, string>> {
    return readTexts(this.table, digests, new CallDeadline('reading the texts of digests', options));
  }

  /** Hash and time of commits, by number, where whoever put results said them (`commitInfo`). */
  commitInfos(commits: readonly number[], options: CallOptions = {}): Promise<ReadonlyMap<number, CommitInfo>> {
    return readInfos(this.table, commits, new CallDeadline('reading what is known of commits', options));
  }

  /** Keys and values of the traces of one stored tile. */
  async orderedParamSet(tile: number, options: CallOptions = {}): Promise<OrderedParamSet> {
    wholeNumber('tile', tile, [0, MAX_TILE], invalidInput);
    const deadline = new CallDeadline(`reading the param set of tile ${tile}`, options);
    return this.#parts.opsRows.at(tile).read(deadline.next());
  }

  /** Numbers of the stored tiles, newest first. */
  tiles(options: CallOptions = {}): AsyncIterableIterator<number> {
    return this.#reader.tiles(new CallDeadline('listing the tiles', options));
  }

  /**
   * Every cell of one stored tile, a batch of traces at a time, in no order; for data larger than memory. A trace comes once; stop
   * with a `break`.
   */
  traces(tile: number, options: CallOptions = {}): AsyncIterableIterator<readonly TraceFragment[]> {
    wholeNumber('tile', tile, [0, MAX_TILE], invalidInput);
    const range = { first: 0, last: Number.MAX_SAFE_INTEGER };
    return this.#reader.traces(tile, range, new CallDeadline(`reading tile ${tile}`, options));
  }

  /** Every digest that was ever put, a batch at a time, in no order. */
  async *digests(options: CallOptions = {}): AsyncGenerator<readonly string[], void, undefined> {
    const deadline = new CallDeadline('listing the digests', options);
    const read = { families: [DIGEST_FAMILY] };
    for await (const rows of readShards(this.table, digestMapPrefix, read, this.#parts.shardReads, deadline)) {
      yield rows.flatMap(({ key, cells }) => cells.map(({ qualifier }) => key.slice(-PREFIX_DIGITS) + qualifier));
    }
  }

  stats(): GoldStats {
    const { digestIds, opsRows } = this.#parts;
    return { ...this.#counts, digests: digestIds.stats(), ops: opsRows.stats() };
  }

  async #read(name: string, isDense: boolean, nCommits: number, { last, ...call }: TileOptions): Promise<GoldTile> {
    wholeNumber('nCommits', nCommits, [1, MAX_TILE_COMMITS], invalidInput);
    if (last !== undefined) checkCommit(last);
    const deadline = new CallDeadline(`reading ${nCommits} commits`, call);
    const { tile, tilesRead } = await inSpan(
      name,
      () => this.#reader.readTile(nCommits, isDense, last, deadline),
      (span, { tile, tilesRead }) =>
        span.addProperties({ commits: tile.commits.length, traces: tile.traces.length, tiles: tilesRead }),
    );
    this.#counts.tilesRead += tilesRead;
    return tile;
  }
}
