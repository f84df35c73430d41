// Writes points of traces: first the param set, then sources and values, then the index. In this order a crash can leave a trace
// without index rows (writeIndices repairs that), but never a row whose id nobody can read.
import { BoundedCache, chunks, getOrMake } from 'spanline/internal/base';
import { inSpan } from '../node-span.js';
import { CallDeadline } from '../params/call-deadline.js';
import type { OpsRows } from '../params/ops-rows.js';
import { type CleaningRule, checkParams, MAX_PARAMS, type Params } from '../params/param-text.js';
import { setCell } from '../table/cells.js';
import { MAX_TIMESTAMP_MS } from '../table/checked-table.js';
import type { CallOptions, Mutation, RowMutation, WideColumnTable } from '../table/wide-column-table.js';
import { checkCommit, offsetOf, tileOf } from '../tile.js';
import { invalidInput } from '../tracedb-error.js';
import { FAMILIES, indexKeys, type PerfConfig, sourceDigest, sourceKey, traceKey, valueMutations } from './keys.js';

/** A value of a trace. */
export interface Point {
  readonly params: Params;
  /** Finite within float32; NaN means missing and is not written. */
  readonly value: number;
}

/** The points of one commit. */
export interface CommitPoints {
  /** Number of the commit. */
  readonly commit: number;
  /** Where they come from, such as the name of a file. */
  readonly source: string;
  /** When they were measured, Unix milliseconds: a later measurement replaces an earlier one, whatever the order of writing. */
  readonly timestampMs: number;
  readonly points: readonly Point[];
}

/** What a write did. */
export interface WriteResult {
  readonly points: number;
  /** Points without a value. */
  readonly missing: number;
  /** Traces whose index rows were written. */
  readonly indexed: number;
}

/** Points that may be written. */
interface CheckedPoints {
  readonly tile: number;
  readonly commit: CommitPoints;
  /** The id of each point; undefined where the tile's param set must first grow. */
  readonly ids: readonly (string | undefined)[];
  /** Params the param set may lack. */
  readonly unknown: readonly Params[];
}

// Mutations of one call of the table: far below its limit, since a call holds up the event loop while LMDB applies it.
const CALL_MUTATIONS = 10_000;
const EMPTY = new Uint8Array(0);
// The longest path, and the run in the file behind it.
const MAX_SOURCE_LENGTH = 8192;
// A param takes four characters of an id at least, so that a shorter one has no more of them than a trace may have.
const MANY_PARAMS_ID = 4 * MAX_PARAMS;
const MAX_FLOAT32 = 3.4028234663852886e38;

/** Writes to the tiles of a store. */
export class TraceWriter {
  readonly #sources: BoundedCache<string, Uint8Array>;
  /** Traces whose index rows are there, by tile and id: the keys of their rows. */
  readonly #indexed: BoundedCache<string, string>;

  readonly #table: WideColumnTable;
  readonly #config: PerfConfig;
  readonly #opsRows: OpsRows;
  readonly #rule: CleaningRule;

  constructor(table: WideColumnTable, config: PerfConfig, opsRows: OpsRows, rule: CleaningRule, cachedTraces: number) {
    this.#table = table;
    this.#config = config;
    this.#opsRows = opsRows;
    this.#rule = rule;
    this.#sources = new BoundedCache(10_000);
    this.#indexed = new BoundedCache(cachedTraces);
  }

  /** Write the points of some commits. */
  async write(commits: readonly CommitPoints[], options?: CallOptions): Promise<WriteResult> {
    const byTile = new Map<number, CheckedPoints[]>();
    for (const commit of commits) {
      const checked = this.#check(commit);
      getOrMake(byTile, checked.tile, () => []).push(checked);
    }
    const deadline = new CallDeadline(`writing traces to ${this.#table.location}`, options);
    await this.#writeSources(commits, deadline);
    const total = { points: 0, missing: 0, indexed: 0 };
    for (const [tile, some] of byTile) {
      const { points, missing, indexed } = await inSpan(
        'perf.write-tile',
        () => this.#writeTile(tile, some, deadline),
        (span, result) => span.addProperties({ tile, ...result }),
      );
      total.points += points;
      total.missing += missing;
      total.indexed += indexed;
    }
    return total;
  }

  /** Write the index rows of traces of a tile, by batches of ids; returns the number of rows. */
  async writeIndex(
    tile: number,
    batches: AsyncIterable<Iterable<string>> | Iterable<Iterable<string>>,
    timestampMs: number,
    deadline: CallDeadline,
    onProgress?: (rows: number) => void,
  ): Promise<number> {
    let rows: RowMutation[] = [];
    let written = 0;
    const flush = async (): Promise<void> => {
      if (rows.length === 0) return;
      await this.#table.mutateRows(rows, deadline.next());
      written += rows.length;
      rows = [];
      onProgress?.(written);
    };
    const mutations = [setCell(FAMILIES.index, 'E', EMPTY, timestampMs)];
    for await (const ids of batches) {
      for (const id of ids) {
        for (const key of indexKeys(tile, id)) rows.push({ key, mutations });
        if (rows.length >= CALL_MUTATIONS) await flush();
      }
    }
    await flush();
    return written;
  }

