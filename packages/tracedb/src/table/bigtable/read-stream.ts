// One stream of answers from the server, and their chunks put together to rows. It counts as whole only when the server said so: a stream that just ends
// is a failure. A row is handed out only when the server says that it is whole; a chunk that does not fit makes the read fail, for a guess would be a
// wrong row.
import type { protos } from '@google-cloud/bigtable';
import { storeCorrupt, type TraceDbError } from '../../tracedb-error.js';
import type { Cell } from '../wide-column-table.js';
import { callOptions, type DataClient, type ResponseStream, STATUS } from './client.js';

type Response = protos.google.bigtable.v2.IReadRowsResponse;
type Chunk = protos.google.bigtable.v2.ReadRowsResponse.ICellChunk;

/** Takes a whole row; `bytes` are those of its key, qualifiers and values. */
type RowListener = (key: Buffer, cells: Cell[], bytes: number) => void;

// Whole milliseconds of a decimal count of microseconds, whatever its size.
const millisOf = (micros: unknown): number => Number(String(micros).slice(0, -3));

/** The chunks of one stream of answers. */
export class RowMerger {
  #key: Buffer | undefined;
  #cells: Cell[] = [];
  #bytes = 0;
  #family = '';
  #qualifier = '';
  #timestampMs = 0;
  /** Pieces of a value that comes in several chunks. */
  #pieces: Uint8Array[] = [];
  #isSorted = true;

  readonly #onRow: RowListener;
  readonly #qualifiers: ReadonlySet<string> | undefined;
  #lastKey: Buffer | undefined;

  /**
   * @param qualifiers Drop all other cells; rows that have none of these come without cells.
   * @param lastKey The last row of an earlier stream of the same read: all rows must come after it.
   */
  constructor(onRow: RowListener, qualifiers: ReadonlySet<string> | undefined, lastKey: Buffer | undefined) {
    this.#onRow = onRow;
    this.#qualifiers = qualifiers;
    this.#lastKey = lastKey;
  }

  /** Whether a row has begun and is not whole: an answer must not end here. */
  get isInRow(): boolean {
    return this.#key !== undefined;
  }

  push(response: Response): void {
    for (const chunk of response.chunks as Chunk[]) this.#take(chunk);
  }

  #take(chunk: Chunk): void {
    if (chunk.resetRow) {
      this.#reset();
      return;
    }
    const rowKey = chunk.rowKey as Buffer;
    if (this.#key === undefined) this.#begin(rowKey);
    else if (rowKey.length > 0 && Buffer.compare(rowKey, this.#key) !== 0)
      throw this.#broken('a row begins inside another');
    const isContinued = this.#pieces.length > 0;
    // Without a family and a qualifier it would be an older cell of the same column, which the filter leaves out.
    if (isContinued || this.#column(chunk)) this.#value(chunk);
    if (chunk.commitRow) this.#commit();
  }

  #begin(rowKey: Buffer): void {
    if (rowKey.length === 0) throw this.#broken('a row has no key');
    if (this.#lastKey !== undefined && Buffer.compare(rowKey, this.#lastKey) <= 0)
      throw this.#broken('rows are out of order');
    this.#key = rowKey;
    this.#bytes = rowKey.length;
  }

  /** Take over the column that `chunk` names; false when it names none. */
  #column({ familyName, qualifier, timestampMicros }: Chunk): boolean {
    if (familyName) {
      const family = familyName.value as string;
      // The service promises no order of families.
      if (family < this.#family) this.#isSorted = false;
      this.#family = family;
    }
    if (!qualifier) {
      if (this.#cells.length === 0) throw this.#broken('a cell has no column');
      return false;
    }
    this.#qualifier = (qualifier.value as Buffer).toString();
    this.#timestampMs = millisOf(timestampMicros);
    return true;
  }

  #value(chunk: Chunk): void {
    let value = chunk.value as Uint8Array;
    if ((chunk.valueSize as number) > 0) {
      this.#pieces.push(value);
      return;
    }
    if (this.#pieces.length > 0) {
      value = Buffer.concat([...this.#pieces, value]);
      this.#pieces = [];
    }
    const qualifier = this.#qualifier;
    if (this.#qualifiers !== undefined && !this.#qualifiers.has(qualifier)) return;
    this.#cells.push({ family: this.#family, qualifier, value, timestampMs: this.#timestampMs });
    this.#bytes += qualifier.length + value.length;
  }

  #commit(): void {
    const cells = this.#cells;
    const key = this.#key;
    const bytes = this.#bytes;
    if (this.#pieces.length > 0) throw this.#broken('a row ends inside a cell');
    if (!this.#isSorted) cells.sort((a, b) => (a.family < b.family ? -1 : a.family > b.family ? 1 : 0));
    this.#lastKey = key;
    this.#reset();
    this.#onRow(key as Buffer, cells, bytes);
  }

  #reset(): void {
    this.#key = undefined;
    this.#cells = [];
    this.#pieces = [];
    this.#family = '';
    this.#isSorted = true;
  }

  #broken(what: string): TraceDbError {
    const row = (this.#key ?? this.#lastKey)?.toString();
    return storeCorrupt(`the answer of Bigtable is broken: ${what}, near row ${row}`);
  }
}

type Request = protos.google.bigtable.v2.IReadRowsRequest;

/** One stream of answers. */
export class AnswerStream {
  readonly #stream: ResponseStream<Response>;
  #end: { readonly error: unknown } | undefined;
  #status: { readonly code: number; readonly details?: string } | undefined;

  /** What `onAnswer` throws ends the stream, at the server too. `onEnd` is called once, when it is over, for whatever reason. */
  constructor(
    client: DataClient,
    request: Request,
    timeoutMs: number,
    onAnswer: (answer: Response) => void,
    onEnd: () => void,
  ) {
    this.#stream = client.readRows(request, callOptions(timeoutMs)) as unknown as ResponseStream<Response>;
    const over = (error?: unknown): void => {
      if (this.isOver) return;
      this.#end = { error };
      onEnd();
    };
    this.#stream
      .on('data', (answer) => {
        if (this.isOver) return;
        try {
          onAnswer(answer);
        } catch (error) {
          this.cancel();
          over(error);
        }
      })
      .on('status', (status) => {
        this.#status = status;
      })
      // Stays for good: a stream that was cancelled reports that as an error.
      .on('error', over)
      .on('end', () => over());
  }

  get isOver(): boolean {
    return this.#end !== undefined;
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  /** Why a stream that is over was not whole; undefined when it was. `isInRow`: a row has begun and is not whole. */
  failure(isInRow: boolean): unknown {
    const status = this.#status;
    if (this.#end?.error !== undefined) return this.#end.error;
    if (status?.code === STATUS.ok && !isInRow) return undefined;
    const how = status === undefined ? 'without a status' : `with status ${status.code} ${status.details ?? ''}`;
    const message = `the stream of rows ended ${isInRow ? 'inside a row, ' : ''}${how}`;
    // Said to be fine, or nothing said: a connection that broke. The rows so far are good, and the read may go on behind them.
    const code = status === undefined || status.code === STATUS.ok ? STATUS.unavailable : status.code;
    return Object.assign(new Error(message), { code });
  }

  /** End it, at the server too. */
  cancel(): void {
    this.#stream.cancel();
    // What is on its way must flow off, or it stays in the client's buffers.
    this.#stream.resume();
  }
}
