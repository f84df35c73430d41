// A table whose calls are spans: rows, bytes, and the time spent waiting for the store. It must change nothing about the calls, and
// where nobody traces it hands them on as they are.

import type { Span } from '../../span/span.js';
import { childSpan, inSpan } from '../node-span.js';
import { TracedRead } from './traced-read.js';
import type {
  CallOptions,
  ConditionalChange,
  Predicate,
  ReadOptions,
  Row,
  RowMutation,
  RowSelection,
  TableStats,
  WideColumnTable,
} from './wide-column-table.js';

const describe = (selection: RowSelection): string => {
  if ('keys' in selection) return `${selection.keys.length} keys`;
  if ('prefix' in selection) return `prefix ${JSON.stringify(selection.prefix)}`;
  return `range ${JSON.stringify(selection.start ?? '')} to ${JSON.stringify(selection.end ?? '')}`;
};

const bytesOfRows = (rows: readonly Row[]): number => {
  let bytes = 0;
  for (const { key, cells } of rows) {
    bytes += key.length;
    for (const { value } of cells) bytes += value.length;
  }
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
      () => ({ engine: this.engine, rows: rows.length, bytes: bytesOfMutations(rows) }),
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
      (row) => ({
        engine: this.engine,
        rows: row === undefined ? 0 : 1,
        bytes: row === undefined ? 0 : bytesOfRows([row]),
      }),
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
      (isMatch) => ({ engine: this.engine, matched: isMatch }),
    );
  }

  incrementCell(key: string, family: string, qualifier: string, by: number, options?: CallOptions): Promise<number> {
    return inSpan(
      'table.increment',
      () => this.#inner.incrementCell(key, family, qualifier, by, options),
      () => ({ engine: this.engine }),
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
    return childSpan(name, {
      kind: 'client',
      properties: () => ({ engine: this.engine, selection: describe(selection) }),
    });
  }
}
