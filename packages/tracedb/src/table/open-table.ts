// Opens a table by what its location looks like, with calls that are spans: rows, bytes, and the time spent waiting for the store. An engine is
// loaded only when it is the one. A read under a mistyped name must not leave an empty table behind, and tracing must change nothing about the calls:
// where nobody traces they are handed on as they are.

import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Span } from 'spanline';
import { childSpan, inSpan, isWorkWatched, under } from '../node-span.js';
import { noTable } from '../tracedb-error.js';
import { ReadSpan, type ReadWatch } from './read-span.js';
import type {
  CallOptions,
  ConditionalChange,
  Predicate,
  ReadOptions,
  Row,
  RowMutation,
  RowSelection,
  TableSchema,
  TableStats,
  WideColumnTable,
} from './wide-column-table.js';

const OVER = { done: true, value: undefined } as const;

/** A table whose reads may be watched from within. */
export interface WatchableTable extends WideColumnTable {
  /** The reads below tell their watch what they do; other tables leave that to whoever waits for their promises. */
  readonly isWatchable?: true;
  readRows(selection: RowSelection, options?: ReadOptions, watch?: ReadWatch): AsyncIterableIterator<readonly Row[]>;
  readKeys(selection: RowSelection, options?: ReadOptions, watch?: ReadWatch): AsyncIterableIterator<readonly string[]>;
  readRow(key: string, options?: ReadOptions, watch?: ReadWatch): Promise<Row | undefined>;
}

/** Hands on the batches of a read that is watched from within. Its promises are those of the read itself. */
class WatchedRead<T> implements AsyncIterableIterator<T> {
  readonly #span: ReadSpan;
  readonly #inner: AsyncIterator<T, undefined>;
  #hasBegun = false;

  constructor(span: ReadSpan, inner: AsyncIterator<T, undefined>) {
    this.#span = span;
    this.#inner = inner;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    this.#hasBegun = true;
    // It starts no span.
    return isWorkWatched() ? under(this.#span.span, () => this.#inner.next()) : this.#inner.next();
  }

  return(): Promise<IteratorResult<T, undefined>> {
    // Of a read that has not begun nothing runs.
    if (!this.#hasBegun) this.#span.ended();
    return this.#inner.return?.() ?? Promise.resolve(OVER);
  }
}

/** Hands on the batches of any other read and counts them. */
class CountedRead<T> implements AsyncIterableIterator<readonly T[]> {
  readonly #span: ReadSpan;
  readonly #inner: AsyncIterator<readonly T[], undefined>;
  readonly #bytesOf: (items: readonly T[]) => number;
  readonly #readOn = (): Promise<IteratorResult<readonly T[], undefined>> => this.#inner.next();

  constructor(span: ReadSpan, inner: AsyncIterator<readonly T[], undefined>, bytesOf: (items: readonly T[]) => number) {
    this.#span = span;
    this.#inner = inner;
    this.#bytesOf = bytesOf;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<readonly T[], undefined>> {
    this.#span.asked();
    try {
      // Under the span, so that calls of a client are spans there. Its promise is given back as it is: to follow it takes one more.
      const result = under(this.#span.span, this.#readOn);
      result.then(
        (read) => this.#count(read),
        (error) => this.#fail(error),
      );
      return result;
    } catch (error) {
      this.#fail(error);
      return Promise.reject(error);
    }
  }

  return(): Promise<IteratorResult<readonly T[], undefined>> {
    const result = this.#inner.return?.() ?? Promise.resolve(OVER);
    // Most reads are left when they are over.
    if (this.#span.span.isRecording) {
      const end = (): void => this.#span.ended();
      result.then(end, end);
    }
    return result;
  }

  #count({ done, value }: IteratorResult<readonly T[], undefined>): void {
    if (done === true) this.#span.ended();
    else this.#span.gave(value.length, this.#bytesOf(value));
  }

  #fail(error: unknown): void {
    this.#span.failed(error);
    this.#span.ended();
  }
}

const describe = (selection: RowSelection): string => {
  if ('keys' in selection) return `${selection.keys.length} keys`;
  if ('prefix' in selection) return `prefix ${JSON.stringify(selection.prefix)}`;
  return `range ${JSON.stringify(selection.start ?? '')} to ${JSON.stringify(selection.end ?? '')}`;
};

const bytesOfRow = ({ key, cells }: Row): number => {
  let bytes = key.length;
  for (const { value } of cells) bytes += value.length;
  return bytes;
};

const bytesOfRows = (rows: readonly Row[]): number => {
  let bytes = 0;
  for (const row of rows) bytes += bytesOfRow(row);
  return bytes;
};

const bytesOfKeys = (keys: readonly string[]): number => keys.reduce((sum, key) => sum + key.length, 0);

const bytesOfMutations = (rows: readonly RowMutation[]): number => {
  let bytes = 0;
  for (const { key, mutations } of rows) {
    bytes += key.length;
    for (const mutation of mutations) {
      if (mutation.type !== 'delete-row') bytes += mutation.qualifier.length;
      if (mutation.type === 'set') bytes += mutation.value.length;
    }
  }
  return bytes;
};

/** Wraps a table of either engine. */
export class TracedTable implements WideColumnTable {
  readonly #inner: WatchableTable;

