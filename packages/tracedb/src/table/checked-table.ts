// What both engines do around a call: its input is checked against limits before anything is sent, what came of it is counted, and it is a span: rows,
// bytes, and the time spent waiting for the store. The limits are smaller than each engine's own, so that a table can move from one to the other: the
// emulator enforces none, the service only some. Must know nothing of how an engine reads or writes, and tracing must change nothing about the calls.
import { childSpan, inSpan, isWorkWatched, under } from '../node-span.js';
import { quoted } from '../params/param-text.js';
import { invalidInput, TraceDbError, tableLimit } from '../tracedb-error.js';
import { CallGuard } from './call-guard.js';
import { ReadSpan, TracedRead } from './read-span.js';
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
  WideColumnTable,
} from './wide-column-table.js';

/** Bytes of a row key. */
const MAX_ROW_KEY_BYTES = 4096;
/** Bytes of a qualifier. */
const MAX_QUALIFIER_BYTES = 1024;
/** Bytes of a cell's value. */
const MAX_CELL_BYTES = 10 * 1024 * 1024;
/** Bytes a predicate compares with: a filter of Bigtable has 20 KB, and the value stands in it twice. */
const MAX_PREDICATE_BYTES = 8192;
/** Mutations in one call. */
const MAX_MUTATIONS = 100_000;
/** Bytes of keys and values in one call. */
const MAX_CALL_BYTES = 256 * 1024 * 1024;
/** Time of a cell: the end of the year 9999. Bigtable counts in microseconds of an int64; whole milliseconds up to here fit everywhere. */
export const MAX_TIMESTAMP_MS = 253402300799999;

const FAMILY = /^[A-Za-z0-9_]{1,64}$/;
// Every char below 0x80 and no NUL: the usual key, its length in bytes is its length in chars.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are legal in keys; only NUL is not
const PLAIN = /^[\x01-\x7f]*$/;
const LONE_SURROGATE = /\p{Surrogate}/u;

const checkText = (what: string, text: string, maxBytes: number): void => {
  if (typeof text !== 'string') throw tableLimit(`${what} must be a string, not ${typeof text}`);
  // The common case costs one scan.
  if (PLAIN.test(text)) {
    if (text.length <= maxBytes) return;
  } else if (text.includes('\0')) {
    throw tableLimit(`${what} ${quoted(text)} contains NUL, which no key may contain; escape it`);
  } else if (LONE_SURROGATE.test(text)) {
    throw tableLimit(`${what} ${quoted(text)} has a lone surrogate and so no UTF-8 form; use text.toWellFormed()`);
  }
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes) throw tableLimit(`${what} ${quoted(text)} has ${bytes} bytes; the limit is ${maxBytes}`);
};

/** Throws `ERR_SPANLINE_TABLE_LIMIT` unless `key` can be the key of a row. */
export const checkRowKey = (key: string): void => {
  if (key === '') throw tableLimit('a row key must not be empty');
  checkText('row key', key, MAX_ROW_KEY_BYTES);
};

/** Throws unless `families` has `family`. */
const checkFamily = (family: string, families: ReadonlySet<string>): void => {
  if (!families.has(family)) {
    throw tableLimit(
      `column family ${quoted(String(family))} does not exist; the table has ${[...families].join(', ')}`,
    );
  }
};

/** Throws unless `families` can be the families of a table. */
export const checkFamilyNames = (families: readonly string[]): void => {
  if (families.length === 0 || families.length > 100)
    throw tableLimit(`a table has 1 to 100 families, not ${families.length}`);
  for (const family of families) {
    if (!FAMILY.test(family)) throw tableLimit(`column family ${quoted(family)} must match ${FAMILY.source}`);
  }
};

/** Throws unless `qualifier` can name a column. */
const checkQualifier = (qualifier: string): void => checkText('qualifier', qualifier, MAX_QUALIFIER_BYTES);

/** Throws unless a conditional write on this predicate may be made. */
const checkPredicate = ({ family, qualifier, value }: Predicate, families: ReadonlySet<string>): void => {
  checkFamily(family, families);
  checkQualifier(qualifier);
  if (value !== undefined && value.byteLength > MAX_PREDICATE_BYTES) {
    throw tableLimit(
      `the predicate on ${family}:${qualifier} compares with ${value.byteLength} bytes; the limit is ${MAX_PREDICATE_BYTES}: compare with a hash`,
    );
  }
};

/** Throws unless a read may return so many rows. */
export const checkRowLimit = (rows: number): void => {
  if (rows === Number.POSITIVE_INFINITY || (Number.isInteger(rows) && rows >= 0)) return;
  throw invalidInput(`limit must be a whole number of rows from 0, not ${rows}`);
};

