// The two-way map between digests and their small ids, shared by all processes through the table. A digest must get one id for ever, and an id one
// digest: the row of the digest decides, by a conditional write; the row of the id is written before it, so that an id that can be met anywhere can
// always be read back. Ids are reserved from one counter in batches, because every increment meets the same row; one whose use is in doubt is thrown
// away: there are 2^53 of them.

import { BoundedCache, chunks, getOrMake, inParallel } from 'spanline/internal/base';
import { inSpan } from '../node-span.js';
import type { CallDeadline } from '../params/call-deadline.js';
import { changeRowIfSame, setCell } from '../table/cells.js';
import type { Mutation, RowMutation, WideColumnTable } from '../table/wide-column-table.js';
import { storeCorrupt, TraceDbError } from '../tracedb-error.js';
import {
  COUNTER_COLUMN,
  COUNTER_ROW,
  DIGEST_FAMILY,
  digestCell,
  INSTANCE_FAMILY,
  idCell,
  idOfColumn,
} from './gold-keys.js';
import { MISSING_DIGEST, MISSING_ID } from './values.js';

/** Gives ids from 1 upwards, each once over all processes. */
class IdSource {
  // Of the last batch: ids from #next to #end, without #end.
  #next = 0;
  #end = 0;
  #batches = 0;
  #last: Promise<unknown> = Promise.resolve();

  readonly #table: WideColumnTable;
  readonly #batchSize: number;

  constructor(table: WideColumnTable, batchSize: number) {
    this.#table = table;
    this.#batchSize = batchSize;
  }

  /** Increments of the counter so far. */
  get batches(): number {
    return this.#batches;
  }

  /** Ids reserved and not given yet. */
  get left(): number {
    return this.#end - this.#next;
  }

  /** `count` ids: what is left of the last batch, then of one new batch. */
  take(count: number, deadline: CallDeadline): Promise<number[]> {
    // One after another: two callers must not reserve a batch each when one is enough.
    const mine = this.#last.then(() => this.#take(count, deadline));
    this.#last = mine.catch(() => undefined);
    return mine;
  }

  async #take(count: number, deadline: CallDeadline): Promise<number[]> {
    const ids = this.#fromBatch(count);
    if (ids.length === count) return ids;
    // Whole batches, so that what a writer of many digests leaves over is still about one.
    const size = Math.ceil((count - ids.length) / this.#batchSize) * this.#batchSize;
    const end = await this.#table.incrementCell(COUNTER_ROW, INSTANCE_FAMILY, COUNTER_COLUMN, size, deadline.next());
    if (!Number.isSafeInteger(end) || end < size) {
      throw storeCorrupt(
        `the counter of digest ids of ${this.#table.location} gave ${end} after adding ${size}; restore its row ${COUNTER_ROW}`,
      );
    }
    this.#batches++;
    this.#next = end - size + 1;
    this.#end = end + 1;
    return [...ids, ...this.#fromBatch(count - ids.length)];
  }

  #fromBatch(count: number): number[] {
    const first = this.#next;
    this.#next = Math.min(this.#end, first + count);
    return Array.from({ length: this.#next - first }, (_, i) => first + i);
  }
}

/** The rows that say which digest each of these ids, in the same order, stands for. */
const idRows = (digests: readonly string[], ids: readonly number[]): RowMutation[] => {
  const rows = new Map<string, Mutation[]>();
  digests.forEach((digest, i) => {
    const { key, column } = idCell(ids[i]);
    // Each cell is written once, so its time decides nothing.
    getOrMake(rows, key, () => []).push(setCell(DIGEST_FAMILY, column, digest));
  });
  return [...rows].map(([key, mutations]) => ({ key, mutations }));
};

/** The id in a cell of row `key`. */
const parseId = (value: Uint8Array, key: string): number => {
  const text = Buffer.from(value).toString('latin1');
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(id)) {
    throw storeCorrupt(
      `row ${key} holds the digest id ${JSON.stringify(text.slice(0, 40))}, which is none; restore it from a backup`,
    );
  }
  return id;
};

/** Digests or id rows asked for in one read; a filter of Bigtable has at most 20 KB. */
const PER_READ = 100;
const READS_AT_ONCE = 8;
const WRITES_AT_ONCE = 64;
/** Id rows written in one call. */
const PER_WRITE = 1000;

/** What the map of digests did in this process. */
export interface DigestIdsStats {
  /** Digests and ids found in memory. */
  readonly hits: number;
  /** Those that were looked up in the table. */
  readonly misses: number;
  /** Reads of the table for them. */
  readonly reads: number;
  /** Rows of the map that came back. */
  readonly rowsRead: number;
  /** Digests that got their id here. */
  readonly assigned: number;
  /** Conditional writes refused because another writer had given the digest an id. */
  readonly refused: number;
  /** Increments of the counter. */
  readonly batches: number;
  /** Ids thrown away: refused, or the write failed. */
  readonly idsDropped: number;
  /** Ids reserved and not used yet. */
  readonly idsLeft: number;
  readonly cached: number;
  readonly evicted: number;
}

/** Digest <-> id. Reads only the rows that hold what it does not know; never the whole map. */
export class DigestIds {
  readonly #ids: BoundedCache<string, number>;
  readonly #digests: BoundedCache<number, string>;
  readonly #source: IdSource;
  readonly #counts = { hits: 0, misses: 0, reads: 0, rowsRead: 0, assigned: 0, refused: 0, idsDropped: 0 };

