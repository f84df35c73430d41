// One read: pulls the server's stream, hands out batches, and goes on behind the last row when the connection breaks. It must
// never end as if it were whole after a failure, and never read on when nobody asks for more.
import { backoffMs, timers } from 'spanline/internal/base';
import type { TraceDbError } from '../../tracedb-error.js';
import type { CallGuard } from '../call-guard.js';
import type { TableCounters } from '../checked-table.js';
import type { Cell } from '../wide-column-table.js';
import { BACKOFF, bigtableError, type DataClient, isTransient, MAX_ATTEMPTS } from './client.js';
import type { ReadFilter, ReadPlan } from './read-plan.js';
import { type ReadStream, type StreamEnd, streamRows } from './read-stream.js';

const BATCH_ROWS = 256;
const BATCH_BYTES = 256 * 1024;
/** Whole batches that may wait for the caller before the stream is paused. */
const MAX_WAITING = 2;

/** What a read needs to know. */
interface ReadTask<T> {
  readonly guard: CallGuard;
  readonly what: string;
  readonly client: DataClient;
  readonly table: string;
  readonly plan: ReadPlan;
  readonly filter: ReadFilter;
  /** At most so many rows; above 0, Infinity for all. */
  readonly limit: number;
  readonly deadlineAt: number;
  readonly counters: TableCounters;
  readonly withCells: boolean;
  /** What the caller gets of a row. */
  readonly item: (key: Buffer, cells: Cell[]) => T;
  readonly onEnd: () => void;
}

interface Waiter<T> {
  readonly resolve: (result: Result<T>) => void;
  readonly reject: (error: unknown) => void;
}

type Result<T> = IteratorResult<readonly T[], undefined>;

const OVER = { done: true, value: undefined } as const;

/** The batches of one read, which begins with the first `next()`; `return()` ends it at once, even while a batch is being waited for. */
export class RowReader<T> implements AsyncIterableIterator<readonly T[], undefined> {
  #stream: ReadStream | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #flushTimer: NodeJS.Immediate | undefined;
  #failures = 0;
  #lastKey: Buffer | undefined;
  #batches: T[][] = [];
  #batch: T[] = [];
  #batchBytes = 0;
  #rowsLeft = 0;
  readonly #waiters: Waiter<T>[] = [];
  #end: { readonly error: unknown } | undefined;

  #task!: ReadTask<T>;
  #hasBegun = false;
  readonly #toTask: () => ReadTask<T>;