const checkSet = (key: string, mutation: Mutation & { type: 'set' }): number => {
  const { value, timestampMs } = mutation;
  if (!(value instanceof Uint8Array))
    throw tableLimit(`a value of row ${quoted(key)} must be a Uint8Array, not ${typeof value}`);
  if (value.byteLength > MAX_CELL_BYTES) {
    throw tableLimit(`a value of row ${quoted(key)} has ${value.byteLength} bytes; the limit is ${MAX_CELL_BYTES}`);
  }
  if (!Number.isInteger(timestampMs) || timestampMs < 0 || timestampMs > MAX_TIMESTAMP_MS) {
    throw tableLimit(
      `timestampMs ${timestampMs} of row ${quoted(key)} must be whole milliseconds since 1970, up to the year 9999`,
    );
  }
  return value.byteLength;
};

/** Throws unless these mutations may be applied to row `key`; returns their bytes. */
const checkMutations = (key: string, mutations: readonly Mutation[], families: ReadonlySet<string>): number => {
  checkRowKey(key);
  if (mutations.length === 0) throw tableLimit(`row ${quoted(key)} has no mutation; leave the row out`);
  let bytes = key.length;
  for (const mutation of mutations) {
    if (mutation.type === 'delete-row') continue;
    checkFamily(mutation.family, families);
    checkQualifier(mutation.qualifier);
    bytes += mutation.qualifier.length;
    if (mutation.type === 'set') bytes += checkSet(key, mutation);
  }
  return bytes;
};

/** Throws unless the whole call may be made; returns its bytes. */
export const checkRows = (rows: readonly RowMutation[], families: ReadonlySet<string>): number => {
  let mutations = 0;
  let bytes = 0;
  for (const row of rows) {
    mutations += row.mutations.length;
    bytes += checkMutations(row.key, row.mutations, families);
  }
  if (mutations > MAX_MUTATIONS) {
    throw tableLimit(`${mutations} mutations in one call; the limit is ${MAX_MUTATIONS}: write in smaller calls`);
  }
  if (bytes > MAX_CALL_BYTES) {
    throw tableLimit(`${bytes} bytes in one call; the limit is ${MAX_CALL_BYTES}: write in smaller calls`);
  }
  return bytes;
};

/** Bytes of a counter. */
export const COUNTER_BYTES = 8;

/** What an engine counts. Only whole calls count: nothing is added before the store has answered. */
export type TableCounters = { -readonly [K in keyof TableStats]: TableStats[K] };

/** A read in batches, which reports what it does to its span, if it has one. */
export type Read<T> = AsyncGenerator<readonly T[], undefined, void>;

const describe = (selection: RowSelection): string => {
  if ('keys' in selection) return `${selection.keys.length} keys`;
  if ('prefix' in selection) return `prefix ${JSON.stringify(selection.prefix)}`;
  return `range ${JSON.stringify(selection.start ?? '')} to ${JSON.stringify(selection.end ?? '')}`;
};

/** An engine without its reads and writes. */
export abstract class CheckedTable implements WideColumnTable {
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
  /** How each open read is ended. */
  readonly #openReads = new Set<() => void>();

  abstract readonly engine: WideColumnTable['engine'];
  abstract readonly location: string;
  protected abstract get families(): ReadonlySet<string>;
  protected abstract get isClosed(): boolean;
  /** Whether spans may start while a call goes on, which belong under its own: those of the calls of a client. */
  protected abstract readonly startsSpans: boolean;

  /** Write rows of so many bytes, and count them. */
  protected abstract write(
    rows: readonly RowMutation[],
    bytes: number,
    options: CallOptions | undefined,
  ): Promise<void>;

  protected abstract rows(selection: RowSelection, options: ReadOptions, span: ReadSpan | undefined): Read<Row>;

  protected abstract keys(selection: RowSelection, options: ReadOptions, span: ReadSpan | undefined): Read<string>;

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

  protected abstract sample(options: CallOptions | undefined): Promise<readonly string[]>;

  abstract close(): Promise<void>;

  mutateRows(rows: readonly RowMutation[], options?: CallOptions): Promise<void> {
    let bytes = 0;
    return inSpan(
      'table.write',
      () => {
        bytes = this.#checkWrite(rows);
        return this.write(rows, bytes, options);
      },
      (span) => span.addProperties({ engine: this.engine, rows: rows.length, bytes }),
    );
  }

  readRows(selection: RowSelection, options: ReadOptions = {}): AsyncIterableIterator<readonly Row[]> {
    const span = this.#readSpan('table.read', selection);
    const read = this.rows(selection, options, span);
    return span === undefined ? read : new TracedRead(span, read, this.startsSpans);
  }

