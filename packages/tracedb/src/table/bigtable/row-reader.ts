// One read: takes the server's answers, hands out batches, and goes on behind the last row when the connection breaks. A list of many keys is several
// requests, each made as soon as the one before is answered, so that the way to the server and back is made while the caller uses what came. It must
// never end as if it were whole after a failure, and never hold more than a few batches when nobody asks for them.
import { backoffMs, timers } from 'spanline/internal/base';
import type { Read, TableCounters } from '../checked-table.js';
import type { ReadSpan } from '../read-span.js';
import type { Cell } from '../wide-column-table.js';
import { BACKOFF, type DataClient, isTransient, MAX_ATTEMPTS } from './client.js';
import type { ReadFilter, ReadPlan } from './read-plan.js';
import { AnswerStream, RowMerger } from './read-stream.js';

const BATCH_ROWS = 256;
const BATCH_BYTES = 256 * 1024;
/** Whole batches that may wait for the caller before the stream is paused. */
const MAX_WAITING = 2;

/** What a read needs to know. */
interface ReadTask<T> {
  readonly client: DataClient;
  readonly table: string;
  readonly plan: ReadPlan;
  readonly filter: ReadFilter;
  /** At most so many rows; Infinity for all. */
  readonly limit: number;
  readonly deadlineAt: number;
  readonly counters: TableCounters;
  readonly span: ReadSpan | undefined;
  readonly withCells: boolean;
  /** What the caller gets of a row. */
  readonly item: (key: Buffer, cells: Cell[]) => T;
  /** Throws when the read must not go on. */
  readonly check: () => void;
  /** All has come, though the caller may not have asked for it yet: the read needs nothing more. */
  readonly whenWhole: () => void;
}

interface Batch<T> {
  readonly items: T[];
  bytes: number;
  /** Bytes of keys and values. */
  payload: number;
}

const isFull = ({ items, bytes }: Batch<unknown>): boolean => items.length >= BATCH_ROWS || bytes >= BATCH_BYTES;

/** The batches of one read, made once. */
export class RowReader<T> {
  /** To the request that was made last. */
  #answer: { readonly stream: AnswerStream; readonly merger: RowMerger } | undefined;
  #wake: () => void = () => {};
  #isStopped = false;
  /** Whether all has come. What stops a read takes nothing from it then, however long the caller is about it. */
  #isWhole = false;
  #flushTimer: NodeJS.Immediate | undefined;
  /** Whether a batch goes out though it is not full: it waited for the caller, or the event loop has nothing more to add to it. */
  #isDue = false;
  #failures = 0;
  #rowsLeft = 0;
  #lastKey: Buffer | undefined;
  readonly #batches: Batch<T>[] = [];

