// What both engines do around a call: its input is checked before anything is sent, and what came of it is counted. Must know nothing of
// how an engine reads or writes.
import { invalidInput, TraceDbError } from '../tracedb-error.js';
import { checkFamily, checkMutations, checkPredicate, checkQualifier, checkRowKey } from './limits.js';
import { TableCounters } from './table-counters.js';
import type {
  CallOptions,
  ConditionalChange,
  Mutation,
  Predicate,
  ReadOptions,
  Row,
  RowSelection,
  TableStats,
} from './wide-column-table.js';

const COUNTER_BYTES = 8;

/** A conditional write whose input is checked. */
export interface CheckedChange {
  readonly key: string;
  readonly predicate: Predicate;
  /** Applied when the predicate holds. */
  readonly onMatch: readonly Mutation[];
  readonly onMiss: readonly Mutation[];
  /** Bytes of the larger one. */
  readonly maxBytes: number;
}

/** A counter's cell. */
export interface CellPlace {
  readonly key: string;
  readonly family: string;
  readonly qualifier: string;
}

/** An engine without its reads and writes. */
export abstract class CheckedTable {
  protected readonly counters = new TableCounters();
  abstract readonly location: string;
  protected abstract get families(): ReadonlySet<string>;
  protected abstract get isClosed(): boolean;

  abstract readRows(selection: RowSelection, options?: ReadOptions): AsyncIterableIterator<readonly Row[]>;

  /** Whether the predicate held. */
  protected abstract changeIf(change: CheckedChange, options: CallOptions | undefined): Promise<boolean>;

  /** The sum; it takes `bytes` bytes. */
  protected abstract add(
    place: CellPlace,
    by: number,
    bytes: number,
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
    const bytesOf = (mutations: readonly Mutation[]): number =>
      mutations.length === 0 ? 0 : checkMutations(key, mutations, this.families);
    const [matchBytes, missBytes] = [bytesOf(onMatch), bytesOf(onMiss)];
    const maxBytes = Math.max(matchBytes, missBytes);
    const isMatch = await this.changeIf({ key, predicate, onMatch, onMiss, maxBytes }, options);
    if ((isMatch ? onMatch : onMiss).length > 0) this.counters.wrote(1, isMatch ? matchBytes : missBytes);
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
    const sum = await this.add({ key, family, qualifier }, by, COUNTER_BYTES, options);
    this.counters.wrote(1, COUNTER_BYTES);
    return sum;
  }

  stats(): TableStats {
    return this.counters.snapshot();
  }

  protected checkOpen(): void {
    if (this.isClosed) throw this.closedError();
  }

  protected closedError(): TraceDbError {
    return new TraceDbError('ERR_SPANLINE_STORE_CLOSED', `${this.location} is closed; open it again with openTable`);
  }
}
