// The embedded engine: a wide-column table in one LMDB file. Many processes may read while one writes; a write is flushed to disk
// before it is acknowledged, and a call of mutateRows is one transaction: all of it or nothing.
import { timers } from 'spanline/internal/base';
import { CallGuard } from '../call-guard.js';
import { CheckedTable, COUNTER_BYTES, checkRowLimit, type Read } from '../checked-table.js';
import type { ReadSpan } from '../read-span.js';
import type {
  CallOptions,
  Mutation,
  Predicate,
  ReadOptions,
  Row,
  RowMutation,
  RowSelection,
  TableSchema,
} from '../wide-column-table.js';
import {
  BATCH_BYTES,
  BATCH_ROWS,
  type Batch,
  type CellFilter,
  type CellWalk,
  filterOf,
  gatherKeys,
  gatherRows,
  rangesOf,
  Snapshot,
} from './cell-walk.js';
import { type LmdbEnv, lmdbError, openLmdbEnv, writeError } from './lmdb-env.js';
import { applyRows, holds, increment } from './write-cells.js';

const SAMPLES = 16;

// Reading goes on without a pause for so long; then the event loop gets a turn.
const TURN_MS = 5;

const turn = (): Promise<void> => new Promise((resolve) => timers.setImmediate(resolve));

/** `WideColumnTable` on LMDB. */
export class LmdbTable extends CheckedTable {
  readonly engine = 'lmdb';
  protected readonly startsSpans = false;
  protected isClosed = false;

  readonly #env: LmdbEnv;

  private constructor(
    readonly location: string,
    env: LmdbEnv,
  ) {
    super();
    this.#env = env;
  }

  protected get families(): ReadonlySet<string> {
    return this.#env.families;
  }

  /** Open the table in `directory`, making what is missing. */
  static async open(directory: string, schema: TableSchema): Promise<LmdbTable> {
    return new LmdbTable(directory, await openLmdbEnv(directory, schema));
  }

  protected async write(rows: readonly RowMutation[], bytes: number, options?: CallOptions): Promise<void> {
    await this.#write(options, bytes, () => applyRows(this.#env, rows));
    this.wrote(rows.length, bytes);
  }

  protected rows(selection: RowSelection, options: ReadOptions, span: ReadSpan | undefined): Read<Row> {
    return this.#read(selection, options, true, gatherRows, span);
  }

  protected keys(selection: RowSelection, options: ReadOptions, span: ReadSpan | undefined): Read<string> {
    // With a filter the values are not wanted either, but the gatherer of rows finds them.
    const withValues = options.families !== undefined || options.qualifiers !== undefined;
    return this.#read(selection, options, withValues, gatherKeys, span);
  }

  protected changeIf(
    key: string,
    predicate: Predicate,
    [onMatch, onMiss]: readonly [readonly Mutation[], readonly Mutation[]],
    bytes: number,
    options?: CallOptions,
  ): Promise<boolean> {
    return this.#write(options, bytes, () => {
      const isTrue = holds(this.#env, key, predicate);
      applyRows(this.#env, [{ key, mutations: isTrue ? onMatch : onMiss }]);
      return isTrue;
    });
  }

  protected add(key: string, cell: Predicate, by: number, options?: CallOptions): Promise<number> {
    return this.#write(options, COUNTER_BYTES, () => increment(this.#env, key, cell, by));
  }

  protected async sample(): Promise<readonly string[]> {
    this.checkOpen();
    this.#env.root.resetReadTxn();
    const count = this.#env.cells.getKeysCount({});
    const samples = new Set<string>();
    for (let i = 1; i < SAMPLES; i++) {
      const offset = Math.floor((count * i) / SAMPLES);
      for (const key of this.#env.cells.getKeys({ offset, limit: 1 })) {
        const row = (key as string).split('\0', 1)[0];
        if (row !== undefined && offset > 0) samples.add(row);
      }
    }
    return [...samples];
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    this.endReads();
    await this.#env.root.close();
    this.#env.writes.close();
  }

  /** Run `change`, which writes about so many bytes, in a write transaction, which begins when other processes' are over. */
  async #write<T>(options: CallOptions | undefined, bytes: number, change: () => T): Promise<T> {
    const guard = new CallGuard(`writing to ${this.location}`, options);
    try {
      guard.check();
      return await new Promise<T>((resolve, reject) => {
        let hasBegun = false;
        // The wait for others may be long. Once begun nothing stops it, and it is over at once.
        guard.whenStopped((error) => hasBegun || reject(error));
        const transaction = this.#env.writes.run(() => {
          guard.check();
          hasBegun = true;
          return change();
        });
        transaction.then(resolve, reject);
      });
    } catch (cause) {
      throw await writeError(cause, this.location, bytes);
    } finally {
      guard.dispose();
    }
  }

  /** What `gather` makes of the rows of a selection, in batches, all from one snapshot, which must be released however the read ends. */
  async *#read<T>(
    selection: RowSelection,
    options: ReadOptions,
    withValues: boolean,
    gather: (walk: CellWalk, filter: CellFilter, limit: number) => Batch<T>,
    span: ReadSpan | undefined,
  ): Read<T> {
    span?.asked();
    const { counters } = this;
    let snapshot: Snapshot | undefined;
    let read: ReturnType<LmdbTable['beginRead']> | undefined;
    try {
      this.checkOpen();
      const ranges = rangesOf(selection, options);
      const filter = filterOf(options);
      let { limit: left = Number.POSITIVE_INFINITY } = options;
      checkRowLimit(left);
      read = this.beginRead(options, () => snapshot?.end());
      read.check();
      snapshot = new Snapshot(this.#env);
      let items: T[] = [];
      let bufferedBytes = 0;
      let payload = 0;
      let turnEnd = timers.monotonicMs() + TURN_MS;
      for (const range of ranges) {
        if (left <= 0) break;
        read.check();
        const walk = snapshot.walkOf(range, withValues);
        walk.advance();
        for (let isLast = false; !isLast && left > 0; ) {
          // Else the snapshot is gone.
          read.check();
          const batch = gather(walk, filter, left);
          isLast = batch.isLast;
          left -= batch.items.length;
          counters.rowsRead += batch.items.length;
          counters.bytesRead += batch.bytes;
          // Single rows by key are handed out together.
          items = items.length === 0 ? batch.items : items.concat(batch.items);
          bufferedBytes += batch.bytes;
          payload += batch.payload;
          if (left <= 0 || (isLast && range === ranges.at(-1))) break;
          const isFull = ranges.length === 1 || items.length >= BATCH_ROWS || bufferedBytes >= BATCH_BYTES;
          if (items.length > 0 && isFull) {
            snapshot.hold();
            span?.gave(items.length, payload);
            yield items;
            span?.asked();
            items = [];
            bufferedBytes = 0;
            payload = 0;
          }
          if (timers.monotonicMs() > turnEnd) {
            snapshot.hold();
            await turn();
            turnEnd = timers.monotonicMs() + TURN_MS;
          }
        }
      }
      read.check();
      if (items.length === 0) return;
      span?.gave(items.length, payload);
      yield items;
    } catch (cause) {
      const error = lmdbError(cause, this.location);
      span?.failed(error);
      throw error;
    } finally {
      read?.end();
      span?.ended();
    }
  }
}
