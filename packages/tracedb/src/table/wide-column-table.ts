// One interface over both engines: rows in byte order, column families, qualifiers, one live cell each with its timestamp.
// Types only. An engine must give the same answer as the other for every call here; the conformance suite holds them to it.

/** A column's value; `timestampMs` is the writer's time in Unix milliseconds. */
export interface Cell {
  readonly family: string;
  readonly qualifier: string;
  readonly value: Uint8Array;
  readonly timestampMs: number;
}

/** A row and those of its cells that the read asked for, ordered by family and qualifier (bytes). */
export interface Row {
  readonly key: string;
  readonly cells: readonly Cell[];
}

/** A change to one row. */
export type Mutation =
  | {
      readonly type: 'set';
      readonly family: string;
      readonly qualifier: string;
      readonly value: Uint8Array;
      /** Unix milliseconds, a whole number; an older one never replaces a newer cell, an equal one does. */
      readonly timestampMs: number;
    }
  | { readonly type: 'delete-cell'; readonly family: string; readonly qualifier: string }
  | { readonly type: 'delete-row' };

/** The changes to one row; they happen together or not at all. */
export interface RowMutation {
  readonly key: string;
  readonly mutations: readonly Mutation[];
}

/** Which rows a read visits, always in byte order of their keys. */
export type RowSelection =
  /** Exactly these rows, each at most once. */
  | { readonly keys: readonly string[] }
  /** All rows that start with `prefix`; '' is the whole table. */
  | { readonly prefix: string }
  /** From `start` (included) to `end` (excluded); absent means open. */
  | { readonly start?: string; readonly end?: string };

/** What a call may take along to be stopped. */
export interface CallOptions {
  /** Stops the call with `ERR_SPANLINE_ABORTED`. */
  readonly signal?: AbortSignal;
  /** Stops the call with `ERR_SPANLINE_DEADLINE` after so many milliseconds. Default 60,000. */
  readonly deadlineMs?: number;
}

/** What a read returns of the rows it visits. A row without a cell left by the filters is not returned. */
export interface ReadOptions extends CallOptions {
  /** Only cells of these families. */
  readonly families?: readonly string[];
  /** Only cells with exactly these qualifiers. */
  readonly qualifiers?: readonly string[];
  /** At most so many rows. */
  readonly limit?: number;
}

/** A condition on one row: the cell exists, or exists with exactly this value. */
export interface Predicate {
  readonly family: string;
  readonly qualifier: string;
  /** Absent: any value. */
  readonly value?: Uint8Array;
}

/** What a conditional write does: one of them at least. */
export interface ConditionalChange {
  readonly then?: readonly Mutation[];
  readonly otherwise?: readonly Mutation[];
}

/** A row that a bulk write did not take, and why. */
export interface RowFailure {
  readonly key: string;
  readonly error: Error;
}

/** What a table did since it was opened. */
export interface TableStats {
  readonly reads: number;
  readonly rowsRead: number;
  readonly bytesRead: number;
  readonly writes: number;
  readonly rowsWritten: number;
  readonly bytesWritten: number;
  readonly rowsRefused: number;
  /** Reads that are open now. */
  readonly openReads: number;
}

/**
 * A wide-column table on LMDB or Bigtable. Keys, families and qualifiers are well-formed text without NUL; order is that of
 * their UTF-8 bytes.
 */
export interface WideColumnTable {
  readonly engine: 'lmdb' | 'bigtable';
  /** How it was opened, for messages: a directory or `bigtable://project/instance/table`. */
  readonly location: string;

  /**
   * Write rows, at most 100,000 mutations a call. Rejects with `PartialFailureError` when the store took some rows and refused
   * others; input beyond a limit rejects before anything is written.
   */
  mutateRows(rows: readonly RowMutation[], options?: CallOptions): Promise<void>;

  /**
   * Rows in key order, in batches of at most some hundred. Pulling the next batch is what makes it read on; `return()` (a `break`
   * in `for await`), an abort or a deadline ends the read in the store too.
   */
  readRows(selection: RowSelection, options?: ReadOptions): AsyncIterableIterator<readonly Row[]>;

  /** Keys of rows, as `readRows` would return them, without their cells. */
  readKeys(selection: RowSelection, options?: ReadOptions): AsyncIterableIterator<readonly string[]>;

  /** One row, or undefined when it has no cell that passes the filters. */
  readRow(key: string, options?: ReadOptions): Promise<Row | undefined>;

  /** Apply `then` when the predicate holds, else `otherwise`, atomically; true when it held. Never retried by itself. */
  checkAndMutateRow(
    key: string,
    predicate: Predicate,
    change: ConditionalChange,
    options?: CallOptions,
  ): Promise<boolean>;

  /** Add `by` (a safe integer) to a big-endian int64 cell, absent counts as 0; returns the sum. Atomic, never retried by itself. */
  incrementCell(key: string, family: string, qualifier: string, by: number, options?: CallOptions): Promise<number>;

  /** Keys that cut the table into parts of about the same size, ascending; for splitting work. May be empty. */
  sampleRowKeys(options?: CallOptions): Promise<readonly string[]>;

  stats(): TableStats;

  /** Ends open reads and releases the store. Calls after it reject with `ERR_SPANLINE_STORE_CLOSED`. */
  close(): Promise<void>;
}

/** What a table is made with. */
export interface TableSchema {
  /** Column families, 1 to 100 of them, each `[A-Za-z0-9_]{1,64}`. Opening an existing table adds the ones it lacks. */
  readonly families: readonly string[];
  /** Whether opening makes what is missing of the table. Default true; else it rejects with `ERR_SPANLINE_NOT_FOUND`. */
  readonly make?: boolean;
}
