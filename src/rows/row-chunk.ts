// A chunk of rows: finished spans as columns of numbers, with their entries and texts, outside the heap. A row is written once, when its
// span has ended, and never changed but for its slot; what is open is in handles only. Must never hold an object a span.
import type { EndedSpan, PropertyList, SpanKind, StatusCode } from './property.js';
import { RowEntries } from './row-entries.js';

/** Rows of a chunk of a collector. */
export const CHUNK_ROWS = 2048;

/** Bytes of a row in the columns. */
export const ROW_BYTES = 48;

// A chunk whose texts and entries have grown beyond this takes no more rows, so that chunks are dropped in time.
const FULL_BYTES = 1 << 20;

/** The flags of a row: kind in three bits, status code in two, a bit each, and above them the number of the scope. */
export const Flag = {
  kindMask: 7,
  statusShift: 3,
  statusMask: 3,
  local: 32,
  root: 64,
  remoteParent: 128,
  scopeShift: 8,
} as const;

/** Kinds and status codes, in the order of their numbers in the flags. */
export const KINDS: readonly SpanKind[] = ['internal', 'server', 'client', 'producer', 'consumer'];
export const STATUS_CODES: readonly StatusCode[] = ['unset', 'ok', 'error'];

/** The number of the status code in the flags of a row. */
export const statusIn = (flags: number): number => (flags >> Flag.statusShift) & Flag.statusMask;

/** That of a span that has failed. */
export const ERROR = STATUS_CODES.indexOf('error');

/** The slot of a row that nobody wants any more. */
export const NO_SLOT = -1;

/** What a row contains of a span, but for its entries. */
type RowSpan = Pick<EndedSpan, 'idHi' | 'idLo' | 'begin'>;

/** The columns of a chunk. */
type RowColumns = Pick<
  RowChunk,
  'begins' | 'ends' | 'idHis' | 'idLos' | 'parentHis' | 'parentLos' | 'slots' | 'names' | 'flags' | 'heads' | 'entries'
>;

export class RowChunk {
  count = 0;
  /** Rows that the observer of its store has, or need not have. */
  observed = 0;
  // Rows it takes: fewer than there is room for once its entries and texts are large.
  private limit: number;
  readonly begins: Float64Array;
  readonly ends: Float64Array;
  readonly idHis: Int32Array;
  readonly idLos: Int32Array;
  readonly parentHis: Int32Array;
  readonly parentLos: Int32Array;
  /** Number of the trace, or {@link NO_SLOT}. */
  readonly slots: Int32Array;
  /** Number of the name; 0 when its text is the first entry. */
  readonly names: Int32Array;
  readonly flags: Int32Array;
  /** The entries of row `i` are those from `heads[i]` to before `heads[i + 1]`. */
  readonly heads: Int32Array;
  readonly entries: RowEntries;

  constructor(readonly capacity = CHUNK_ROWS) {
    this.limit = capacity;
    this.entries = new RowEntries(capacity);
    // One block of memory, the doubles first, where they are aligned. Its bytes are unspecified until a row is written.
    const block = Buffer.allocUnsafeSlow(capacity * ROW_BYTES + 4).buffer;
    let at = 0;
    const doubles = (): Float64Array => {
      const column = new Float64Array(block, at, capacity);
      at += capacity * 8;
      return column;
    };
    const words = (length = capacity): Int32Array => {
      const column = new Int32Array(block, at, length);
      at += length * 4;
      return column;
    };
    this.begins = doubles();
    this.ends = doubles();
    this.idHis = words();
    this.idLos = words();
    this.parentHis = words();
    this.parentLos = words();
    this.slots = words();
    this.names = words();
    this.flags = words();
    this.heads = words(capacity + 1);
    this.heads[0] = 0;
  }

  /** A chunk to read, whose columns lie elsewhere. Nothing may be written to it. */
  static over(columns: RowColumns, count: number): RowChunk {
    return Object.assign(Object.create(RowChunk.prototype), columns, { count, observed: count, capacity: count });
  }

  get isFull(): boolean {
    return this.count === this.limit;
  }

  /** Add a row whose entries were written before; there is room. */
  add(span: RowSpan, parentHi: number, parentLo: number, slot: number, name: number, flags: number, end: number): void {
    const row = this.count;
    this.idHis[row] = span.idHi;
    this.idLos[row] = span.idLo;
    this.parentHis[row] = parentHi;
    this.parentLos[row] = parentLo;
    this.slots[row] = slot;
    this.names[row] = name;
    this.flags[row] = flags;
    this.begins[row] = span.begin;
    this.ends[row] = end;
    this.closeRow(row);
    // Last: a reader in the middle of this sees whole rows.
    this.count = row + 1;
  }

  /** Copy a row of another chunk; there is room. `more` are properties that come behind those it has. */
  copy(from: RowChunk, row: number, slot: number, more?: PropertyList): void {
    const head = from.heads[row];
    const end = from.heads[row + 1];
    if (more === undefined) this.entries.copy(from.entries, head, end);
    else {
      const middle = from.entries.endOfProperties(head, end);
      this.entries.copyProperties(from.entries, head, middle, more);
      this.entries.writeProperties(more);
      this.entries.copy(from.entries, middle, end);
    }
    const to = this.count;
    this.idHis[to] = from.idHis[row];
    this.idLos[to] = from.idLos[row];
    this.parentHis[to] = from.parentHis[row];
    this.parentLos[to] = from.parentLos[row];
    this.slots[to] = slot;
    this.names[to] = from.names[row];
    this.flags[to] = from.flags[row];
    this.begins[to] = from.begins[row];
    this.ends[to] = from.ends[row];
    this.closeRow(to);
    this.count = to + 1;
  }

  /** Make it empty. Only for a chunk that was given to nobody. */
  clear(): void {
    this.count = 0;
    this.observed = 0;
    this.limit = this.capacity;
    this.entries.clear();
  }

  /** Bytes of a row with its entries and texts. */
  bytesOf(row: number): number {
    return ROW_BYTES + this.entries.bytesOf(this.heads[row], this.heads[row + 1]);
  }

  get usedBytes(): number {
    return this.count * ROW_BYTES + this.entries.usedBytes;
  }

  private closeRow(row: number): void {
    const { entries } = this;
    // Most rows add none, and then nothing has to be added up.
    if (entries.count !== this.heads[row] && entries.usedBytes > FULL_BYTES) this.limit = row + 1;
    this.heads[row + 1] = entries.count;
  }

  /** Bytes held, used or not. */
  get byteSize(): number {
    return this.capacity * ROW_BYTES + this.entries.words.length * 4 + this.entries.text.bytes.length;
  }
}