  constructor(inner: WatchableTable) {
    this.#inner = inner;
  }

  get engine(): 'lmdb' | 'bigtable' {
    return this.#inner.engine;
  }

  get location(): string {
    return this.#inner.location;
  }

  mutateRows(rows: readonly RowMutation[], options?: CallOptions): Promise<void> {
    return inSpan(
      'table.write',
      () => this.#inner.mutateRows(rows, options),
      (span) =>
        span
          .addProperty('engine', this.engine)
          .addProperty('rows', rows.length)
          .addProperty('bytes', bytesOfMutations(rows)),
    );
  }

  readRows(selection: RowSelection, options?: ReadOptions): AsyncIterableIterator<readonly Row[]> {
    const span = this.#readSpan('table.read', selection);
    if (span === undefined) return this.#inner.readRows(selection, options);
    return this.#traced(span, (watch) => this.#inner.readRows(selection, options, watch), bytesOfRows);
  }

  readKeys(selection: RowSelection, options?: ReadOptions): AsyncIterableIterator<readonly string[]> {
    const span = this.#readSpan('table.read-keys', selection);
    if (span === undefined) return this.#inner.readKeys(selection, options);
    return this.#traced(span, (watch) => this.#inner.readKeys(selection, options, watch), bytesOfKeys);
  }