  /** End it at the server too, and whatever it waits for. */
  stop(): void {
    if (this.#isWhole) return;
    this.#isStopped = true;
    timers.clearImmediate(this.#flushTimer);
    this.#answer?.stream.cancel();
    this.#answer = undefined;
    this.#wake();
  }

  async *read(task: ReadTask<T>): Read<T> {
    const { span } = task;
    this.#rowsLeft = task.limit;
    this.#ask(task);
    while (this.#answer !== undefined) {
      const { stream, merger } = this.#answer;
      const isLast = this.#rowsLeft === 0 || stream.isOver;
      const [batch] = this.#batches;
      if (batch !== undefined && (isLast || this.#isDue || isFull(batch))) {
        this.#batches.shift();
        this.#readOn(task);
        span?.gave(batch.items.length, batch.payload);
        yield batch.items;
        span?.asked();
        this.#isDue = true;
      } else if (!isLast) {
        this.#isDue = false;
        await this.#wait();
      } else {
        // What ended well was the last, or another would have been asked for.
        const failure = this.#rowsLeft === 0 ? undefined : stream.failure(merger.isInRow);
        if (failure === undefined) return;
        this.#answer = undefined;
        if (!isTransient(failure) || ++this.#failures >= MAX_ATTEMPTS) throw failure;
        await this.#wait(backoffMs(this.#failures, BACKOFF));
        if (this.#goesOn(task)) this.#ask(task);
      }
      if (!this.#goesOn(task)) return;
    }
  }

  #goesOn({ check }: ReadTask<T>): boolean {
    if (!this.#isWhole) check();
    return !this.#isStopped;
  }

  /** Ask for what is left of the plan. */
  #ask(task: ReadTask<T>): void {
    const { client, table, plan, filter, deadlineAt } = task;
    this.#answer = undefined;
    const rows = plan.next();
    if (rows === undefined) return;
    // The server must not count rows that are sorted out here.
    const rowsLimit = Number.isFinite(this.#rowsLeft) && filter.qualifiers === undefined ? this.#rowsLeft : 0;
    const merger = new RowMerger(
      (key, cells, bytes) => this.#take(task, key, cells, bytes),
      filter.qualifiers,
      this.#lastKey,
    );
    const stream: AnswerStream = new AnswerStream(
      client,
      { tableName: table, rows, rowsLimit, filter: filter.filter },
      deadlineAt - timers.wallMs(),
      (answer) => {
        if (this.#answer?.stream !== stream) return;
        this.#failures = 0;
        merger.push(answer);
        const scannedTo = answer.lastScannedRowKey as Buffer;
        if (scannedTo.length > 0) plan.readTo(scannedTo);
        this.#answered(task, stream);
      },
      () => {
        if (this.#answer?.stream !== stream) return;
        if (stream.failure(merger.isInRow) === undefined) {
          plan.finished();
          if (plan.isLast) this.#cameWhole(task);
          else this.#readOn(task);
        }
        this.#isDue = true;
        this.#wake();
      },
    );
    this.#answer = { stream, merger };
  }

  /** Go on with the answer, or ask for the next part, unless enough waits for the caller. */
  #readOn(task: ReadTask<T>): void {
    if (this.#answer === undefined || this.#batches.length >= MAX_WAITING) return;
    const { stream, merger } = this.#answer;
    if (!stream.isOver) stream.resume();
    else if (this.#rowsLeft > 0 && !task.plan.isLast && stream.failure(merger.isInRow) === undefined) this.#ask(task);
  }

  #cameWhole({ whenWhole }: ReadTask<T>): void {
    this.#isWhole = true;
    whenWhole();
  }

  #answered(task: ReadTask<T>, stream: AnswerStream): void {
    const [batch] = this.#batches;
    if (this.#rowsLeft === 0) {
      stream.cancel();
      this.#cameWhole(task);
    } else if (this.#batches.length > MAX_WAITING) stream.pause();
    if (this.#rowsLeft === 0 || (batch !== undefined && isFull(batch))) this.#wake();
    else if (batch !== undefined) {
      this.#flushTimer ??= timers.setImmediate(() => {
        this.#flushTimer = undefined;
        this.#isDue = true;
        // Not a wait before the next stream.
        if (this.#answer?.stream === stream) this.#wake();
      });
    }
  }

  #take({ plan, item, counters, span, withCells }: ReadTask<T>, key: Buffer, cells: Cell[], bytes: number): void {
    this.#lastKey = key;
    plan.readTo(key);
    if (cells.length === 0 || this.#rowsLeft === 0) return;
    this.#rowsLeft--;
    let batch = this.#batches.at(-1);
    if (batch === undefined || isFull(batch)) {
      batch = { items: [], bytes: 0, payload: 0 };
      this.#batches.push(batch);
    }
    batch.items.push(item(key, cells));
    batch.bytes += bytes;
    counters.rowsRead++;
    counters.bytesRead += withCells ? bytes : key.length;
    if (span === undefined) return;
    batch.payload += key.length;
    if (withCells) for (const { value } of cells) batch.payload += value.length;
  }

  /** Until there is more, or for so many milliseconds. */
  #wait(ms?: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : timers.setTimeout(resolve, ms);
      this.#wake = () => {
        timers.clearTimeout(timer);
        resolve();
      };
    });
  }
}
