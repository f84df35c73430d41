// The embedded engine: a wide-column table in one LMDB file. Many processes may read while one writes; a write is flushed to disk
// before it is acknowledged, and a call of mutateRows is one transaction: all of it or nothing.
import { TraceDbError } from '../../tracedb-error.js';
import { prefixEnd } from '../byte-order.js';
import { CallGuard } from '../call-guard.js';
import { checkFamily, checkMutations, checkQualifier, checkRowKey, checkRows } from '../limits.js';
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
import { CellWalk, type RowRange } from './cell-walk.js';
import { type Batch, type CellFilter, gatherKeys, gatherRows } from './gather-rows.js';
import { type LmdbEnv, openLmdbEnv } from './lmdb-env.js';
import { lmdbError } from './lmdb-errors.js';
import { applyMutations, holds, increment } from './write-cells.js';

// Reading goes on without a pause for so long; then the event loop gets a turn.
const TURN_MS = 5;
const SAMPLES = 16;

const filterOf = ({ families, qualifiers }: ReadOptions): CellFilter => ({
  families: families === undefined ? undefined : new Set(families),
  qualifiers: qualifiers === undefined ? undefined : new Set(qualifiers),
});

const rangesOf = (selection: RowSelection): readonly RowRange[] => {
  if ('keys' in selection) {
    const keys = [...new Set(selection.keys)];
    for (const key of keys) checkRowKey(key);
    // Sorted by bytes, which is the order of a scan.
    const sorted = keys.map((key) => Buffer.from(key)).sort(Buffer.compare);
    return sorted.map((bytes) => {
      const start = bytes.toString();
      return { start, end: `${start}\x01` };
    });
  }
  if ('prefix' in selection) return [{ start: selection.prefix, end: prefixEnd(selection.prefix) }];
  return [{ start: selection.start, end: selection.end }];
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** `WideColumnTable` on LMDB. */
export class LmdbTable implements WideColumnTable {
  readonly engine = 'lmdb';
  private readonly counters = new TableCounters();
  private readonly walks = new Set<CellWalk>();
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
    await this.write(options, () => {
      for (const { key, mutations } of rows) applyMutations(this.env, key, mutations);
    });
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
    checkFamily(predicate.family, this.env.families);
    checkQualifier(predicate.qualifier);
    if (then.length + otherwise.length === 0) {
      throw new TraceDbError(
        'ERR_SPANLINE_INVALID_INPUT',
        'a conditional write needs mutations: give "then" or "otherwise"',
      );
    }
    const bytes = [then, otherwise].map((mutations) =>
      mutations.length === 0 ? 0 : checkMutations(key, mutations, this.env.families),
    );
    const isMatch = await this.write(options, () => {
      const isTrue = holds(this.env, key, predicate);
      applyMutations(this.env, key, isTrue ? then : otherwise);
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
    const sum = await this.write(options, () => increment(this.env, key, family, qualifier, by));
    this.counters.wrote(1, 8);
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
    for (const walk of this.walks) walk.end();
    this.walks.clear();
    await this.env.root.close();
  }

  /** Run `change` in a write transaction, which begins when other processes' are over. */
  private async write<T>(options: CallOptions | undefined, change: () => T): Promise<T> {
    const guard = new CallGuard(`writing to ${this.location}`, options);
    try {
      guard.check();
      return await this.env.root.transaction(() => {
        // The wait for the write lock may have been long; from here on nothing stops it, and it is over at once.
        guard.check();
        return change();
      });
    } catch (cause) {
      throw lmdbError(cause, this.location);
    } finally {
      guard.dispose();
    }
  }

  private async *read<T>(
    selection: RowSelection,
    options: ReadOptions,
    withValues: boolean,
    gather: (walk: CellWalk, filter: CellFilter, limit: number) => Batch<T>,
  ): AsyncGenerator<readonly T[], undefined, void> {
    this.checkOpen();
    const ranges = rangesOf(selection);
    const filter = filterOf(options);
    let left = options.limit ?? Number.POSITIVE_INFINITY;
    const guard = new CallGuard(`reading ${this.location}`, options);
    this.counters.readOpened();
    try {
      // Else a snapshot of earlier in this turn of the event loop would serve, without what others wrote since.
      this.env.root.resetReadTxn();
      let held: T[] = [];
      let turnEnd = performance.now() + TURN_MS;
      for (const range of ranges) {
        if (left <= 0) break;
        const walk = new CellWalk(this.env, range, withValues);
        this.walks.add(walk);
        // Ends the walk at once, also while nobody asks for the next batch.
        guard.whenStopped(() => walk.end());
        try {
          walk.advance();
          for (let isLast = false; !isLast && left > 0; ) {
            guard.check();
            this.checkOpen();
            const batch = gather(walk, filter, left);
            isLast = batch.isLast;
            left -= batch.items.length;
            this.counters.didRead(batch.items.length, batch.bytes);
            // Single rows by key are handed out together.
            held = held.length === 0 ? batch.items : held.concat(batch.items);
            const isFull = ranges.length === 1 || held.length >= 256;
            if (held.length > 0 && isFull) {
              yield held;
              held = [];
            }
            if (performance.now() > turnEnd) {
              await turn();
              turnEnd = performance.now() + TURN_MS;
            }
          }
        } finally {
          walk.end();
          this.walks.delete(walk);
        }
      }
      guard.check();
      if (held.length > 0) yield held;
    } catch (cause) {
      throw lmdbError(cause, this.location);
    } finally {
      guard.dispose();
      this.counters.readClosed();
    }
  }

  private checkOpen(): void {
    if (this.isClosed) {
      throw new TraceDbError('ERR_SPANLINE_STORE_CLOSED', `${this.location} is closed; open it again with openTable`);
    }
  }
}