  readKeys(selection: RowSelection, options: ReadOptions = {}): AsyncIterableIterator<readonly string[]> {
    const span = this.#readSpan('table.read-keys', selection);
    const read = this.keys(selection, options, span);
    return span === undefined ? read : new TracedRead(span, read, this.startsSpans);
  }

  readRow(key: string, options: ReadOptions = {}): Promise<Row | undefined> {
    const span = childSpan('table.read-row');
    if (span === undefined) return this.#firstRow(key, options, undefined);
    span.describe(['engine', this.engine]);
    const read = (): Promise<Row | undefined> => this.#firstRow(key, options, new ReadSpan(span, true));
    return this.startsSpans || isWorkWatched() ? under(span, read) : read();
  }

  checkAndMutateRow(
    key: string,
    predicate: Predicate,
    { then: onMatch = [], otherwise: onMiss = [] }: ConditionalChange,
    options?: CallOptions,
  ): Promise<boolean> {
    return inSpan(
      'table.check-and-write',
      async () => {
        this.checkOpen();
        checkRowKey(key);
        checkPredicate(predicate, this.families);
        if (onMatch.length + onMiss.length === 0) {
          throw invalidInput('a conditional write needs mutations: give "then" or "otherwise"');
        }
        const [matchBytes, missBytes] = [onMatch, onMiss].map((mutations) =>
          mutations.length === 0 ? 0 : checkMutations(key, mutations, this.families),
        ) as [number, number];
        const isMatch = await this.changeIf(
          key,
          predicate,
          [onMatch, onMiss],
          Math.max(matchBytes, missBytes),
          options,
        );
        if ((isMatch ? onMatch : onMiss).length > 0) this.wrote(1, isMatch ? matchBytes : missBytes);
        return isMatch;
      },
      (span, matched) => span.addProperties({ engine: this.engine, matched }),
    );
  }

  incrementCell(key: string, family: string, qualifier: string, by: number, options?: CallOptions): Promise<number> {
    return inSpan(
      'table.increment',
      async () => {
        this.checkOpen();
        checkRowKey(key);
        checkFamily(family, this.families);
        checkQualifier(qualifier);
        if (!Number.isSafeInteger(by)) throw invalidInput(`a counter is raised by a safe integer, not by ${by}`);
        const sum = await this.add(key, { family, qualifier }, by, options);
        this.wrote(1, COUNTER_BYTES);
        return sum;
      },
      (span) => span.addProperty('engine', this.engine),
    );
  }

  sampleRowKeys(options?: CallOptions): Promise<readonly string[]> {
    return inSpan('table.sample', () => this.sample(options));
  }

  stats(): TableStats {
    return { ...this.counters };
  }

  protected wrote(rows: number, bytes: number): void {
    this.counters.writes++;
    this.counters.rowsWritten += rows;
    this.counters.bytesWritten += bytes;
  }

  protected checkOpen(): void {
    if (!this.isClosed) return;
    throw new TraceDbError('ERR_SPANLINE_STORE_CLOSED', `${this.location} is closed; open it again with openTable`);
  }

  /**
   * Begin a read. It ends, and calls `release`, by `end`, by its signal, its deadline or the closing of the table: at once and for good, also
   * while nobody asks for the next batch, and if nobody ever will. An end that came too early must be an error, which `check` throws.
   */
  protected beginRead(options: ReadOptions, release: () => void): { check(): void; end(): void } {
    const guard = new CallGuard(`reading ${this.location}`, options);
    const end = (): void => {
      if (!this.#openReads.delete(end)) return;
      release();
      guard.dispose();
      this.counters.openReads--;
    };
    this.#openReads.add(end);
    this.counters.reads++;
    this.counters.openReads++;
    guard.whenStopped(end);
    const check = (): void => {
      guard.check();
      this.checkOpen();
    };
    return { check, end };
  }

  protected endReads(): void {
    for (const end of this.#openReads) end();
  }

  #readSpan(name: string, selection: RowSelection): ReadSpan | undefined {
    const span = childSpan(name);
    if (span === undefined) return undefined;
    span.setKind('client');
    span.describe(['engine', this.engine, 'selection', describe(selection)]);
    return new ReadSpan(span, false);
  }

  async #firstRow(key: string, options: ReadOptions, span: ReadSpan | undefined): Promise<Row | undefined> {
    for await (const [row] of this.rows({ keys: [key] }, options, span)) return row;
    return undefined;
  }

  /** Throws unless these rows may be written; returns their bytes. */
  #checkWrite(rows: readonly RowMutation[]): number {
    this.checkOpen();
    try {
      return checkRows(rows, this.families);
    } catch (error) {
      this.counters.rowsRefused += rows.length;
      throw error;
    }
  }
}
