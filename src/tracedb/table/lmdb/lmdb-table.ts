// The embedded engine: a wide-column table in one LMDB file. Many processes may read while one writes; a write is flushed to disk
// before it is acknowledged, and a call of mutateRows is one transaction: all of it or nothing.
import { CallGuard } from '../call-guard.js';
import { CheckedTable, COUNTER_BYTES } from '../checked-table.js';
import type {
  CallOptions,
  Mutation,
  Predicate,
  ReadOptions,
  Row,
  RowMutation,
  RowSelection,
  TableSchema,
  WideColumnTable,
} from '../wide-column-table.js';
import { gatherKeys, gatherRows } from './gather-rows.js';
import { type LmdbEnv, openLmdbEnv } from './lmdb-env.js';
import { writeError } from './lmdb-errors.js';
import { type Gather, readBatches } from './read-batches.js';
import { applyRows, holds, increment } from './write-cells.js';

const SAMPLES = 16;

/** `WideColumnTable` on LMDB. */
export class LmdbTable extends CheckedTable implements WideColumnTable {
  readonly engine = 'lmdb';
  /** How each open read is ended. */
  readonly #openReads = new Set<() => void>();
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

  async mutateRows(rows: readonly RowMutation[], options?: CallOptions): Promise<void> {
    const bytes = this.checkWrite(rows);
    await this.#write(options, bytes, () => applyRows(this.#env, rows));
    this.wrote(rows.length, bytes);
  }

  readRows(selection: RowSelection, options: ReadOptions = {}): AsyncIterableIterator<readonly Row[]> {
    return this.#read(selection, options, true, gatherRows);
  }

  readKeys(selection: RowSelection, options: ReadOptions = {}): AsyncIterableIterator<readonly string[]> {
    // With a filter the values are not wanted either, but the gatherer of rows finds them.
    const withValues = options.families !== undefined || options.qualifiers !== undefined;
    return this.#read(selection, options, withValues, gatherKeys);
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

  async sampleRowKeys(): Promise<readonly string[]> {
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
    for (const end of this.#openReads) end();
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

  #read<T>(
    selection: RowSelection,
    options: ReadOptions,
    withValues: boolean,
    gather: Gather<T>,
  ): AsyncGenerator<readonly T[], undefined, void> {
    const { location, counters } = this;
    const env = this.#env;
    const openReads = this.#openReads;
    const table = { env, location, counters, openReads, checkOpen: () => this.checkOpen() };
    return readBatches(table, selection, options, withValues, gather);
  }
}
