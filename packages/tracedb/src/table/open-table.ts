// Opens a table by what its location looks like, with calls that are spans: rows, bytes, and the time spent waiting for the store. An engine is
// loaded only when it is the one. A read under a mistyped name must not leave an empty table behind, and tracing must change nothing about the calls:
// where nobody traces they are handed on as they are.

import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Span } from 'spanline';
import { timers } from 'spanline/internal/base';
import { childSpan, failSpan, inSpan, roundMs, under } from '../node-span.js';
import { noTable } from '../tracedb-error.js';
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

/** Hands on the batches of a read and counts them. */
class TracedRead<T> implements AsyncIterableIterator<readonly T[]> {
  readonly #inner: AsyncIterator<readonly T[], undefined>;
  readonly #figures = { rows: 0, bytes: 0, batches: 0, waitMs: 0 };

  readonly #span: Span;
  readonly #bytesOf: (items: readonly T[]) => number;
  readonly #readOn = (): Promise<IteratorResult<readonly T[], undefined>> => this.#inner.next();

  /** @param open Makes the read, which begins with its first `next`. */
  constructor(
    span: Span,
    open: () => AsyncIterator<readonly T[], undefined>,
    bytesOf: (items: readonly T[]) => number,
  ) {
    this.#span = span;
    this.#bytesOf = bytesOf;
    try {
      this.#inner = open();
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<readonly T[], undefined>> {
    const since = timers.monotonicMs();
    try {
      // Under the span, so that the CPU time of reading is counted there. Its promise is given back as it is: to follow it takes one more.
      const result = under(this.#span, this.#readOn);
      result.then(
        (read) => this.#count(read, since),
        (error) => this.#failSince(error, since),
      );
      return result;
    } catch (error) {
      this.#failSince(error, since);
      return Promise.reject(error);
    }
  }

  return(): Promise<IteratorResult<readonly T[], undefined>> {
    const result = this.#inner.return?.() ?? Promise.resolve(OVER);
    // Most reads are left when they are over.
    if (this.#span.isRecording) {
      const end = (): void => this.#end();
      result.then(end, end);
    }
    return result;
  }

  #count({ done, value }: IteratorResult<readonly T[], undefined>, since: number): void {
    const figures = this.#figures;
    figures.waitMs += timers.monotonicMs() - since;
    if (done === true) {
      this.#end();
      return;
    }
    figures.rows += value.length;
    figures.bytes += this.#bytesOf(value);
    figures.batches++;
  }

  #failSince(error: unknown, since: number): void {
    this.#figures.waitMs += timers.monotonicMs() - since;
    this.#fail(error);
  }

  #fail(error: unknown): void {
    failSpan(this.#span, error);
    this.#end();
  }

  #end(): void {
    if (!this.#span.isRecording) return;
    const { rows, bytes, batches, waitMs } = this.#figures;
    this.#span
      .addProperty('rows', rows)
      .addProperty('bytes', bytes)
      .addProperty('batches', batches)
      .addProperty('wait.ms', roundMs(waitMs))
      .end();
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

const CLIENT = { kind: 'client' } as const;

/** Wraps a table of either engine. */
export class TracedTable implements WideColumnTable {
  readonly #inner: WideColumnTable;

  constructor(inner: WideColumnTable) {
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
    const open = () => this.#inner.readRows(selection, options);
    return span === undefined ? open() : new TracedRead(span, open, bytesOfRows);
  }

  readKeys(selection: RowSelection, options?: ReadOptions): AsyncIterableIterator<readonly string[]> {
    const span = this.#readSpan('table.read-keys', selection);
    const open = () => this.#inner.readKeys(selection, options);
    return span === undefined ? open() : new TracedRead(span, open, bytesOfKeys);
  }

  readRow(key: string, options?: ReadOptions): Promise<Row | undefined> {
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

  #readSpan(name: string, selection: RowSelection): Span | undefined {
    return childSpan(name, CLIENT)?.addProperty('engine', this.engine).addProperty('selection', describe(selection));
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