  stats() {
    return {
      indexedCached: this.#indexed.size,
      indexedEvicted: this.#indexed.evicted,
      sourcesCached: this.#sources.size,
      sourcesEvicted: this.#sources.evicted,
    };
  }

  async #writeTile(tile: number, commits: readonly CheckedPoints[], deadline: CallDeadline): Promise<WriteResult> {
    const unknown = commits.flatMap(({ unknown }) => unknown);
    const ops = await this.#opsRows.at(tile).update(unknown, deadline.next());
    const fresh = new Map<string, { readonly id: string; readonly key: string }>();
    const newest = commits.reduce((max, { commit }) => Math.max(max, commit.timestampMs), 0);
    let points = 0;
    let missing = 0;
    let rows: RowMutation[] = [];
    let mutations = 0;
    // Only points of several commits come to a row more than once, but for mistakes, which cost no more than another row.
    const mutationsOf = commits.length > 1 ? new Map<string, Mutation[]>() : undefined;
    const flush = async (): Promise<void> => {
      if (rows.length === 0) return;
      await this.#table.mutateRows(rows, deadline.next());
      rows = [];
      mutationsOf?.clear();
      mutations = 0;
    };
    for (const { commit, ids } of commits) {
      const { source, timestampMs } = commit;
      const qualifier = String(offsetOf(commit.commit, this.#config.tileSize));
      const digest = this.#sources.get(source) ?? sourceDigest(source);
      for (let i = 0; i < ids.length; i++) {
        const { params, value } = commit.points[i];
        if (Number.isNaN(value)) {
          missing++;
          continue;
        }
        const id = ids[i] ?? ops.encode(params);
        const entry = `${tile}${id}`;
        let key = this.#indexed.get(entry);
        if (key === undefined) {
          key = traceKey(tile, id, this.#config.shards);
          fresh.set(entry, { id, key });
        }
        const cells = valueMutations(qualifier, value, digest, timestampMs);
        const others = mutationsOf?.get(key);
        if (others === undefined) {
          rows.push({ key, mutations: cells });
          mutationsOf?.set(key, cells);
        } else {
          others.push(...cells);
        }
        points++;
        mutations += 2;
        if (mutations >= CALL_MUTATIONS) await flush();
      }
    }
    await flush();
    const ids = Array.from(fresh.values(), ({ id }) => id);
    await this.writeIndex(tile, [ids], newest, deadline);
    for (const [entry, { key }] of fresh) this.#indexed.set(entry, key);
    return { points, missing, indexed: fresh.size };
  }

  /** Sources come before the cells that name them. */
  async #writeSources(commits: readonly CommitPoints[], deadline: CallDeadline): Promise<void> {
    const fresh = new Map<string, { readonly digest: Buffer; readonly timestampMs: number }>();
    for (const { source, timestampMs } of commits) {
      if (this.#sources.get(source) === undefined) fresh.set(source, { digest: sourceDigest(source), timestampMs });
    }
    if (fresh.size === 0) return;
    const rows = Array.from(fresh, ([source, { digest, timestampMs }]) => ({
      key: sourceKey(digest),
      mutations: [setCell(FAMILIES.name, 'S', source, timestampMs)],
    }));
    for (const some of chunks(rows, CALL_MUTATIONS)) await this.#table.mutateRows(some, deadline.next());
    for (const [source, { digest }] of fresh) this.#sources.set(source, digest);
  }

  /** Refuses what cannot be written, and finds the ids of what the tile knows. */
  #check(points: CommitPoints): CheckedPoints {
    this.#checkCommit(points);
    const tile = tileOf(points.commit, this.#config.tileSize);
    const ops = this.#opsRows.cached(tile);
    const ids: (string | undefined)[] = [];
    const unknown: Params[] = [];
    for (const { params, value } of points.points) {
      // What the tile knows was checked when it came; the checks cost more than the look-up.
      const id = ops?.idOf(params);
      // But for their number: a tile may know each of many more params than one trace may have.
      if (id === undefined || id.length >= MANY_PARAMS_ID) checkParams(params, this.#rule);
      checkValue(points.commit, params, value);
      ids.push(id);
      // A series without any value is not a trace: its params would be offered by the tile and select nothing.
      if (id === undefined && !Number.isNaN(value)) unknown.push(params);
    }
    return { tile, commit: points, ids, unknown };
  }

  #checkCommit({ commit, source, timestampMs }: CommitPoints): void {
    checkCommit(commit);
    if (typeof source !== 'string' || source === '' || source.length > MAX_SOURCE_LENGTH) {
      throw invalidInput(`the source of commit ${commit} must be a name of 1 to ${MAX_SOURCE_LENGTH} characters`);
    }
    if (!Number.isInteger(timestampMs) || timestampMs < 0 || timestampMs > MAX_TIMESTAMP_MS) {
      throw invalidInput(
        `timestampMs of commit ${commit} must be whole milliseconds since 1970, up to the year 9999, not ${timestampMs}`,
      );
    }
  }
}

const checkValue = (commit: number, params: Params, value: number): void => {
  if (typeof value === 'number' && (Number.isNaN(value) || Math.abs(value) <= MAX_FLOAT32)) return;
  throw invalidInput(
    `a value of commit ${commit}, ${JSON.stringify(params)}, must be a number within float32 or NaN for missing, not ${String(value)}`,
  );
};