  readonly #table: WideColumnTable;

  /** Reserves `batchSize` ids at once; keeps `capacity` digests in memory. */
  constructor(table: WideColumnTable, batchSize: number, capacity: number) {
    this.#table = table;
    // A process usually writes or reads, and then one of them stays empty.
    this.#ids = new BoundedCache(Math.ceil(capacity / 2));
    this.#digests = new BoundedCache(Math.ceil(capacity / 2));
    this.#source = new IdSource(table, batchSize);
  }

  /** The ids of `digests`; those that have none get one. */
  async idsOf(digests: Iterable<string>, deadline: CallDeadline): Promise<ReadonlyMap<string, number>> {
    const found = new Map<string, number>();
    const unknown = this.#known(digests, this.#ids, found, MISSING_DIGEST, MISSING_ID);
    if (unknown.length === 0) return found;
    let assigned = 0;
    const ids = async (): Promise<typeof found> => {
      await this.#readIds(unknown, found, deadline);
      const fresh = unknown.filter((digest) => !found.has(digest));
      if (fresh.length > 0) await this.#assign(fresh, found, deadline);
      assigned = fresh.length;
      return found;
    };
    return inSpan('gold.digest-ids', ids, (span) =>
      span.addProperty('unknown', unknown.length).addProperty('fresh', assigned),
    );
  }

  /** The digests of `ids`. Throws `ERR_SPANLINE_STORE_CORRUPT` for an id that was never given. */
  async digestsOf(ids: Iterable<number>, deadline: CallDeadline): Promise<ReadonlyMap<number, string>> {
    const found = new Map<number, string>();
    const unknown = this.#known(ids, this.#digests, found, MISSING_ID, MISSING_DIGEST);
    if (unknown.length > 0) await this.#readDigests(unknown, found, deadline);
    for (const id of unknown) {
      if (!found.has(id)) {
        throw storeCorrupt(
          `digest id ${id} is in a trace of ${this.#table.location}, but has no digest; restore row ${idCell(id).key}`,
        );
      }
    }
    return found;
  }

  stats(): DigestIdsStats {
    return {
      ...this.#counts,
      batches: this.#source.batches,
      idsLeft: this.#source.left,
      cached: this.#ids.size + this.#digests.size,
      evicted: this.#ids.evicted + this.#digests.evicted,
    };
  }

  /** Moves what memory has into `found`; returns the others, each once. */
  #known<K, V>(keys: Iterable<K>, cache: BoundedCache<K, V>, found: Map<K, V>, missing: K, none: V): K[] {
    const unknown: K[] = [];
    for (const key of new Set(keys)) {
      const value = key === missing ? none : cache.get(key);
      if (value === undefined) unknown.push(key);
      else found.set(key, value);
    }
    this.#counts.hits += found.size;
    this.#counts.misses += unknown.length;
    return unknown;
  }

