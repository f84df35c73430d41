// What both engines do around a call: its input is checked before anything is sent, and what came of it is counted. Must know nothing of
// how an engine reads or writes.
import { invalidInput, TraceDbError } from '../tracedb-error.js';
import { checkFamily, checkMutations, checkPredicate, checkQualifier, checkRowKey, checkRows } from './limits.js';
import type {
  CallOptions,
  ConditionalChange,
  Mutation,
  Predicate,
  ReadOptions,
  Row,
  RowMutation,
  RowSelection,
  TableStats,
} from './wide-column-table.js';

/** Bytes of a counter. */
export const COUNTER_BYTES = 8;

/** What an engine counts. Only whole calls count: nothing is added before the store has answered. */
export type TableCounters = { -readonly [K in keyof TableStats]: TableStats[K] };

/** An engine without its reads and writes. */
export abstract class CheckedTable {
  protected readonly counters: TableCounters = {
    reads: 0,
    rowsRead: 0,
    bytesRead: 0,
    writes: 0,
    rowsWritten: 0,
    bytesWritten: 0,
    rowsRefused: 0,
    openReads: 0,
  };
  abstract readonly location: string;
  protected abstract get families(): ReadonlySet<string>;
  protected abstract get isClosed(): boolean;

  abstract readRows(selection: RowSelection, options?: ReadOptions): AsyncIterableIterator<readonly Row[]>;

  /** Apply one list or the other, of at most `bytes` bytes; whether the predicate held. */
  protected abstract changeIf(
    key: string,
    predicate: Predicate,
    [onMatch, onMiss]: readonly [readonly Mutation[], readonly Mutation[]],
    bytes: number,
    options: CallOptions | undefined,
  ): Promise<boolean>;

  /** Add to a counter; the sum. */
  protected abstract add(
    key: string,
    { family, qualifier }: Predicate,
    by: number,
    options: CallOptions | undefined,
  ): Promise<number>;

  async readRow(key: string, options?: ReadOptions): Promise<Row | undefined> {
    for await (const [row] of this.readRows({ keys: [key] }, options)) return row;
    return undefined;
  }

  async checkAndMutateRow(
    key: string,
    predicate: Predicate,
    { then: onMatch = [], otherwise: onMiss = [] }: ConditionalChange,
    options?: CallOptions,
  ): Promise<boolean> {
    this.checkOpen();
    checkRowKey(key);
    checkPredicate(predicate, this.families);
    if (onMatch.length + onMiss.length === 0) {
      throw invalidInput('a conditional write needs mutations: give "then" or "otherwise"');
    }
    const [matchBytes, missBytes] = [onMatch, onMiss].map((mutations) =>
      mutations.length === 0 ? 0 : checkMutations(key, mutations, this.families),
    ) as [number, number];
    const bytes = Math.max(matchBytes, missBytes);
    const isMatch = await this.changeIf(key, predicate, [onMatch, onMiss], bytes, options);
    if ((isMatch ? onMatch : onMiss).length > 0) this.wrote(1, isMatch ? matchBytes : missBytes);
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
    checkFamily(family, this.families);
    checkQualifier(qualifier);
    if (!Number.isSafeInteger(by)) {
      throw invalidInput(`a counter is raised by a safe integer, not by ${by}`);
    }
    const sum = await this.add(key, { family, qualifier }, by, options);
    this.wrote(1, COUNTER_BYTES);
    return sum;
  }

  stats(): TableStats {
    return { ...this.counters };
  }

  /** Throws unless these rows may be written; returns their bytes. */
  protected checkWrite(rows: readonly RowMutation[]): number {
    this.checkOpen();
    try {
      return checkRows(rows, this.families);
    } catch (error) {
      this.counters.rowsRefused += rows.length;
      throw error;
    }
  }

  protected wrote(rows: number, bytes: number): void {
    this.counters.writes++;
    this.counters.rowsWritten += rows;
    this.counters.bytesWritten += bytes;
  }

  protected checkOpen(): void {
    if (this.isClosed) throw this.closedError();
  }

  protected closedError(): TraceDbError {
    return new TraceDbError('ERR_SPANLINE_STORE_CLOSED', `${this.location} is closed; open it again with openTable`);
  }
}
