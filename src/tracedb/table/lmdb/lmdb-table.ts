// The embedded engine: a wide-column table in one LMDB file. Many processes may read while one writes; a write is flushed to disk
// before it is acknowledged, and a call of mutateRows is one transaction: all of it or nothing.
import { TraceDbError } from '../../tracedb-error.js';
import { CallGuard } from '../call-guard.js';
import { checkFamily, checkMutations, checkPredicate, checkQualifier, checkRowKey, checkRows } from '../limits.js';
import { TableCounters } from '../table-counters.js';
import type {
  CallOptions,
  Mutation,
  Predicate,
  ReadOptions,
  Row,
  RowMutation,
  RowSelection,
  TableSchema,
  TableStats,
  WideColumnTable,
} from '../wide-column-table.js';
import { gatherKeys, gatherRows } from './gather-rows.js';
import { type LmdbEnv, openLmdbEnv } from './lmdb-env.js';
import { type Gather, readBatches } from './read-batches.js';
import { applyRows, holds, increment } from './write-cells.js';
import { writeError } from './write-error.js';

const SAMPLES = 16;
const COUNTER_BYTES = 8;

/** `WideColumnTable` on LMDB. */
export class LmdbTable implements WideColumnTable {
  readonly engine = 'lmdb';
  private readonly counters = new TableCounters();
  /** How each open read is ended. */
  private readonly openReads = new Set<() => void>();
  private isClosed = false;

  private constructor(
    readonly location: string,
    private readonly env: LmdbEnv,
  ) {}

  /** Open the table in `directory`, making what is missing. */
  static async open(directory: string, schema: TableSchema): Promise<LmdbTable> {
    return new LmdbTable(directory, await openLmdbEnv(directory, schema));
  }

  async mutateRows(rows: readonly RowMutation[], options?: CallOptions): Promise<void> {
    this.checkOpen();
    const bytes = this.counters.refusing(rows.length, () => checkRows(rows, this.env.families));
    await this.write(options, bytes, () => applyRows(this.env, rows));
    this.counters.wrote(rows.length, bytes);
  }

  readRows(selection: RowSelection, options: ReadOptions = {}): AsyncIterableIterator<readonly Row[]> {
    return this.read(selection, options, true, gatherRows);
  }

  readKeys(selection: RowSelection, options: ReadOptions = {}): AsyncIterableIterator<readonly string[]> {
    // With a filter the values are not wanted either, but the gatherer of rows finds them.
    const withValues = options.families !== undefined || options.qualifiers !== undefined;
    return this.read(selection, options, withValues, gatherKeys);
  }

  async readRow(key: string, options?: ReadOptions): Promise<Row | undefined> {
    for await (const [row] of this.readRows({ keys: [key] }, options)) return row;
    return undefined;
  }

  async checkAndMutateRow(
    key: string,
    predicate: Predicate,
    { then = [], otherwise = [] }: { readonly then?: readonly Mutation[]; readonly otherwise?: readonly Mutation[] },
    options?: CallOptions,
  ): Promise<boolean> {
    this.checkOpen();
    checkRowKey(key);
    checkPredicate(predicate, this.env.families);
    if (then.length + otherwise.length === 0) {
      throw new TraceDbError(
        'ERR_SPANLINE_INVALID_INPUT',
        'a conditional write needs mutations: give "then" or "otherwise"',
      );
    }
    const bytes = [then, otherwise].map((mutations) =>
      mutations.length === 0 ? 0 : checkMutations(key, mutations, this.env.families),
    );
    const isMatch = await this.write(options, Math.max(...bytes), () => {
      const isTrue = holds(this.env, key, predicate);
      applyRows(this.env, [{ key, mutations: isTrue ? then : otherwise }]);
      return isTrue;
    });
    if ((isMatch ? then : otherwise).length > 0) this.counters.wrote(1, bytes[isMatch ? 0 : 1] as number);
    return isMatch;
  }

  async incrementCell(
    key: string,
    family: string,
    qualifier: string,
    by: number,
    options?: CallOptions,
  ): Promise<number> {
    this.checkOpen();
    checkRowKey(key);
    checkFamily(family, this.env.families);
    checkQualifier(qualifier);
    if (!Number.isSafeInteger(by)) {
      throw new TraceDbError('ERR_SPANLINE_INVALID_INPUT', `a counter is raised by a safe integer, not by ${by}`);
    }
    const sum = await this.write(options, COUNTER_BYTES, () => increment(this.env, key, family, qualifier, by));
    this.counters.wrote(1, COUNTER_BYTES);
    return sum;
  }

  async sampleRowKeys(): Promise<readonly string[]> {
    this.checkOpen();
    this.env.root.resetReadTxn();
    const count = this.env.cells.getKeysCount({});
    const samples = new Set<string>();
    for (let i = 1; i < SAMPLES; i++) {
      const offset = Math.floor((count * i) / SAMPLES);
      for (const key of this.env.cells.getKeys({ offset, limit: 1 })) {
        const row = (key as string).split('\0', 1)[0];
        if (row !== undefined && offset > 0) samples.add(row);
      }
    }
    return [...samples];
  }

  stats(): TableStats {
    return this.counters.snapshot();
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const end of this.openReads) end();
    await this.env.root.close();
  }

  /** Run `change`, which writes about so many bytes, in a write transaction, which begins when other processes' are over. */
  private async write<T>(options: CallOptions | undefined, bytes: number, change: () => T): Promise<T> {
    const guard = new CallGuard(`writing to ${this.location}`, options);
    try {
      guard.check();
      return await new Promise<T>((resolve, reject) => {
        let hasBegun = false;
        // The wait for others may be long. Once begun nothing stops it, and it is over at once.
        guard.whenStopped((error) => hasBegun || reject(error));
        const transaction = this.env.root.transaction(() => {
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

  private read<T>(
    selection: RowSelection,
    options: ReadOptions,
    withValues: boolean,
    gather: Gather<T>,
  ): AsyncGenerator<readonly T[], undefined, void> {
    const { env, location, counters, openReads } = this;
    const table = { env, location, counters, openReads, checkOpen: () => this.checkOpen() };
    return readBatches(table, selection, options, withValues, gather);
  }

  private checkOpen(): void {
    if (this.isClosed) {
      throw new TraceDbError('ERR_SPANLINE_STORE_CLOSED', `${this.location} is closed; open it again with openTable`);
    }
  }
}