  /** `toTask` is called when the read begins; it may throw. */
  constructor(toTask: () => ReadTask<T>) {
    this.#toTask = toTask;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<Result<T>> {
    if (!this.#hasBegun && this.#end === undefined) this.#begin();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      this.#deliver(true);
    });
  }

  /** End without an error: the caller wants no more. Rows that wait are dropped. */
  async return(): Promise<Result<T>> {
    this.#batch = [];
    this.#batches = [];
    if (this.#hasBegun) this.#finish(undefined);
    // An error that nobody was told of is told to nobody.
    this.#end = { error: undefined };
    return OVER;
  }

  /** End with an error, at once. */
  fail(error: TraceDbError): void {
    this.#finish(error);
  }

  #begin(): void {
    try {
      this.#task = this.#toTask();
    } catch (error) {
      this.#end = { error: undefined };
      throw error;
    }
    this.#hasBegun = true;
    const { counters, guard, limit } = this.#task;
    this.#rowsLeft = limit;
    counters.reads++;
    counters.openReads++;
    guard.whenStopped((error) => this.fail(error));
    if (this.#end === undefined) this.#request();
  }

  #request(): void {
    const { client, table, plan, filter, deadlineAt } = this.#task;
    const rows = this.#rowsLeft > 0 ? plan.next() : undefined;
    if (rows === undefined) {
      this.#finish(undefined);
      return;
    }
    // The server must not count rows that are sorted out here.
    const rowsLimit = Number.isFinite(this.#rowsLeft) && filter.qualifiers === undefined ? this.#rowsLeft : 0;
    const stream = streamRows(
      client,
      { tableName: table, rows, rowsLimit, filter: filter.filter },
      filter.qualifiers,
      this.#lastKey,
      deadlineAt - timers.wallMs(),
      {
        onRow: (key, cells, bytes) => this.#take(key, cells, bytes),
        onData: (scannedTo) => this.#answered(scannedTo),
        onEnd: (end) => this.#streamEnded(stream, end),
      },
    );
    this.#stream = stream;
  }

  #take(key: Buffer, cells: Cell[], bytes: number): void {
    this.#lastKey = key;
    this.#task.plan.readTo(key);
    if (cells.length === 0 || this.#rowsLeft === 0) return;
    this.#rowsLeft--;
    this.#batch.push(this.#task.item(key, cells));
    this.#batchBytes += bytes;
    this.#task.counters.rowsRead++;
    this.#task.counters.bytesRead += this.#task.withCells ? bytes : key.length;
    if (this.#batch.length >= BATCH_ROWS || this.#batchBytes >= BATCH_BYTES) this.#cut();
  }

  #cut(): void {
    this.#batches.push(this.#batch);
    this.#batch = [];
    this.#batchBytes = 0;
  }

  #answered(scannedTo: Buffer | undefined): void {
    this.#failures = 0;
    if (scannedTo !== undefined) this.#task.plan.readTo(scannedTo);
    if (this.#rowsLeft === 0) this.#finish(undefined);
    else this.#deliver(false);
  }

  #streamEnded(stream: ReadStream, { error, isWhole }: StreamEnd): void {
    if (this.#stream !== stream || this.#end !== undefined) return;
    this.#stream = undefined;
    if (isWhole) {
      this.#task.plan.finished();
      this.#request();
    } else if (isTransient(error) && ++this.#failures < MAX_ATTEMPTS) {
      this.#retryTimer = timers.setTimeout(() => this.#request(), backoffMs(this.#failures, BACKOFF));
    } else {
      this.#finish(bigtableError(error, this.#task.what));
    }
  }

  /** Give waiting callers what there is; `isPull` when one just came. */
  #deliver(isPull: boolean): void {
    while (this.#waiters.length > 0) {
      if (this.#end?.error !== undefined) {
        this.#waiters.shift()?.reject(this.#end.error);
        // Told once; asked again it is over, as a generator is.
        this.#end = { error: undefined };
        continue;
      }
      const isCut = this.#batches.length > 0;
      // An unfilled batch goes out when it waited for the caller, or when the event loop has nothing more to add to it.
      if (!isCut && this.#batch.length > 0 && (isPull || this.#end !== undefined)) this.#cut();
      const batch = this.#batches.shift();
      if (batch !== undefined) this.#waiters.shift()?.resolve({ done: false, value: batch });
      else if (this.#end !== undefined) this.#waiters.shift()?.resolve(OVER);
      else break;
    }
    if (this.#end !== undefined) return;
    if (this.#waiters.length > 0 && this.#batch.length > 0) this.#flushSoon();
    if (this.#waiters.length > 0 || this.#batches.length < MAX_WAITING) this.#stream?.resume();
    else this.#stream?.pause();
  }

  #flushSoon(): void {
    this.#flushTimer ??= timers.setImmediate(() => {
      this.#flushTimer = undefined;
      this.#deliver(true);
    });
  }

  #finish(error: unknown): void {
    if (this.#end !== undefined) return;
    this.#end = { error };
    if (error !== undefined) {
      this.#batch = [];
      this.#batches = [];
    }
    timers.clearTimeout(this.#retryTimer);
    timers.clearImmediate(this.#flushTimer);
    this.#stream?.cancel();
    this.#stream = undefined;
    this.#task.guard.dispose();
    this.#task.counters.openReads--;
    this.#task.onEnd();
    this.#deliver(true);
  }
}
