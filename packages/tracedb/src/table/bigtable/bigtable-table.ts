// The distributed engine: a wide-column table on Google Cloud Bigtable or its emulator. Input is checked here, before anything is
// sent; conditional writes and increments are sent once, since a second one could take effect twice.
import { isUtf8 } from 'node:buffer';
import { timers } from 'spanline/internal/base';
import { PartialFailureError } from '../../tracedb-error.js';
import { CallGuard, DEFAULT_DEADLINE_MS } from '../call-guard.js';
import { CheckedTable, checkFamilyNames, checkRowKey, checkRowLimit, checkRows, type Read } from '../checked-table.js';
import type { ReadSpan } from '../read-span.js';
import type {
  CallOptions,
  Cell,
  Mutation,
  Predicate,
  ReadOptions,
  Row,
  RowMutation,
  RowSelection,
  TableSchema,
  WideColumnTable,
} from '../wide-column-table.js';
import {
  type BigtableLocation,
  bigtableError,
  connect,
  type DataClient,
  ensureTable,
  parseBigtableLocation,
  tableName,
} from './client.js';
import { planRead, predicateFilter, readFilter } from './read-plan.js';
import { addToCell, type CallTask, changeRowIf, sampleKeys, writeRows } from './row-calls.js';
import { RowReader } from './row-reader.js';

const rowOf = (key: Buffer, cells: Cell[]): Row => ({ key: key.toString(), cells });
const keyOf = (key: Buffer): string => key.toString();

/** A generator by itself would first wait for the batch that is on its way, however long that takes. */
const endingAtOnce = <T>(reader: RowReader<T>, batches: Read<T>): Read<T> => {
  const end = batches.return.bind(batches);
  batches.return = (value) => {
    reader.stop();
    return end(value);
  };
  return batches;
};

/** `WideColumnTable` on Bigtable. */
class BigtableTable extends CheckedTable {
  readonly engine = 'bigtable';
  protected readonly startsSpans = true;
  readonly location: string;
  readonly #table: string;
  readonly #calls = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  readonly #client: DataClient;

  constructor(
    location: BigtableLocation,
    client: DataClient,
    protected readonly families: ReadonlySet<string>,
  ) {
    super();
    this.#client = client;
    this.location = location.text;
    this.#table = tableName(location);
  }

  protected get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  protected async write(rows: readonly RowMutation[], bytes: number, options?: CallOptions): Promise<void> {
    if (rows.length === 0) return;
    const failures = await this.#call('writing to', options, (task) => writeRows(task, rows));
    if (failures.length === 0) {
      this.wrote(rows.length, bytes);
      return;
    }
    const lost = new Set(failures.map(({ key }) => key));
    const written = rows.filter(({ key }) => !lost.has(key));
    this.counters.rowsRefused += rows.length - written.length;
    this.wrote(written.length, written.length === 0 ? 0 : checkRows(written, this.families));
    throw new PartialFailureError(failures, rows.length, this.location);
  }

  protected rows(selection: RowSelection, options: ReadOptions, span: ReadSpan | undefined): Read<Row> {
    const reader = new RowReader<Row>();
    return endingAtOnce(reader, this.#read(reader, selection, options, true, rowOf, span));
  }

  protected keys(selection: RowSelection, options: ReadOptions, span: ReadSpan | undefined): Read<string> {
    const reader = new RowReader<string>();
    return endingAtOnce(reader, this.#read(reader, selection, options, false, keyOf, span));
  }

  protected changeIf(
    key: string,
    predicate: Predicate,
    mutations: readonly [readonly Mutation[], readonly Mutation[]],
    _bytes: number,
    options?: CallOptions,
  ): Promise<boolean> {
    const filter = predicateFilter(predicate);
    return this.#call('writing to', options, (task) => changeRowIf(task, key, filter, ...mutations));
  }

  protected add(key: string, { family, qualifier }: Predicate, by: number, options?: CallOptions): Promise<number> {
    return this.#call('writing to', options, (task) => addToCell(task, key, family, qualifier, by));
  }

  protected async sample(options?: CallOptions): Promise<readonly string[]> {
    this.checkOpen();
    const keys = await this.#call('sampling', options, sampleKeys);
    // Where the service cuts is where bytes are, which need not be where a character ends.
    const texts = keys.filter((key) => key.length > 0 && isUtf8(key)).map(String);
    return [...new Set(texts)];
  }

  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async #shutDown(): Promise<void> {
    this.endReads();
    // Writes on their way are seen through: their callers learn what became of them.
    await Promise.allSettled(this.#calls);
    await this.#client.close();
  }

  async *#read<T>(
    reader: RowReader<T>,
    selection: RowSelection,
    options: ReadOptions,
    withCells: boolean,
    item: (key: Buffer, cells: Cell[]) => T,
    span: ReadSpan | undefined,
  ): Read<T> {
    span?.asked();
    let read: ReturnType<BigtableTable['beginRead']> | undefined;
    try {
      this.checkOpen();
      if ('keys' in selection) for (const key of selection.keys) checkRowKey(key);
      const { families, qualifiers, limit = Number.POSITIVE_INFINITY, deadlineMs = DEFAULT_DEADLINE_MS } = options;
      checkRowLimit(limit);
      read = this.beginRead(options, () => reader.stop());
      read.check();
      const isNothing = limit <= 0 || families?.length === 0 || qualifiers?.length === 0;
      yield* reader.read({
        client: this.#client,
        table: this.#table,
        plan: planRead(isNothing ? { keys: [] } : selection),
        filter: readFilter(options, withCells),
        limit,
        deadlineAt: timers.wallMs() + deadlineMs,
        counters: this.counters,
        span,
        withCells,
        item,
        check: read.check,
        whenWhole: read.end,
      });
    } catch (cause) {
      const error = bigtableError(cause, `reading ${this.location}`);
      span?.failed(error);
      throw error;
    } finally {
      read?.end();
      span?.ended();
    }
  }

  /** Make a call that `close` waits for. */
  async #call<T>(doing: string, options: CallOptions | undefined, make: (task: CallTask) => Promise<T>): Promise<T> {
    const what = `${doing} ${this.location}`;
    const guard = new CallGuard(what, options);
    const deadlineAt = timers.wallMs() + (options?.deadlineMs ?? DEFAULT_DEADLINE_MS);
    let call: Promise<T> | undefined;
    try {
      guard.check();
      call = make({ what, client: this.#client, table: this.#table, guard, deadlineAt });
      this.#calls.add(call);
      return await call;
    } finally {
      if (call !== undefined) this.#calls.delete(call);
      guard.dispose();
    }
  }
}

/** Open the table `bigtable://project/instance/table`, making it and its families when they are missing and may be made. */
export const openBigtableTable = async (text: string, schema: TableSchema): Promise<WideColumnTable> => {
  const location = parseBigtableLocation(text);
  checkFamilyNames(schema.families);
  const { data, admin } = await connect(location);
  try {
    const families = await ensureTable(admin, location, [...new Set(schema.families)], schema.make ?? true);
    return new BigtableTable(location, data, families);
  } catch (error) {
    await data.close();
    throw error;
  } finally {
    await admin.close();
  }
};