  async #readIds(digests: readonly string[], found: Map<string, number>, deadline: CallDeadline): Promise<void> {
    await inParallel(chunks(digests, PER_READ), READS_AT_ONCE, async (chunk) => {
      // The filters are a set of rows and a set of columns, so a row may bring the column of another digest.
      const digestAt = new Map<string, string>();
      const keys = new Set<string>();
      const columns = new Set<string>();
      for (const digest of chunk) {
        const { key, column } = digestCell(digest);
        digestAt.set(`${key}${column}`, digest);
        keys.add(key);
        columns.add(column);
      }
      await this.#read(keys, columns, deadline, (key, column, value) => {
        const digest = digestAt.get(`${key}${column}`);
        if (digest !== undefined) this.#learn(digest, parseId(value, key), found);
      });
    });
  }

  async #readDigests(ids: readonly number[], found: Map<number, string>, deadline: CallDeadline): Promise<void> {
    const wanted = new Set(ids);
    const idInRow = new Map(ids.map((id) => [idCell(id).key, id]));
    await inParallel(chunks([...idInRow.keys()], PER_READ), READS_AT_ONCE, (keys) =>
      this.#read(keys, undefined, deadline, (key, column, value) => {
        const id = idOfColumn(idInRow.get(key) ?? Number.NaN, column);
        const digest = Buffer.from(value).toString('latin1');
        // An entry never changes once it is written, so its neighbours are kept too: a tile mostly asks for them next.
        this.#digests.set(id, digest);
        if (wanted.has(id)) found.set(id, digest);
      }),
    );
  }

  async #read(
    keys: Iterable<string>,
    columns: Iterable<string> | undefined,
    deadline: CallDeadline,
    each: (key: string, column: string, value: Uint8Array) => void,
  ): Promise<void> {
    this.#counts.reads++;
    const qualifiers = columns === undefined ? undefined : [...columns];
    const options = { ...deadline.next(), families: [DIGEST_FAMILY], qualifiers };
    for await (const rows of this.#table.readRows({ keys: [...keys] }, options)) {
      this.#counts.rowsRead += rows.length;
      for (const { key, cells } of rows) for (const { qualifier, value } of cells) each(key, qualifier, value);
    }
  }

  async #assign(digests: readonly string[], found: Map<string, number>, deadline: CallDeadline): Promise<void> {
    const ids = await this.#source.take(digests.length, deadline);
    let assigned = 0;
    const refused: string[] = [];
    try {
      for (const rows of chunks(idRows(digests, ids), PER_WRITE)) await this.#table.mutateRows(rows, deadline.next());
      await inParallel(digests.entries(), WRITES_AT_ONCE, async ([i, digest]) => {
        const { key, column: qualifier } = digestCell(digest);
        const mutations = [setCell(DIGEST_FAMILY, qualifier, String(ids[i]))];
        const absent = { family: DIGEST_FAMILY, qualifier, value: undefined };
        if (!(await changeRowIfSame(this.#table, key, absent, mutations, deadline.next()))) {
          refused.push(digest);
          return;
        }
        assigned++;
        this.#learn(digest, ids[i], found);
      });
    } finally {
      // Also those whose write failed: it may have happened all the same, and then the id is in use.
      this.#counts.idsDropped += digests.length - assigned;
      this.#counts.assigned += assigned;
      this.#counts.refused += refused.length;
    }
    if (refused.length === 0) return;
    await this.#readIds(refused, found, deadline);
    const lost = refused.find((digest) => !found.has(digest));
    if (lost !== undefined) {
      throw new TraceDbError(
        'ERR_SPANLINE_CONFLICT',
        `the id of digest ${lost} was deleted from ${this.#table.location} while it was read; write again`,
      );
    }
  }

  #learn(digest: string, id: number, found: Map<string, number>): void {
    found.set(digest, id);
    this.#ids.set(digest, id);
  }
}