  readRow(key: string, options?: ReadOptions): Promise<Row | undefined> {
    if (this.#inner.isWatchable === true) return this.#readWatchedRow(key, options);
    return inSpan(
      'table.read-row',
      () => this.#inner.readRow(key, options),
      (span, row) =>
        span
          .addProperty('engine', this.engine)
          .addProperty('rows', Number(row !== undefined))
          .addProperty('bytes', row === undefined ? 0 : bytesOfRow(row)),
    );
  }

  checkAndMutateRow(
    key: string,
    predicate: Predicate,
    change: ConditionalChange,
    options?: CallOptions,
  ): Promise<boolean> {
    return inSpan(
      'table.check-and-write',
      () => this.#inner.checkAndMutateRow(key, predicate, change, options),
      (span, isMatch) => span.addProperty('engine', this.engine).addProperty('matched', isMatch),
    );
  }

  incrementCell(key: string, family: string, qualifier: string, by: number, options?: CallOptions): Promise<number> {
    return inSpan(
      'table.increment',
      () => this.#inner.incrementCell(key, family, qualifier, by, options),
      (span) => span.addProperty('engine', this.engine),
    );
  }

  sampleRowKeys(options?: CallOptions): Promise<readonly string[]> {
    return inSpan('table.sample', () => this.#inner.sampleRowKeys(options));
  }

  stats(): TableStats {
    return this.#inner.stats();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #readWatchedRow(key: string, options?: ReadOptions): Promise<Row | undefined> {
    const span = childSpan('table.read-row');
    if (span === undefined) return this.#inner.readRow(key, options);
    span.describe(['engine', this.engine]);
    const watch = new ReadSpan(span, true);
    return isWorkWatched()
      ? under(span, () => this.#inner.readRow(key, options, watch))
      : this.#inner.readRow(key, options, watch);
  }

  #readSpan(name: string, selection: RowSelection): Span | undefined {
    const span = childSpan(name);
    span?.setKind('client');
    span?.describe(['engine', this.engine, 'selection', describe(selection)]);
    return span;
  }

  /** @param open Makes the read, which begins with its first `next`. */
  #traced<T>(
    span: Span,
    open: (watch: ReadWatch) => AsyncIterableIterator<readonly T[]>,
    bytesOf: (items: readonly T[]) => number,
  ): AsyncIterableIterator<readonly T[]> {
    const watch = new ReadSpan(span, false);
    try {
      const inner = open(watch);
      return this.#inner.isWatchable === true ? new WatchedRead(watch, inner) : new CountedRead(watch, inner, bytesOf);
    } catch (error) {
      watch.failed(error);
      watch.ended();
      throw error;
    }
  }
}

/**
 * Whether `openTable` would find a store at `location` rather than make one. Use it where a mistyped directory must not become an
 * empty store. A Bigtable location always counts as existing: looking would cost what opening does.
 *
 * @example
 * ```ts
 * import { storeExists } from '@spanline/tracedb';
 * console.assert(!(await storeExists('./no-such-directory')));
 * ```
 */
export const storeExists = async (location: string): Promise<boolean> => {
  if (location.startsWith('bigtable:')) return true;
  return access(join(location, 'data.mdb')).then(
    () => true,
    () => false,
  );
};

/**
 * Open a wide-column table, creating it and its families when they are missing, unless the schema says `make: false`.
 *
 * Use it where a store (Perf, Gold) or your own data needs a table; close it when done. `location` is a directory (LMDB; made when
 * missing) or `bigtable://project/instance/table` (the emulator when BIGTABLE_EMULATOR_HOST is set). Rejects with a
 * `TraceDbError`: `ERR_SPANLINE_MISSING_PACKAGE`, `ERR_SPANLINE_STORE_FILE_SYSTEM`, `ERR_SPANLINE_STORE_UNAVAILABLE` and others.
 *
 * @example
 * ```ts
 * import { mkdtemp } from 'node:fs/promises';
 * import { tmpdir } from 'node:os';
 * import { join } from 'node:path';
 * import { openTable } from '@spanline/tracedb';
 *
 * const table = await openTable(await mkdtemp(join(tmpdir(), 'table-')), { families: ['V'] });
 * const value = Buffer.from('hello');
 * await table.mutateRows([{ key: 'row', mutations: [{ type: 'set', family: 'V', qualifier: '0', value, timestampMs: 1 }] }]);
 * console.assert((await table.readRow('row'))?.cells.length === 1);
 * await table.close();
 * ```
 */
export const openTable = async (location: string, schema: TableSchema): Promise<WideColumnTable> => {
  if (location.startsWith('bigtable:')) {
    const { openBigtableTable } = await import('./bigtable/bigtable-table.js');
    return new TracedTable(await openBigtableTable(location, schema));
  }
  // Before the engine, which makes the file of a store when it opens it.
  if (schema.make === false && !(await storeExists(location))) throw noTable(location, []);
  const { LmdbTable } = await import('./lmdb/lmdb-table.js');
  return new TracedTable(await LmdbTable.open(location, schema));
};
